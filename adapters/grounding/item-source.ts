/** A source of items that the caller adds, for any engine. */

import { checkNames, optional, type Wanted } from '../../src/base/check-options.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Key } from '../../src/base/key.ts';
import {
  type GroundingCapabilities,
  type GroundingItem,
  type GroundingKind,
  type GroundingRequest,
  opsOf,
  type TenantedSource,
  type WritableGroundingSource,
} from '../../src/contracts/grounding-source.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { invalidItem, type StoredItem, toStoredItems } from './item.ts';
import type { StoredRow } from './item.ts';
import type { ItemEngine } from './item-engine.ts';
import { hasItems } from './item-log.ts';
import { createShelf, type Shelf } from './shelf.ts';
import { requireRunning } from '../../src/base/turns.ts';

export interface ItemSourceOptions {
  readonly id: string;
  /**
   * Whether all tenants find what the deployment stores, beside what is their own. Code without a principal and principals of
   * `deployment` then write the items of all. Absent, each tenant finds its own items alone.
   */
  readonly shared?: boolean;
  /** Where the items are stored, by source and tenant. Absent, they live as long as the process. */
  readonly storage?: Storage;
  readonly now?: () => number;
  /** How old the knowledge of what other instances have written may be; 1 s when absent. */
  readonly refreshMs?: number;
  /** The most tenants whose indexes are in memory at once, where a storage keeps the others; 64 when absent. */
  readonly mostTenants?: number;
}

const itemOptions: Readonly<Record<keyof ItemSourceOptions, Wanted>> = /* @__PURE__ */ optional(
  'id',
  'shared',
  'storage',
  'now',
  'refreshMs',
  'mostTenants',
);

export interface ItemKind {
  /** The names of options that only this kind has. */
  readonly options?: Readonly<Record<string, Wanted>>;
  readonly kind: GroundingKind;
  readonly capabilities: GroundingCapabilities;
  /** How much hits count beside those of other sources; 1 when absent. */
  readonly quality?: number;
  readonly createEngine: () => ItemEngine;
  /** Returns the rows of items that are new, or refuses them. */
  readonly toRows?: (items: readonly StoredItem[], given: Preparing) => Promise<readonly StoredRow[]>;
  /** Returns the request as the engine takes it. */
  readonly toRequest?: (request: GroundingRequest, signal: AbortSignal) => Promise<GroundingRequest>;
}

export interface Preparing {
  readonly tenant: string;
  readonly embeddings: ReadonlyMap<string, ArrayLike<number>>;
  readonly signal: AbortSignal;
}

/** A source that holds items. */
export interface ItemSource extends WritableGroundingSource, TenantedSource {
  /** Makes ready for questions: reads what is stored and measures what is to be measured. Questions do what they need of it. */
  settle(tenant: string, signal: AbortSignal): Promise<void>;
}

export function createItemSource(options: ItemSourceOptions, kind: ItemKind): ItemSource {
  checkNames(`create the source "${options.id}"`, options, { ...itemOptions, ...kind.options });
  const { id, shared = false, storage, now = Date.now } = options;
  const filled = new Set<string>(); // without a storage
  const shelfOf = createShelves(options, kind);
  const open = async (tenant: string, signal: AbortSignal): Promise<Shelf> => {
    requireRunning(signal);
    const shelf = shelfOf(tenant);
    await shelf.refresh(signal);
    requireRunning(signal);
    return shelf;
  };
  return {
    id,
    kind: kind.kind,
    capabilities: kind.capabilities,
    ...(kind.quality !== undefined && { quality: kind.quality }),
    ...(shared && { scope: 'shared' as const }),
    async retrieve(request, signal) {
      requireAnswerable(id, kind.capabilities, request);
      const shelf = await open(request.tenant, signal);
      return await shelf.search(await kind.toRequest?.(request, signal) ?? request, signal);
    },
    async stats(tenant, signal) {
      const shelf = await open(tenant, signal);
      return { version: shelf.version(), ...shelf.stats() };
    },
    async remember({ tenant, items, idempotencyKey }, signal) {
      requireRunning(signal);
      if (idempotencyKey !== undefined && items.length > 50) throw invalidItem('at most 50 are taken under one key');
      const stored = await toStoredItems(items, { sourceId: id, now: now(), signal });
      const rows = await kind.toRows?.(stored, { tenant, embeddings: embeddingsOf(items, stored), signal }) ??
        stored.map((item) => ({ item }));
      requireRunning(signal);
      if (!storage) filled.add(tenant);
      return await shelfOf(tenant).put(rows, { key: idempotencyKey, signal });
    },
    async forget({ tenant, ids, filters }, signal) {
      if (!ids && !filters?.length) throw refused(id, 'name ids or filters', 'nothing_named');
      requireRunning(signal);
      return await shelfOf(tenant).forget({ ids, filters }, signal);
    },
    async holdsForOthers(tenant, signal) {
      requireRunning(signal);
      if (storage) return await isFilledForOthers(storage, ['grounding', id], tenant);
      for (const other of filled) if (other !== tenant && shelfOf(other).stats().items > 0) return true;
      return false;
    },
    async settle(tenant, signal) {
      await (await open(tenant, signal)).settle(signal);
    },
  };
}

/** Checks that the request uses only what the source supports. @throws PinnaceError `invalid_argument`. */
export function requireAnswerable(
  id: string,
  { query, embedding, filters, records }: GroundingCapabilities,
  request: GroundingRequest,
): void {
  const { topK } = request;
  const hasQuery = (request.query ?? '').trim() !== '';
  const asksRecords = request.sort !== undefined || request.aggregate !== undefined;
  if (!Number.isInteger(topK) || topK < 1 || topK > 200) throw refused(id, 'topK must be 1 to 200', 'invalid_top_k');
  if (typeof request.tenant !== 'string' || request.tenant === '') throw refused(id, 'it names no tenant', 'no_tenant');
  if (hasQuery && !query && !request.embedding) throw refused(id, 'it takes no query', 'no_capability');
  if (request.embedding && !embedding && !(hasQuery && query)) {
    throw refused(id, 'it takes no embedding', 'no_capability');
  }
  if (asksRecords && !records) throw refused(id, 'it has no records to sort or add up', 'no_capability');
  for (const op of opsOf(request.filters)) {
    if (!filters.includes(op)) throw refused(id, `it does not filter by "${op}"`, 'no_capability');
  }
  if (!hasQuery && !request.embedding && request.filters.length === 0 && !asksRecords) {
    throw refused(id, 'it needs a query, an embedding or filters', 'nothing_asked');
  }
}

function refused(id: string, why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot ask the data source "${id}": ${why}`, { details: { reason } });
}

/** Finds items without an id by the hash of their content. Of two equal items the last one counts, as in the stored items. */
function embeddingsOf(items: readonly GroundingItem[], stored: readonly StoredItem[]): Map<string, ArrayLike<number>> {
  const embeddings = new Map<string, ArrayLike<number>>();
  const byText = new Map(stored.map((item) => [item.text, item.id]));
  for (const { id, text, embedding } of items) {
    const own = id ?? byText.get(text);
    if (own !== undefined && embedding) embeddings.set(own, embedding);
  }
  return embeddings;
}

/** The shelves in use, the least recently used first. */
function createShelves(options: ItemSourceOptions, { createEngine }: ItemKind): (tenant: string) => Shelf {
  const { id, storage, now = Date.now, refreshMs = 1_000, mostTenants = 64 } = options;
  const shelves = new BoundedMap<string, Shelf>(storage ? mostTenants : Infinity);
  return (tenant) => {
    const prefix = ['grounding', id, tenant];
    return shelves.getOrCreate(tenant, () => createShelf({ engine: createEngine(), storage, prefix, now, refreshMs }));
  };
}

/** More owners without items are not looked through. */
const mostOwners = 20;

/** Goes from owner to owner by the first of its keys. */
async function isFilledForOthers(storage: Storage, prefix: Key, tenant: string): Promise<boolean> {
  let after: Key | undefined;
  for (let passed = 0; passed < mostOwners; passed++) {
    const [entry] = await storage.list({ prefix, limit: 1, ...(after && { after }) });
    const other = entry?.key[prefix.length];
    if (other === undefined) return false;
    if (other !== tenant && await hasItems(storage, [...prefix, other])) return true;
    after = [...prefix, other, lastPart];
  }
  return false;
}

/** Sorts after every part of a key that a shelf writes. */
const lastPart = '\uFFFD';
