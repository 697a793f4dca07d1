/** Sessions with MCP servers through `@modelcontextprotocol/client`, which speaks all revisions, and what all libraries share. */

import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { longestTimeoutMs } from '../../src/base/timer.ts';
import type { McpAnswer, McpInputResponses } from '../../src/contracts/mcp/answers.ts';
import type { McpCall, McpReading } from '../../src/contracts/mcp/mcp-connector.ts';
import { linearValidator } from '../linear-validator.ts';
import type { McpFetch } from './mcp-fetch.ts';
import { keepSubscribed, reportedLists } from './notices.ts';
import type { Client, StandardSchemaV1 } from './sdk-2026.ts';

/** The options of opening a session. */
export interface OpenOptions {
  readonly url: URL;
  /** The only `fetch` of the session. */
  readonly fetch: McpFetch['fetch'];
  /** Whether a person can answer questions. */
  readonly questions: boolean;
  /** Whether apps are shown (MCP Apps). */
  readonly apps: boolean;
  /** Called when changes of the lists may have been missed; absent, no stream is held open for them. */
  readonly onGap?: (() => void) | undefined;
  /** The least level of log messages; absent: the server is not asked for any. */
  readonly logLevel?: LogLevel | undefined;
  readonly signal: AbortSignal;
}

/** The levels of log messages. */
export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** The methods that list, a page at a time. */
export type ListMethod = 'tools/list' | 'prompts/list' | 'resources/list' | 'resources/templates/list';

/** A session with a server. `inOurWords` maps its errors. */
export interface McpSession {
  readonly protocolVersion: string;
  readonly serverInfo: { readonly name: string; readonly version: string };
  readonly instructions: string | undefined;
  /** What the server has declared. */
  readonly capabilities: Readonly<Record<string, unknown>>;
  /** Sends a request that only reads. Returns the result, or the key of the held result. */
  request(
    method: McpReading['method'] | ListMethod,
    params: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<unknown>;
  /** The result of `tools/call`, or the key of the held result. A person may have been asked to open URLs before (-32042). */
  call(call: McpCall, signal: AbortSignal): Promise<unknown>;
  /** Ends the session at the server, where the protocol supports it, and releases everything. */
  close(): Promise<void>;
}

/** It tries 2026-07-28, without sessions, and falls back to older revisions; that costs one more request to such a server. */
export async function openModern(
  { Client, StreamableHTTPClientTransport }: Pick<
    typeof import('./sdk-2026.ts'),
    'Client' | 'StreamableHTTPClientTransport'
  >,
  { url, fetch, questions, apps, onGap, logLevel, signal }: OpenOptions,
): Promise<McpSession> {
  const client = new Client(clientInfo, {
    capabilities: {
      ...(questions && { elicitation: { form: {}, url: {} } }),
      ...(apps && { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }),
    }, // no other: the server cannot query the model
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: linearValidator, // the library's default may compile code
    versionNegotiation: { mode: 'auto' },
  });
  const open = new Set<McpCall>();
  if (questions) {
    client.setRequestHandler('elicitation/create', async ({ params }) => toElicitResult(await askOf(open)?.(params)));
  }
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil(signal, transport, () => client.connect(transport, { signal, timeout: longestTimeoutMs }));
  const isModern = client.getNegotiatedProtocolVersion() === '2026-07-28';
  if (logLevel && !isModern && client.getServerCapabilities()?.logging) {
    await client.setLoggingLevel(logLevel, { signal });
  }
  const stopListening = isModern && onGap ? listenOn(client, onGap) : undefined; // of older revisions, the transport opens a stream
  return {
    ...factsOf(client),
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    request: async (method, params, until) =>
      await client.request({ method, params }, anything, { signal: until, timeout: longestTimeoutMs }),
    async call(given, until) {
      if (!isModern) requireOpened(given.responses);
      const call = isModern ? given : { ...given, responses: undefined };
      open.add(call);
      try {
        return await client.callTool(paramsOf(call, isModern ? logLevel : undefined), {
          signal: until,
          timeout: longestTimeoutMs,
          toolDefinition: forHeaders(call),
          allowInputRequired: questions,
          ...progressOf(call),
        });
      } catch (error) {
        return toUrlQuestions(error, questions);
      } finally {
        open.delete(call);
      }
    },
    async close() {
      stopListening?.();
      await transport.terminateSession().catch(() => {}); // it may have ended already
      await client.close();
    },
  };
}

/** The client information for servers, without the real version. */
export const clientInfo = { name: 'pinnace', version: '0' } as const;

/** Connects. The libraries observe the signal in some of their requests only. */
export async function connectUntil(
  signal: AbortSignal,
  transport: { readonly close: () => Promise<void> },
  connect: () => Promise<void>,
): Promise<void> {
  const onAbort = (): void => void transport.close();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    await connect();
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** What the server says of itself. */
export function factsOf(client: {
  getServerVersion(): unknown;
  getInstructions(): string | undefined;
  getServerCapabilities(): object | undefined;
}): Pick<McpSession, 'serverInfo' | 'instructions' | 'capabilities'> {
  const { name, version } = asRecord(client.getServerVersion());
  const textOf = (value: unknown): string => typeof value === 'string' ? value : '';
  return {
    serverInfo: { name: textOf(name), version: textOf(version) },
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
  };
}

/** Listens for changes of the lists that the server reports. Returns the function that stops it. */
function listenOn(client: Client, onGap: () => void): (() => void) | undefined {
  const lists = reportedLists(client.getServerCapabilities());
  const filter = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
  return lists.length === 0 ? undefined : keepSubscribed(() => client.listen(filter), onGap);
}

/** A question names no call: it is asked where one call alone is open. */
function askOf(open: ReadonlySet<McpCall>): McpCall['onQuestion'] {
  const [call, ...others] = open;
  return others.length === 0 ? call?.onQuestion : undefined;
}

type Content = Record<string, string | number | boolean | string[]>;

function toElicitResult({ action, content }: McpAnswer = { action: 'cancel' }) {
  return { action, ...(content && { content: content as Content }) }; // it fits the form, whose fields are flat
}

/** The request headers depend on the pinned definition (`x-mcp-header`); the caller checks the result. */
function forHeaders(
  { name, definition }: McpCall,
): { readonly name: string; readonly inputSchema: { type: 'object' } } {
  const inputSchema = definition['inputSchema'];
  return { name, inputSchema: { ...(typeof inputSchema === 'object' && inputSchema), type: 'object' } };
}

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'pinnace', validate: (value) => ({ value }) },
};

/** Returns the progress callback as a part of a library's options. The numbers and the text are the server's. */
export function progressOf(
  { onProgress }: McpCall,
): {
  readonly onprogress?: (
    progress: { progress: number; total?: number | undefined; message?: string | undefined },
  ) => void;
} {
  if (onProgress === undefined) return {};
  return {
    onprogress: ({ progress, total, message }) =>
      onProgress({ progress, ...(total !== undefined && { total }), ...(message !== undefined && { message }) }),
  };
}

/** Returns the parameters of `tools/call`. `logLevel` asks a server of 2026-07-28 for log messages. */
export function paramsOf({ name, input, responses, traceparent }: McpCall, logLevel?: LogLevel): {
  readonly name: string;
  readonly arguments: Record<string, unknown>;
  readonly _meta?: Readonly<Record<string, string>>;
} {
  const meta = {
    ...(traceparent !== undefined && { traceparent }),
    ...(logLevel !== undefined && { 'io.modelcontextprotocol/logLevel': logLevel }),
  };
  return { name, arguments: { ...input }, ...responses, ...(Object.keys(meta).length > 0 && { _meta: meta }) };
}

const urlElicitationRequired = -32_042;
const mostUrls = 6;

/** Returns the questions behind the error of a call, in the form of 2026-07-28. @throws the error, when it is another one. */
function toUrlQuestions(error: unknown, questions: boolean): unknown {
  const { code, data } = error instanceof Error
    ? error as Error & { readonly code?: unknown; readonly data?: unknown }
    : {};
  const asked = code === urlElicitationRequired && isRecord(data) ? data['elicitations'] : undefined;
  if (!questions || !Array.isArray(asked)) throw error;
  const requests = asked.slice(0, mostUrls).map((one, i) => {
    const { message, url } = asRecord(one);
    return [`url-${i + 1}`, { method: 'elicitation/create', params: { mode: 'url', message, url } }] as const;
  });
  return { resultType: 'input_required', inputRequests: Object.fromEntries(requests) };
}

/** The call is made again, without the answers: the server knows that its URLs were opened. @throws PinnaceError for a refusal. */
function requireOpened(responses: McpInputResponses | undefined): void {
  const answers = Object.values(responses?.inputResponses ?? {});
  if (answers.every(({ action }) => action === 'accept')) return;
  throw new PinnaceError('forbidden', 'Cannot call the tool: the person did not open what its MCP server asks for', {
    details: { reason: 'mcp_question_declined' },
  });
}
