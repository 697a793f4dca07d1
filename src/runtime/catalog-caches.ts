/** The caches of a catalog's records, one of each kind. */

import { type CacheKey, readCacheKey, requireCacheKeys } from '../log/cache-key.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import type { Agent, McpServer, Provider, ToolDefinition } from '../base/schema.ts';
import { type Cache, type CacheOptions, createCache, createSourceHealth } from '../log/cache.ts';
import { PinnaceError } from '../base/errors.ts';
import { type CatalogRecords, kindNames, readRecord, type RecordKind } from '../registry/record-kinds.ts';
import type { Bulletin } from '../log/bulletin.ts';
import type { Emit } from '../events/events.ts';
import { createTraceId } from '../events/trace-ids.ts';

/** What the caches are made of. */
export interface CatalogCachesOptions {
  readonly catalog: Catalog;
  readonly storage: Storage;
  readonly metrics: Metrics;
  readonly now: () => number;
  /** The position of the last invalidation that this instance has read. */
  readonly position: () => number | undefined;
}

/** A cache of each kind of record. */
export interface CatalogCaches {
  readonly agents: RecordCache<Agent>;
  readonly providers: RecordCache<Provider>;
  /** The whole list, under the id `all`. It is never shared. */
  readonly tools: RecordCache<readonly ToolDefinition[]>;
  readonly servers: RecordCache<McpServer>;
  /** Removes what a key names; shared values whose load started before the position `since` count no longer. */
  invalidate(key: CacheKey, since: number): void;
}

/** Creates empty caches. They share the health of the catalog: one that hangs is waited for once. */
export function createCatalogCaches({ catalog, storage, metrics, now, position }: CatalogCachesOptions): CatalogCaches {
  const { source } = catalog;
  const revisionOf = ({ revision }: { readonly revision: number }): number => revision;
  const common = { now, metrics, catalog, health: createSourceHealth(now) };
  const records = { ...common, ...(source !== undefined && { shared: { storage, source, position, revisionOf } }) };
  const agents: RecordCache<Agent> = createRecordCache({
    ...records,
    name: 'agent',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('agent', id, await from.agent(id, signal)), tenant),
  });
  const providers: RecordCache<Provider> = createRecordCache({
    ...records,
    name: 'provider',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('provider', id, await from.provider(id, signal)), tenant),
  });
  const servers: RecordCache<McpServer> = createRecordCache({
    ...records,
    name: 'mcp-server',
    load: async (from, id, { signal, tenant }) =>
      requireOwn(readAnswer('mcpServer', id, await from.mcpServer?.(id, signal)), tenant),
  });
  const tools: RecordCache<readonly ToolDefinition[]> = createRecordCache({
    ...common,
    name: 'tools',
    load: (from, _, given) => listTools(from, given),
  });
  return {
    agents,
    providers,
    tools,
    servers,
    invalidate({ kind, id, tenant }, since) {
      const all = kind === '*';
      if (all || kind === 'agent') agents.invalidate({ id, tenant }, since);
      if (all || kind === 'provider') providers.invalidate({ id, tenant }, since);
      if (all || kind === 'tools' || kind === 'tool') tools.invalidate({ tenant }, since);
      if (all || kind === 'mcp-server') servers.invalidate({ id, tenant }, since);
    },
  };
}

async function listTools(
  catalog: Catalog,
  { signal, tenant }: { readonly signal: AbortSignal; readonly tenant: string | undefined },
): Promise<readonly ToolDefinition[]> {
  const tools: ToolDefinition[] = [];
  const limit = 1000;
  for (let page: readonly ToolDefinition[] | undefined; page === undefined || page.length === limit;) {
    const after = page?.at(-1)?.id;
    page = readToolsAnswer(await catalog.listTools({ limit, ...(after !== undefined && { after }) }, signal));
    for (const tool of page) requireOwn(tool, tenant);
    tools.push(...page);
  }
  return tools;
}

/** Which entries an invalidation removes: without an id, those of every id. */
interface CacheScope {
  readonly id?: string | undefined;
  /** Only this tenant's own. Absent, with an id, the shared record's; without one, everything. */
  readonly tenant?: string | undefined;
}

/** A cache of one kind of record. */
interface RecordCache<T> {
  /** Returns the tenant's own record, else the shared one. Without a tenant, only what is shared. Rejects as the catalog does. */
  get(id: string, tenant: string | undefined): Promise<T | undefined>;
  /** Returns the tenant's own record alone. */
  own(id: string, tenant: string | undefined): Promise<T | undefined>;
  /** Removes entries; shared ones whose load started before the position `since` count no longer. Takes effect before it returns. */
  invalidate(scope: CacheScope, since: number): void;
}

/** What a record cache is made of. */
interface RecordCacheOptions<T> extends Omit<CacheOptions<T>, 'load'> {
  readonly catalog: Catalog;
  /** Loads from the shared catalog, or from the one of a tenant. */
  readonly load: (
    catalog: Catalog,
    id: string,
    options: { readonly signal: AbortSignal; readonly tenant: string | undefined },
  ) => Promise<T | undefined>;
}

/** Creates an empty cache. */
function createRecordCache<T>({ catalog, load, ...options }: RecordCacheOptions<T>): RecordCache<T> {
  const cache: Cache<T> = createCache({
    ...options,
    load: async (entryId, signal) => {
      const { id, tenant } = readEntryId(entryId);
      const from = tenant === undefined ? catalog : catalog.forTenant?.(tenant);
      return from && await load(from, id, { signal, tenant });
    },
  });
  const own: RecordCache<T>['own'] = async (id, tenant) =>
    tenant === undefined || !catalog.forTenant ? undefined : await cache.get(entryIdOf(id, tenant));
  return {
    own,
    async get(id, tenant) {
      const shared = cache.get(entryIdOf(id));
      shared.catch(() => undefined); // read below, and only where the tenant has no record of its own
      return await own(id, tenant) ?? await shared;
    },
    invalidate({ id, tenant }, since) {
      if (id !== undefined) cache.invalidate(entryIdOf(id, tenant), since);
      else if (tenant === undefined) cache.invalidate(undefined, since);
      else cache.invalidate((entryId) => readEntryId(entryId).tenant === tenant, since);
    },
  };
}

/** Refuses a record that belongs to another tenant than the one it was loaded for: a catalog that mixes them up is no source. */
function requireOwn<T extends { readonly tenant?: string | undefined }>(
  record: T | undefined,
  tenant: string | undefined,
): T | undefined {
  if (record?.tenant === undefined || record.tenant === tenant) return record;
  throw new PinnaceError('unavailable', "Cannot load the record: the catalog answered with another tenant's", {
    retryable: false,
    details: { reason: 'catalog_invalid' },
  });
}

/** JSON, for an id may come from a caller: no id can be written so that it names the entry of a tenant. */
function entryIdOf(id: string, tenant?: string): string {
  return JSON.stringify(tenant === undefined ? [id] : [id, tenant]);
}

function readEntryId(entryId: string): { readonly id: string; readonly tenant: string | undefined } {
  const [id = '', tenant] = JSON.parse(entryId) as readonly string[]; // made by `entryIdOf` alone
  return { id, tenant };
}

/**
 * Reads a record; `undefined` stays what it is.
 *
 * @throws PinnaceError `unavailable` with the reason `catalog_invalid` for one that breaks its schema, or has another id.
 */
function readAnswer<Kind extends RecordKind>(
  kind: Kind,
  id: string,
  answer: unknown,
): CatalogRecords[Kind] | undefined {
  if (answer === undefined) return undefined;
  const what = kindNames[kind];
  try {
    const record = readRecord[kind](answer, what);
    if (record.id === id) return record;
  } catch (cause) {
    throw invalid(what, cause);
  }
  throw invalid(what);
}

/**
 * Reads a page of tools, of which there may be thousands: only as far as the way from here needs. Each is read whole where it is
 * made a tool.
 *
 * @throws PinnaceError as `readAnswer`.
 */
function readToolsAnswer(answer: unknown): readonly ToolDefinition[] {
  if (Array.isArray(answer) && answer.every(isDefinition)) return answer as readonly ToolDefinition[]; // see above
  throw invalid('tools');
}

function isDefinition(one: unknown): boolean {
  if (typeof one !== 'object' || one === null) return false;
  const { id, name, paramsSchema } = one as Partial<Record<keyof ToolDefinition, unknown>>; // every object has these, or not
  return typeof id === 'string' && typeof name === 'string' && typeof paramsSchema === 'object' &&
    paramsSchema !== null;
}

function invalid(what: string, cause?: unknown): PinnaceError {
  return new PinnaceError('unavailable', `Cannot load the ${what}: the catalog answered something else`, {
    cause,
    retryable: false,
    details: { reason: 'catalog_invalid' },
  });
}

/** What the feed works with. */
interface InvalidationFeedOptions {
  readonly bulletin: Bulletin<readonly string[]>;
  readonly emit: Emit;
  /** Removes what the keys name here; shared values whose load started before the position `since` count no longer. */
  readonly remove: (keys: readonly string[], since: number) => void;
  /** Called when these agents may have changed; without ids, all may have. */
  readonly onAgentsChanged: (agentIds?: readonly string[]) => void;
}

/** Publishes invalidations, and applies those of every instance. */
interface InvalidationFeed {
  /** How many invalidations this instance has read. */
  readonly count: number;
  /** Watches from the first use on: a runtime that resolves nothing watches nothing. */
  subscribe(): void;
  /** Applies what was invalidated before now, on any instance. Never rejects: a failing storage rejects the claim of the run. */
  refresh(): Promise<void>;
  /** Makes a commit conflict where an instance has invalidated more than is applied here; `undefined` before the first read. */
  readonly check: Change | undefined;
  /** @throws PinnaceError `invalid_argument` for an unknown key, `unavailable` when the other instances cannot be reached. */
  invalidate(keys: readonly string[]): Promise<void>;
  /** Stops watching. */
  close(): void;
}

/** Creates a feed that does not watch yet. */
export function createInvalidationFeed(
  { bulletin, emit, remove, onAgentsChanged }: InvalidationFeedOptions,
): InvalidationFeed {
  const closing = new AbortController();
  let count = 0;
  let subscribed = false;
  const apply = (keys: readonly string[]): void => {
    count += 1;
    remove(keys, bulletin.position ?? 0);
    reportAgents(keys, onAgentsChanged);
  };
  const subscribe = (): void => {
    if (subscribed) return;
    subscribed = true;
    bulletin.subscribe(apply, closing.signal);
  };
  return {
    get count() {
      return count;
    },
    get check() {
      return bulletin.check;
    },
    subscribe,
    async refresh() {
      subscribe();
      await bulletin.refresh().catch(() => undefined);
    },
    async invalidate(keys) {
      requireCacheKeys(keys);
      // Here it takes effect even if it cannot be published. Its own position will be higher than every one known now.
      remove(keys, (bulletin.position ?? 0) + 1);
      for (const key of keys) emit(invalidated(key));
      await bulletin.publish(keys);
    },
    close: () => closing.abort(),
  };
}

function invalidated(key: string): Parameters<Emit>[0] {
  return {
    traceId: createTraceId(),
    actor: { type: 'system', id: 'resolver' },
    action: 'cache.invalidate',
    target: { type: 'cache', id: key },
    status: 'ok',
    latency: 0,
    error: null,
    payloadSummary: '',
  };
}

function reportAgents(keys: readonly string[], report: InvalidationFeedOptions['onAgentsChanged']): void {
  const named = keys.map(readCacheKey).filter(({ kind }) => kind === '*' || kind === 'agent');
  if (named.some(({ id }) => id === undefined)) report();
  else if (named.length > 0) report(named.flatMap(({ id }) => id ?? []));
}
