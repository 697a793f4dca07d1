/** Reads prompts and resources of pinned servers: only what is pinned, and only while the server keeps to the pin. */

import { readPinnedApp } from '../apps/app-reader.ts';
import type { AppWatch } from '../apps/app-watch.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { PinnedContent } from '../../base/schema.ts';
import type { ContentReader, ContentTarget } from '../../contracts/mcp/content-reader.ts';
import type { McpConnection, McpContentKind } from '../../contracts/mcp/mcp-connector.ts';
import type { McpPeople } from '../people.ts';
import type { McpSession, ServerAccess } from '../session.ts';
import { noSignIn } from '../sign-in/sign-in-failures.ts';
import type { ContentWatch } from './content-watch.ts';
import { argumentsOf, isMasked, isUsable, selectedContent } from './entries.ts';
import { contentFingerprint, contentLabel } from './kinds.ts';
import { toCompletion, toPromptMessages, toResourceContents } from './read-results.ts';
import { readTemplate } from './uri-template.ts';

/** What a reader works with. */
export interface ContentReaderOptions {
  readonly watch: ContentWatch;
  readonly apps: AppWatch;
  readonly session: McpSession;
  readonly people: (() => Promise<McpPeople>) | undefined;
  /** The longest time of one request, in milliseconds. */
  readonly timeoutMs: number;
}

/** Creates a reader without connections. */
export function createContentReader(options: ContentReaderOptions): ContentReader {
  const { session, apps, people, timeoutMs } = options;
  return {
    async read(uri, target) {
      const { server: { id: server, alias, media }, signal, redact } = target;
      const found = await requirePinned(findResource(uri, target));
      const connection = await connectionFor(found, target, options);
      const result = await connection.read({ method: 'resources/read', params: { uri }, signal, timeoutMs });
      return { server, alias, uri, untrusted: true, ...toResourceContents(uri, result, { media, redact }) };
    },
    app: (wanted, target) =>
      readPinnedApp({
        wanted,
        target,
        watch: apps,
        timeoutMs,
        connect: async () => await session.connection(target.server, await accessOf(target, people)),
      }),
    async prompt(name, given, target) {
      const { server: { id: server, alias }, signal, redact } = target;
      const found = await requirePinned(find('prompts', name, target));
      requireArguments(found.item, given);
      const connection = await connectionFor(found, target, options);
      const params = { name, arguments: given };
      const result = await connection.read({ method: 'prompts/get', params, signal, timeoutMs });
      return { server, alias, name, untrusted: true, ...toPromptMessages(result, redact) };
    },
    async complete({ prompt, uriTemplate, argument, arguments: filled }, target) {
      const found = await requirePinned(
        prompt === undefined ? find('templates', uriTemplate ?? '', target) : find('prompts', prompt, target),
      );
      const names = prompt === undefined
        ? readTemplate(found.id)?.variables ?? []
        : argumentsOf(found.item.definition).map(({ name }) => name);
      if (![argument.name, ...Object.keys(filled)].every((name) => names.includes(name))) throw unknownArgument();
      const { signal, redact } = target;
      const connection = await connectionFor(found, target, options);
      const ref = prompt === undefined ? { type: 'ref/resource', uri: found.id } : { type: 'ref/prompt', name: prompt };
      const context = Object.keys(filled).length > 0 && { context: { arguments: filled } };
      const params = { ref, argument, ...context };
      try {
        return toCompletion(
          await connection.read({ method: 'completion/complete', params, signal, timeoutMs }),
          redact,
        );
      } catch (error) {
        if (error instanceof PinnaceError && error.details?.['rpcCode'] === methodNotFound) return noValues;
        throw error;
      }
    },
    close: () => session.close(),
  };
}

const methodNotFound = -32_601;
const noValues = { values: [], hasMore: false };

interface Found {
  readonly kind: McpContentKind;
  readonly id: string;
  readonly item: PinnedContent;
}

function find(kind: McpContentKind, id: string, { server, selection }: ContentTarget): Found | undefined {
  if (!isUsable(server)) return undefined;
  const found = selectedContent(server, kind, selection).find((one) => one.id === id);
  return found && { kind, ...found };
}

/** A pinned resource, or a pinned template that expands to the URI. What is masked by its URI, no template reaches. */
function findResource(uri: string, target: ContentTarget): Found | undefined {
  const { server, selection } = target;
  const listed = find('resources', uri, target);
  if (listed || !isUsable(server) || isMasked(selection, contentLabel('resources', uri))) return listed;
  if (/^ui:/i.test(uri)) return undefined;
  const found = selectedContent(server, 'templates', selection).find(({ id }) => readTemplate(id)?.matches(uri));
  return found && { kind: 'templates', ...found };
}

async function requirePinned(found: Found | undefined): Promise<Found> {
  if (found && await contentFingerprint(found.kind, found.item.definition) === found.item.fingerprint) return found;
  throw new PinnaceError(
    'not_found',
    'Cannot read from the MCP server: nothing that is approved for this agent has this name or address',
    { details: { reason: 'mcp_content_not_found' } },
  );
}

async function connectionFor(
  { kind, id, item }: Found,
  target: ContentTarget,
  { watch, session, people }: ContentReaderOptions,
): Promise<McpConnection> {
  const { server, signal } = target;
  const requireSame = (): void => {
    if (item.status === 'drifted' || watch.isHidden(server, kind, id)) throw drifted();
  };
  requireSame();
  const connection = await session.connection(server, await accessOf(target, people));
  if (watch.isDue(server, kind)) {
    await watch.compare(server, kind, async () => (await connection.listContent(kind, { signal })).items);
  }
  requireSame();
  signal.throwIfAborted();
  return connection;
}

async function accessOf(
  { server, principal, signal, secret, protect }: ContentTarget,
  people: ContentReaderOptions['people'],
): Promise<ServerAccess> {
  if (!server.auth) return { secret: await secret(server), questions: false };
  if (!people) throw noSignIn();
  const authorization = (await people()).authorization({ server, principal, signal, protect });
  return { secret: undefined, questions: false, authorization };
}

function requireArguments({ definition }: PinnedContent, given: Readonly<Record<string, string>>): void {
  const known = argumentsOf(definition);
  if (Object.keys(given).some((name) => !known.some((one) => one.name === name))) throw unknownArgument();
  const missing = known.find(({ name, required }) => required && !given[name]);
  if (!missing) return;
  throw new PinnaceError('invalid_argument', `Cannot get the prompt: it needs the argument "${missing.name}"`, {
    details: { reason: 'mcp_argument_missing', argument: missing.name },
  });
}

function unknownArgument(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot get the prompt: it has no argument of this name', {
    details: { reason: 'mcp_argument_unknown' },
  });
}

function drifted(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot read from the MCP server: it no longer offers what was approved; a person must look at it again',
    { details: { reason: 'mcp_drifted' } },
  );
}
