/** Caches the catalog's records. A tenant's own record goes before a shared one, and no tenant reaches another's entry. */

import { type Cache, type CacheOptions, createCache } from '../../log/cache.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Catalog } from '../../contracts/catalog.ts';

/** Which entries an invalidation removes: without an id, those of every id. */
export interface CacheScope {
  readonly id?: string | undefined;
  /** Only this tenant's own. Absent, with an id, the shared record's; without one, everything. */
  readonly tenant?: string | undefined;
}

/** A cache of one kind of record. */
export interface RecordCache<T> {
  /** Returns the tenant's own record, else the shared one. Without a tenant, only what is shared. Rejects as the catalog does. */
  get(id: string, tenant: string | undefined): Promise<T | undefined>;
  /** Returns the tenant's own record alone. */
  own(id: string, tenant: string | undefined): Promise<T | undefined>;
  /** Removes entries; shared ones whose load started before the position `since` count no longer. Takes effect before it returns. */
  invalidate(scope: CacheScope, since: number): void;
}

/** What a record cache is made of. */
export interface RecordCacheOptions<T> extends Omit<CacheOptions<T>, 'load'> {
  readonly catalog: Catalog;
  /** Loads from the shared catalog, or from the one of a tenant. */
  readonly load: (
    catalog: Catalog,
    id: string,
    options: { readonly signal: AbortSignal; readonly tenant: string | undefined },
  ) => Promise<T | undefined>;
}

/** Creates an empty cache. */
export function createRecordCache<T>({ catalog, load, ...options }: RecordCacheOptions<T>): RecordCache<T> {
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
export function requireOwn<T extends { readonly tenant?: string | undefined }>(
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
