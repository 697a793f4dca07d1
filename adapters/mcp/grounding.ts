/** The approved resources of an MCP server as a grounding source. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { createPrincipal } from '../../src/base/principal.ts';
import type { McpServer } from '../../src/base/schema.ts';
import { raceAbort } from '../../src/base/until-aborted.ts';
import type { Catalog } from '../../src/contracts/catalog.ts';
import { filterOps, type GroundingItem, type GroundingSource } from '../../src/contracts/grounding-source.ts';
import type {
  ContentReader,
  ContentTarget,
  McpContent,
  McpResource,
  McpResourceEntry,
} from '../../src/contracts/mcp/content.ts';
import type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import type { SecretSource } from '../../src/contracts/egress.ts';
import { numberedLines, piecesOf } from '../../src/grounding/ingest/pieces.ts';
import { PinWatch } from '../../src/mcp/pin-watch.ts';
import { createMcpContent } from '../../src/mcp/read-content.ts';
import { openSession } from '../../src/mcp/run-session.ts';
import { createRedactor } from '../../src/permission/redaction/redactor.ts';
import { createSlots } from '../../src/tools/run-scope.ts';
import { type ItemSource, requireAnswerable } from '../grounding/item-source.ts';
import { textSource } from '../grounding/text.ts';
import { requireRunning } from '../../src/base/turns.ts';

export type { GroundingSource } from '../../src/contracts/grounding-source.ts';

/** The options of `mcpResourceSource`. */
export interface McpResourceSourceOptions {
  /** The id of the source, which agents name in `dataSources`. */
  readonly id: string;
  /** The id of the server's record. Each tenant's own record is used, or else the shared one. */
  readonly server: string;
  /** Where the record of the server is looked up. */
  readonly catalog: Catalog;
  /** Connects to the server. */
  readonly connector: McpConnector;
  /** Resolves the secret of the record, for the agent id `mcp-server:<id>`. */
  readonly secrets?: SecretSource;
  /** URIs, or prefixes of URIs with `*`. Default: all approved resources. */
  readonly include?: readonly string[];
  /** How long what was read is good for, in milliseconds. Default: 600,000. */
  readonly freshMs?: number;
  /** Receives why single resources, or a whole refresh, could not be read. */
  readonly onError?: (error: unknown) => void;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** The most resources and characters that are indexed for a tenant, how many are read at once, and how long a piece is. */
const maxResources = 2000;
const maxText = 16_777_216;
const atOnce = 4;
const pieceLength = 1200;
const readMs = 30_000;
const perCall = 1000;

interface Index {
  readonly source: ItemSource;
  readonly at: number;
}

/**
 * Returns a source that finds passages in the texts of a server's approved resources by their words. The first query of a tenant reads
 * them; later ones read them again in the background when they are older than `freshMs`. Files are skipped. A resource that drifts is
 * found no more. Servers to which people sign in cannot be a source: whose account would it be?
 *
 * @throws PinnaceError `unavailable` from queries, for a server that is not approved (`mcp_not_validated`) or does not answer.
 * @example
 * const docs = mcpResourceSource({ id: 'docs', server: 'docs', catalog: registry, connector, secrets });
 * const grounding = createGrounding({ sources: [docs], records: registry });
 */
export function mcpResourceSource(options: McpResourceSourceOptions): GroundingSource {
  checkNames(
    'create the source',
    options,
    optional('id', 'server', 'catalog', 'connector', 'secrets', 'include', 'freshMs', 'now', 'onError'),
  );
  const { id, connector, freshMs = 600_000, now = Date.now, onError = () => {} } = options;
  const watch = new PinWatch({ ttlMs: freshMs, now, onDrift: () => Promise.resolve() });
  const content = createMcpContent({
    watch,
    people: undefined,
    timeoutMs: readMs,
    openSession: () => openSession({ connector, onListChanged: (server, kind) => watch.flag(server, kind) }),
  });
  const indexes = new BoundedMap<string, Index>(64);
  const building = new Map<string, Promise<Index>>();
  const build = (tenant: string, server: McpServer): Promise<Index> => {
    const made = building.get(tenant) ??
      buildIndex({ tenant, server, content }, { ...options, now, onError }).then((index) => {
        indexes.set(tenant, index);
        return index;
      }).finally(() => building.delete(tenant));
    building.set(tenant, made);
    return made;
  };
  const open = async (tenant: string, signal: AbortSignal) => {
    const server = await findServer(tenant, options, signal);
    const known = indexes.get(tenant);
    const isFresh = known !== undefined && now() - known.at < freshMs;
    const made = isFresh ? undefined : build(tenant, server);
    if (known) made?.catch(onError); // what was read before answers until then
    const { source } = known ?? await raceAbort(made ?? build(tenant, server), signal);
    return { source, uris: new Set(wanted(content, server, options).map(({ uri }) => uri)) };
  };
  const capabilities = { query: true, embedding: false, filters: filterOps, records: false };
  return {
    id,
    kind: 'search',
    capabilities,
    async retrieve(request, signal) {
      requireRunning(signal);
      requireAnswerable(id, capabilities, request);
      const { source, uris } = await open(request.tenant, signal);
      const hits = await source.retrieve({ ...request, topK: Math.min(200, request.topK * 2) }, signal);
      return hits.filter((hit) => uris.has(hit.source.uri)).slice(0, request.topK);
    },
    async stats(tenant, signal) {
      const { source } = await open(tenant, signal);
      return await source.stats(tenant, signal);
    },
  };
}

async function findServer(
  tenant: string,
  { server: serverId, catalog }: McpResourceSourceOptions,
  signal: AbortSignal,
): Promise<McpServer> {
  const own = await catalog.forTenant?.(tenant)?.mcpServer?.(serverId, signal);
  const server = own ?? await catalog.mcpServer?.(serverId, signal);
  if (server?.pinned && server.status === 'valid' && server.state !== 'disabled' && !server.auth) return server;
  const reason = server?.auth ? 'mcp_sign_in_required' : 'mcp_not_validated';
  const why = server?.auth ? 'people sign in to it' : 'no approved server has this id';
  throw new PinnaceError('unavailable', `Cannot search the resources of MCP server "${serverId}": ${why}`, {
    retryable: false,
    details: { reason },
  });
}

function wanted(
  content: McpContent,
  server: McpServer,
  { include = ['*'] }: McpResourceSourceOptions,
): readonly McpResourceEntry[] {
  const isIncluded = (uri: string): boolean =>
    include.some((one) => one.endsWith('*') ? uri.startsWith(one.slice(0, -1)) : uri === one);
  return content.resources(server, {}).filter(({ uri, mimeType = 'text/plain' }) =>
    isIncluded(uri) && !/^(?:image|audio|video|font)\//.test(mimeType)
  ).slice(0, maxResources);
}

type BuildOptions = McpResourceSourceOptions & Required<Pick<McpResourceSourceOptions, 'now' | 'onError'>>;

async function buildIndex(
  { tenant, server, content }: {
    readonly tenant: string;
    readonly server: McpServer;
    readonly content: McpContent;
  },
  options: BuildOptions,
): Promise<Index> {
  const { id, now, onError } = options;
  const at = now();
  const target = targetOf(tenant, server, options);
  const entries = wanted(content, server, options);
  const reader = content.open();
  try {
    const items = await readItems(entries, { reader, target, onError });
    const source = textSource({ id, now });
    for (let from = 0; from < items.length; from += perCall) {
      await source.remember({ tenant, items: items.slice(from, from + perCall) }, target.signal);
    }
    return { source, at };
  } finally {
    await reader.close();
  }
}

/** Reads them, a few at a time. One that cannot be read is skipped; the error is the source's when none could be. */
async function readItems(
  entries: readonly McpResourceEntry[],
  { reader, target, onError }: {
    readonly reader: ContentReader;
    readonly target: ContentTarget;
    readonly onError: (error: unknown) => void;
  },
): Promise<readonly GroundingItem[]> {
  const slots = createSlots();
  let left = maxText;
  let failure: unknown;
  const read = async (entry: McpResourceEntry): Promise<readonly GroundingItem[]> => {
    const free = await slots.take('resource', atOnce, target.signal);
    try {
      if (left <= 0) return [];
      const items = toItems(entry, await reader.read(entry.uri, target));
      left -= items.reduce((sum, { text }) => sum + text.length, 0);
      return items;
    } catch (error) {
      failure = error;
      onError(error);
      return [];
    } finally {
      free();
    }
  };
  const items = (await Promise.all(entries.map(read))).flat();
  if (items.length === 0 && failure !== undefined) throw failure;
  return items;
}

function toItems({ uri, name, title = name }: McpResourceEntry, { alias, contents }: McpResource): GroundingItem[] {
  const text = contents.flatMap((part) => 'text' in part ? [part.text] : []).join('\n\n');
  const pieces = piecesOf(numberedLines(text), { length: pieceLength });
  return pieces.map((piece, i) => ({
    id: i === 0 ? uri : `${uri}#${i + 1}`,
    text: piece.text,
    uri,
    ...(title !== '' && { title }),
    ...(piece.lines && { lines: piece.lines }),
    metadata: { server: alias, untrusted: true },
  }));
}

function targetOf(tenant: string, server: McpServer, { secrets }: McpResourceSourceOptions): ContentTarget {
  const { signal } = new AbortController();
  let redact = (text: string): string => text;
  return {
    server,
    selection: {},
    principal: createPrincipal({
      via: 'in-process',
      tenant,
      subject: `mcp-server:${server.id}`,
      agents: [],
      scopes: [],
    }),
    signal,
    async secret({ id, secret, url }) {
      if (!secret) return undefined;
      const scope = { tenant, agentId: `mcp-server:${id}`, origin: new URL(url).origin };
      const resolved = await secrets?.resolve(secret, { scope, signal });
      if (resolved) redact = createRedactor([{ id: resolved.id, value: resolved.reveal() }]).text;
      return resolved;
    },
    protect: () => {},
    redact: (text) => redact(text),
  };
}
