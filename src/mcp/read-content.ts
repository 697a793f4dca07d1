/** The prompts and resources of a runtime's MCP servers. */

import { PinnaceError } from '../base/errors.ts';
import { asRecord } from '../base/is-record.ts';
import type { McpSelection, McpServer, PinnedApp, PinnedContent } from '../base/schema.ts';
import type {
  ContentReader,
  ContentTarget,
  McpApp,
  McpContent,
  McpPromptEntry,
  McpResourceEntry,
  McpTemplateEntry,
} from '../contracts/mcp/content.ts';
import type { McpConnection, McpContentKind } from '../contracts/mcp/mcp-connector.ts';
import { appLabel } from './candidate.ts';
import { readTemplate, toCompletion, toPromptMessages, toResourceContents } from './content-results.ts';
import type { McpPeople } from './people.ts';
import type { PinWatch } from './pin-watch.ts';
import { contentLabel, fingerprintOf, itemId, pinnedContent } from './pins.ts';
import { isLocalServer, readApp } from './read-apps.ts';
import type { McpSession, ServerAccess } from './run-session.ts';
import { noSignIn } from './sign-in-failures.ts';

export function createMcpContent(
  { openSession, ...options }: Omit<ContentReaderOptions, 'session'> & { readonly openSession: () => McpSession },
): McpContent {
  const usable = (server: McpServer, kind: McpContentKind, selection: Parameters<McpContent['prompts']>[1]) =>
    isUsable(server)
      ? selectedContent(server, kind, selection)
        .filter(({ id, item }) => item.status === 'valid' && !options.watch.isHidden(server, kind, id))
        .map(({ item }) => item)
      : [];
  return {
    prompts: (server, selection) => usable(server, 'prompts', selection).map((item) => toPromptEntry(server, item)),
    resources: (server, selection) =>
      usable(server, 'resources', selection).map((item) => toResourceEntry(server, item)),
    templates: (server, selection) =>
      usable(server, 'templates', selection).map((item) => toTemplateEntry(server, item)),
    requireApp: (wanted, target) => void requirePinnedApp(wanted, target, options.watch),
    open: () => createContentReader({ ...options, session: openSession() }),
  };
}

interface ContentReaderOptions {
  readonly watch: PinWatch;
  readonly session: McpSession;
  readonly people: (() => Promise<McpPeople>) | undefined;
  readonly timeoutMs: number;
}

function createContentReader(options: ContentReaderOptions): ContentReader {
  const { watch, session, people, timeoutMs } = options;
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
        watch,
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
  if (found && await fingerprintOf(found.item.definition, found.kind) === found.item.fingerprint) return found;
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
    await watch.compare(server, kind, () => connection.listContent(kind, { signal }));
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

/** Whether everything that a server has pinned may be used now. */
function isUsable({ state, status, pinned }: McpServer): boolean {
  return state !== 'disabled' && status === 'valid' && pinned !== undefined;
}

/** Whether the agent's selection covers it, as for tools. */
function isSelected({ allow, mask = [] }: McpSelection, label: string): boolean {
  return (allow === undefined || matchesAny(allow, label)) && !matchesAny(mask, label);
}

function isMasked({ mask = [] }: McpSelection, label: string): boolean {
  return matchesAny(mask, label);
}

function matchesAny(patterns: readonly string[], label: string): boolean {
  return patterns.some((one) => one.endsWith('*') ? label.startsWith(one.slice(0, -1)) : label === one);
}

/** The pinned definitions of a kind that the agent may use, with what identifies each. */
function selectedContent(
  { pinned }: McpServer,
  kind: McpContentKind,
  selection: McpSelection,
): readonly { readonly id: string; readonly item: PinnedContent }[] {
  return pinnedContent(pinned, kind).flatMap((item) => {
    const id = itemId(kind, item.definition);
    return id !== undefined && isSelected(selection, contentLabel(kind, id)) ? [{ id, item }] : [];
  });
}

function toPromptEntry(server: McpServer, { definition }: PinnedContent): McpPromptEntry {
  const described = describe(server, definition);
  return {
    ...described,
    command: `${server.alias}.${described.name}`,
    arguments: argumentsOf(definition),
  };
}

function argumentsOf(definition: PinnedContent['definition']): McpPromptEntry['arguments'] {
  const given = Array.isArray(definition['arguments']) ? definition['arguments'] : [];
  return given.map(asRecord).flatMap(({ name, description, required }) =>
    typeof name === 'string' ? [{ name, ...textOf({ description }), required: required === true }] : []
  );
}

function toResourceEntry(server: McpServer, { definition }: PinnedContent): McpResourceEntry {
  const { uri, size } = definition;
  return {
    ...describe(server, definition),
    uri: String(uri),
    ...textOf({ mimeType: definition['mimeType'] }),
    ...(typeof size === 'number' && size >= 0 && { size }),
  };
}

function toTemplateEntry(server: McpServer, { definition }: PinnedContent): McpTemplateEntry {
  const uriTemplate = String(definition['uriTemplate']);
  return {
    ...describe(server, definition),
    uriTemplate,
    variables: readTemplate(uriTemplate)?.variables ?? [],
    ...textOf({ mimeType: definition['mimeType'] }),
  };
}

function describe({ id: server, alias }: McpServer, { name, title, description }: PinnedContent['definition']) {
  return { server, alias, name: typeof name === 'string' ? name : '', ...textOf({ title, description }) };
}

function textOf<K extends string>(fields: Readonly<Record<K, unknown>>): { readonly [Key in K]?: string } {
  const texts = Object.entries(fields).filter(([, value]) => typeof value === 'string' && value !== '');
  return Object.fromEntries(texts) as { [Key in K]?: string }; // of these keys
}

/** What is read, and by which way. */
interface AppReading {
  readonly wanted: { readonly uri: string; readonly sha256: string };
  readonly target: ContentTarget;
  readonly watch: PinWatch;
  readonly connect: () => Promise<McpConnection>;
  readonly timeoutMs: number;
}

/** Reads the app again. It is returned only while it is, to the last character, what was approved. */
async function readPinnedApp({ wanted, target, watch, connect, timeoutMs }: AppReading): Promise<McpApp> {
  const { server, signal, redact } = target;
  const { id, alias, url } = server;
  const { uri, csp, permissions, sha256 } = requirePinnedApp(wanted, target, watch);
  const connection = await connect();
  const answer = await connection.read({ method: 'resources/read', params: { uri }, signal, timeoutMs });
  const live = await readApp(uri, answer, { isLocal: isLocalServer(url), fallback: { csp, permissions } });
  if ('rule' in live || live.sha256 !== sha256) {
    await watch.hideApp(server, uri);
    throw changedApp();
  }
  const { host } = new URL(url);
  return { server: id, alias, host, uri, sha256, untrusted: true, html: redact(live.html), csp };
}

/** Returns the app of this hash, where the agent may use it. */
function requirePinnedApp(
  { uri, sha256 }: AppReading['wanted'],
  { server, selection }: Pick<ContentTarget, 'server' | 'selection'>,
  watch: Pick<PinWatch, 'isAppHidden'>,
): PinnedApp {
  const app = isUsable(server) && server.apps && !isMasked(selection, appLabel(uri))
    ? server.pinned?.apps?.find((one) => one.uri === uri)
    : undefined;
  if (!app) throw unknownApp();
  if (app.sha256 !== sha256 || watch.isAppHidden(server, app)) throw changedApp();
  return app;
}

function unknownApp(): PinnaceError {
  return new PinnaceError('not_found', 'Cannot show the app: no app of this address is approved for this agent', {
    details: { reason: 'mcp_app_not_found' },
  });
}

function changedApp(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot show the app: it is not the one that was approved; a person must look at its server again',
    { details: { reason: 'mcp_drifted' } },
  );
}
