/** Definitions from an existing control plane, over HTTP. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Catalog } from '../../src/contracts/catalog.ts';
import {
  type CatalogRecords,
  collectionNames,
  kindNames,
  readRecord,
  type RecordKind,
} from '../../src/registry/record-kinds.ts';
import type { ToolDefinition } from '../../src/base/schema.ts';
import { baseOf, segmentOf } from '../remote/address.ts';
import { type HeaderRecord, invalidAnswer, type Remote, type Reply, requestJson } from '../remote/request-json.ts';
import { guardedSend, type GuardedSendOptions } from '../remote/guarded-send.ts';

export type { Catalog } from '../../src/contracts/catalog.ts';

/** The control plane and how to call it. */
export interface HttpCatalogOptions extends GuardedSendOptions {
  /** The base URL, before `/agents`: http or https, without user name, password, query and fragment. */
  readonly url: string | URL;
  /** Called before each request, so that tokens can be renewed. */
  readonly headers?: () => Promise<HeaderRecord> | HeaderRecord;
  /**
   * The header with the tenant whose own records are requested. The response holds that tenant's own records, each with its
   * `tenant`, or is 404. Absent, the control plane has shared records only.
   */
  readonly tenantHeader?: string;
  /** Milliseconds since 1970, for a `Retry-After` that is a date. */
  readonly now?: () => number;
}

/** A parsed response with its entity tag. */
interface Remembered {
  readonly etag: string;
  readonly value: unknown;
}

interface Source {
  readonly base: string;
  readonly remote: Remote;
  readonly headers: () => Promise<HeaderRecord> | HeaderRecord;
  /** The tenant whose own records are requested; the shared records when absent. */
  readonly tenant?: string;
  /** By tenant and URL. */
  readonly remembered: Map<string, Remembered>;
}

const maxBytes = 1024 * 1024;
const maxRemembered = 1000;
/** The most definitions in one body. */
const pageLimit = 100;

/**
 * Creates a catalog that reads a control plane: `GET {url}/agents/{id}`, `/providers/{id}`, `/tools/{id}` and `/mcp-servers/{id}`
 * return a record or 404; `GET {url}/tools?after={id}&limit={n}` returns an array of the tools after `after`, ordered by id, `n` of
 * them (at most 100) unless there are no more. A response with an `ETag` is cached and revalidated with `If-None-Match`; nothing
 * else is cached.
 *
 * Failures are `unavailable`: with the reason `catalog_auth` after 401 and 403, `catalog_invalid` for a record that breaks its
 * schema. 429 is `rate_limited`. It waits until the signal aborts. No error contains a header or a body.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_url`, `private_origin` or `invalid_private_origin`.
 * @example
 * const catalog = httpCatalog({ url: 'https://control.example/v1', headers: () => ({ authorization: `Bearer ${token}` }) });
 */
export function httpCatalog(options: HttpCatalogOptions): Catalog {
  checkNames(
    'create the catalog',
    options,
    optional('url', 'headers', 'tenantHeader', 'now', 'egress', 'privateOrigins', 'fetch'),
  );
  const source = sourceOf(options);
  const { tenantHeader } = options;
  if (tenantHeader === undefined) return catalogOver(source);
  return { ...catalogOver(source), forTenant: (tenant) => catalogOver(forTenant(source, { tenantHeader, tenant })) };
}

/** The same control plane for one tenant's own records. The tenant is percent-encoded, because a header is ASCII. */
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
    const pageSize = Math.min(pageLimit, limit - tools.length);
    const page = await loadPage(source, { after: tools.at(-1)?.id ?? after, limit: pageSize, signal });
    for (const tool of page) {
      if (seen.has(tool.id)) throw invalidAnswer(source.remote, { what: 'the tools', why: `"${tool.id}" twice` });
      seen.add(tool.id);
      tools.push(tool);
    }
    if (page.length < pageSize) break;
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
  /** Parses the data of a response; throws `invalid_argument` where it breaks the contract. */
  readonly read: (data: unknown) => T;
}

async function askFor<T>(source: Source, { url, what, signal, read }: Wanted<T>): Promise<T | undefined> {
  const cacheKey = JSON.stringify([source.tenant ?? null, url]);
  const known = source.remembered.get(cacheKey);
  const question = { url, what, signal, headers: source.headers, etag: known?.etag };
  const reply = await requestJson(source.remote, question);
  switch (reply.type) {
    case 'found':
      return remember(source, cacheKey, {
        etag: reply.etag,
        value: readOrRefuse(source.remote, { what, data: reply.data, read }),
      });
    case 'unchanged':
      return known?.value as T; // safe: each URL has one parser
    case 'missing':
      source.remembered.delete(cacheKey);
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
  cacheKey: string,
  { etag, value }: { readonly etag: string | undefined; readonly value: T },
): T {
  if (etag === undefined) remembered.delete(cacheKey);
  else remembered.set(cacheKey, { etag, value });
  return value;
}

function refusal(reply: Extract<Reply, { type: 'denied' | 'busy' }>, what: string): PinnaceError {
  if (reply.type === 'denied') {
    const advice = 'check the headers of its requests';
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

/** A wrong record of the control plane is not the caller's mistake, so it is not `invalid_argument`. */
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

/** The id where it is one, else the position on the page. */
function nameOf(tool: unknown, index: number): string {
  const id = typeof tool === 'object' && tool !== null && 'id' in tool ? tool.id : undefined;
  return typeof id === 'string' && /^[\w.-]{1,128}$/.test(id) ? `tool "${id}"` : `tool ${index + 1} of the page`;
}
