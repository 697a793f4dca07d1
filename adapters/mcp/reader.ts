/** What a connection lists and reads. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { McpConnection, McpContentKind, McpReading } from '../../src/contracts/mcp/mcp-connector.ts';
import { readResult } from './call-result.ts';
import { contentLimits, listAll, listFirst, type ListOptions, toolLimits } from './list-pages.ts';
import type { ListMethod } from './session.ts';
import type { LiveSession, Sessions } from './sessions.ts';
import { inOurWords, within } from './within.ts';

interface ReaderOptions {
  /** Of the connection. */
  readonly life: AbortController;
  readonly maxBytes: number;
  readonly listTimeoutMs: number;
}

/** Creates the methods that list and read. A lost session is started again. */
export function createReader(
  sessions: Sessions,
  { life, maxBytes, listTimeoutMs }: ReaderOptions,
): Pick<McpConnection, 'listTools' | 'listContent' | 'read'> {
  const inTime = <T>(
    { signal, timeoutMs = listTimeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs?: number },
    work: (live: LiveSession, until: AbortSignal) => Promise<T>,
  ): Promise<T> =>
    within(
      { signals: [signal, life.signal], timeoutMs },
      (until) => sessions.use((live) => work(live, until), { again: true }),
    );
  return {
    listTools: (given) =>
      inTime(given, async (live, until) => {
        if (!offersTools(live.session.capabilities)) return [];
        const pages = pagesOf(live, 'tools/list', until);
        return inWordsOf(live, 'tools/list', () => listAll({ ...pages, ...toolLimits, maxBytes }));
      }),
    listContent: (kind, given) => inTime(given, (live, until) => listContent(live, { kind, maxBytes, signal: until })),
    read: (given) => inTime(given, (live, until) => readOnce(live, given, until)),
  };
}

/** Some servers with tools declare nothing at all; one that declares other things and no tools has none. */
function offersTools(capabilities: LiveSession['session']['capabilities']): boolean {
  return capabilities['tools'] !== undefined ||
    !['resources', 'prompts', 'completions'].some((name) => capabilities[name] !== undefined);
}

const contentLists = {
  prompts: { capability: 'prompts', method: 'prompts/list', field: 'prompts' },
  resources: { capability: 'resources', method: 'resources/list', field: 'resources' },
  templates: { capability: 'resources', method: 'resources/templates/list', field: 'resourceTemplates' },
} as const;

async function listContent(
  live: LiveSession,
  { kind, maxBytes, signal }: {
    readonly kind: McpContentKind;
    readonly maxBytes: number;
    readonly signal: AbortSignal;
  },
): ReturnType<McpConnection['listContent']> {
  const { capability, method, field } = contentLists[kind];
  if (live.session.capabilities[capability] === undefined) return none;
  const list = { ...pagesOf(live, method, signal), ...contentLimits, field, maxBytes };
  try {
    return await inWordsOf(live, method, () => listFirst(list));
  } catch (error) {
    if (kind === 'templates' && isUnknownMethod(error)) return none; // a server with resources may have none
    throw error;
  }
}

const none = { items: [], isCut: false };

function isUnknownMethod(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['rpcCode'] === -32_601;
}

async function readOnce(
  live: LiveSession,
  { method, params }: McpReading,
  signal: AbortSignal,
): ReturnType<McpConnection['read']> {
  const { session, resultBehind } = live;
  return readResult(resultBehind(await inWordsOf(live, method, () => session.request(method, params, signal))));
}

function pagesOf(
  { session, resultBehind, bytesRead }: LiveSession,
  method: ListMethod,
  signal: AbortSignal,
): Pick<ListOptions, 'page' | 'bytesRead'> {
  return {
    page: async (cursor) => resultBehind(await session.request(method, cursor === undefined ? {} : { cursor }, signal)),
    bytesRead,
  };
}

function inWordsOf<T>({ faultBehind }: LiveSession, method: string, work: () => Promise<T>): Promise<T> {
  return inOurWords({ method, faultBehind }, work);
}
