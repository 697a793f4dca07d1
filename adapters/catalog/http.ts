/** Definitions from an existing control plane, over HTTP. */

import { BoundedMap } from '../../src/base/bounded-map.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Catalog } from '../../src/contracts/catalog.ts';
import {
  type CatalogRecords,
  collectionNames,
  kindNames,
  readRecord,
  type RecordKind,
} from '../../src/tools/records/record-kinds.ts';
import type { ToolDefinition } from '../../src/base/schema.ts';
import { baseOf, segmentOf } from '../remote/address.ts';
import { ask, type HeaderRecord, invalidAnswer, type Remote, type Reply } from '../remote/ask.ts';
import { guardedSend, type GuardedSendOptions } from '../remote/guarded-send.ts';

/** Where the control plane is, and how to ask it. */
export interface HttpCatalogOptions extends GuardedSendOptions {
  /** What stands before `/agents`: http or https, without user name, password, query and fragment. */
  readonly url: string | URL;
  /** Asked before each request, for a token that may have been renewed. */
  readonly headers?: () => Promise<HeaderRecord> | HeaderRecord;
  /**
   * The header that carries the tenant, when its own records are asked for. The answer holds what is that tenant's own, each record
   * with its `tenant`, or 404. Absent, the control plane has shared records only.
   */
  readonly tenantHeader?: string;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

/** What came with an entity tag, already read. */
interface Remembered {
  readonly etag: string;
  readonly value: unknown;
}

interface Source {
  readonly base: string;
  readonly remote: Remote;
  readonly headers: () => Promise<HeaderRecord> | HeaderRecord;
  /** Whose own records are asked for; absent, the shared ones. */
  readonly tenant?: string;
  /** By tenant and URL. */
  readonly remembered: Map<string, Remembered>;
}

const maxBytes = 1024 * 1024;
const maxRemembered = 1000;
/** So many definitions fit into one body. */
const pageLimit = 100;

/**
 * Creates a catalog that reads a control plane: `GET {url}/agents/{id}`, `/providers/{id}`, `/tools/{id}` and `/mcp-servers/{id}` answer a record or 404;
 * `GET {url}/tools?after={id}&limit={n}` answers an array of the tools behind `after`, ordered by id, `n` of them (at most 100)
 * unless there are no more. An answer with an `ETag` is remembered and asked for with `If-None-Match`; nothing else is cached.
 *
 * What cannot be had is `unavailable`: with the reason `catalog_auth` after 401 and 403, `catalog_invalid` for a record that
 * breaks its schema. 429 is `rate_limited`. It waits as long as the signal lets it. No error holds a header or a body.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_url`, `private_origin` or `invalid_private_origin`.
 * @example
 * const catalog = httpCatalog({ url: 'https://control.example/v1', headers: () => ({ authorization: `Bearer ${token}` }) });
 */
export function httpCatalog(options: HttpCatalogOptions): Catalog {
  const source = sourceOf(options);
  const { tenantHeader } = options;
  if (tenantHeader === undefined) return catalogOver(source);
  return { ...catalogOver(source), forTenant: (tenant) => catalogOver(forTenant(source, { tenantHeader, tenant })) };
}

/** The same control plane, asked for one tenant's own records. The tenant is percent-encoded: a header is ASCII. */
function forTenant(
  source: Source,
  { tenantHeader, tenant }: { readonly tenantHeader: string; readonly tenant: string },
): Source {
  const headers = async (): Promise<HeaderRecord> => ({
    ...await source.headers(),
    [tenantHeader]: encodeURIComponent(tenant),
  });
  return { ...source, headers, tenant };
}

function catalogOver(source: Source): Catalog {
  return {
    source: source.base,
    agent: (agentId, signal) => load(source, { kind: 'agent', id: agentId, signal }),
    provider: (providerId, signal) => load(source, { kind: 'provider', id: providerId, signal }),
    tool: (toolId, signal) => load(source, { kind: 'tool', id: toolId, signal }),
    mcpServer: (serverId, signal) => load(source, { kind: 'mcpServer', id: serverId, signal }),
    listTools: ({ after, limit }, signal) => listTools(source, { after, limit, signal }),
  };
}

function sourceOf({ url, headers = () => ({}), now = Date.now, ...way }: HttpCatalogOptions): Source {
  const base = baseOf(url, 'the catalog');
  const fetch = guardedSend(way, base);
  const remote: Remote = { name: 'catalog', kind: 'catalog', maxBytes, fetch, now };
  return { base, remote, headers, remembered: new BoundedMap(maxRemembered) };
}

async function load<Kind extends RecordKind>(
  source: Source,
  { kind, id, signal }: { readonly kind: Kind; readonly id: string; readonly signal: AbortSignal | undefined },
): Promise<CatalogRecords[Kind] | undefined> {
  const segment = segmentOf(id);
  if (segment === undefined) return undefined; // no record can have this id
  const what = `${kindNames[kind]} ${JSON.stringify(id)}`;
  const url = `${source.base}/${collectionNames[kind]}/${segment}`;
  return await askFor(source, { url, what, signal, read: (data) => readAs(kind, data, { what, id }) });
}

/** The pages of the control plane may be smaller than the caller's. */
async function listTools(
  source: Source,
  { after, limit, signal }: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<ToolDefinition[]> {
  const tools: ToolDefinition[] = [];
  const seen = new Set(after === undefined ? [] : [after]);
  while (tools.length < limit) {
    const asked = Math.min(pageLimit, limit - tools.length);
    const page = await loadPage(source, { after: tools.at(-1)?.id ?? after, limit: asked, signal });
    for (const tool of page) {
      if (seen.has(tool.id)) throw invalidAnswer(source.remote, { what: 'the tools', why: `"${tool.id}" twice` });
      seen.add(tool.id);
      tools.push(tool);
    }
    if (page.length < asked) break;
  }
  return tools;
}

async function loadPage(
  source: Source,
  { after, limit, signal }: {
    readonly after: string | undefined;
    readonly limit: number;
    readonly signal: AbortSignal | undefined;
  },
): Promise<readonly ToolDefinition[]> {
  const query = new URLSearchParams({ ...(after !== undefined && { after }), limit: String(limit) });
  const url = `${source.base}/tools?${query}`;
  const page = await askFor(source, { url, what: 'the tools', signal, read: (data) => readPage(data, limit) });
  return page ?? [];
}

interface Wanted<T> {
  readonly url: string;
  readonly what: string;
  readonly signal: AbortSignal | undefined;
  /** Reads the data of an answer; throws `invalid_argument` where it is not as agreed. */
  readonly read: (data: unknown) => T;
}

async function askFor<T>(source: Source, { url, what, signal, read }: Wanted<T>): Promise<T | undefined> {
  const place = JSON.stringify([source.tenant ?? null, url]);
  const known = source.remembered.get(place);
  const question = { url, what, signal, headers: source.headers, etag: known?.etag };
  const reply = await ask(source.remote, question);
  switch (reply.type) {
    case 'found':
      return remember(source, place, {
        etag: reply.etag,
        value: readOrRefuse(source.remote, { what, data: reply.data, read }),
      });
    case 'unchanged':
      return known?.value as T; // safe: what is remembered under a place was read in the one way for its URL
    case 'missing':
      source.remembered.delete(place);
      return undefined;
    case 'denied':
    case 'busy':
      throw refusal(reply, what);
    default:
      return reply satisfies never;
  }
}

function remember<T>(
  { remembered }: Source,
  place: string,
  { etag, value }: { readonly etag: string | undefined; readonly value: T },
): T {
  if (etag === undefined) remembered.delete(place);
  else remembered.set(place, { etag, value });
  return value;
}

function refusal(reply: Extract<Reply, { type: 'denied' | 'busy' }>, what: string): PinnaceError {
  if (reply.type === 'denied') {
    const advice = 'check the headers that it is asked with';
    return new PinnaceError('unavailable', `Cannot load ${what}: the catalog answered ${reply.status}; ${advice}`, {
      retryable: false,
      details: { reason: 'catalog_auth' },
    });
  }
  return new PinnaceError('rate_limited', `Cannot load ${what}: the catalog takes no more requests for now`, {
    details: { reason: 'catalog_rate_limited' },
    ...(reply.retryAfterMs !== undefined && { retryAfterMs: reply.retryAfterMs }),
  });
}

/** A record of the control plane that is wrong is no mistake of whoever runs the agent: not `invalid_argument`. */
function readOrRefuse<T>(
  remote: Remote,
  { what, data, read }: { readonly what: string; readonly data: unknown; readonly read: (data: unknown) => T },
): T {
  try {
    return read(data);
  } catch (error) {
    if (!(error instanceof PinnaceError)) throw error;
    throw invalidAnswer(remote, { what, why: `a bad record: ${error.message}`, details: error.details });
  }
}

function readAs<Kind extends RecordKind>(
  kind: Kind,
  data: unknown,
  { what, id }: { readonly what: string; readonly id: string },
): CatalogRecords[Kind] {
  const record = readRecord[kind](data, what);
  if (record.id === id) return record;
  throw new PinnaceError('invalid_argument', `Cannot read ${what}: it has another id`);
}

function readPage(data: unknown, limit: number): readonly ToolDefinition[] {
  if (!Array.isArray(data)) throw new PinnaceError('invalid_argument', 'Cannot read the page: it is not an array');
  if (data.length > limit) {
    throw new PinnaceError('invalid_argument', `Cannot read the page: it has more than ${limit} tools`);
  }
  return data.map((tool: unknown, index) => readRecord.tool(tool, nameOf(tool, index)));
}

/** The id where it can be one, else the place on the page. */
function nameOf(tool: unknown, index: number): string {
  const id = typeof tool === 'object' && tool !== null && 'id' in tool ? tool.id : undefined;
  return typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) ? `tool "${id}"` : `tool ${index + 1} of the page`;
}
