/** What finds items: words or vectors, over items that a shelf holds. */

import {
  compileFilters,
  type Filter,
  type GroundingRequest,
  type SourceHit,
} from '../../src/contracts/grounding-source.ts';
import { copyOf } from '../storage/changes.ts';
import { createTurns } from '../../src/base/turns.ts';
import { BoundedMap } from '../../src/base/bounded-map.ts';
import { canonicalJson } from '../../src/base/json.ts';
import { originOf, readItem, type StoredItem, type StoredRow } from './item.ts';

/** What finds items. It receives every row that is added and every item that is removed. */
export interface ItemEngine {
  require?(rows: readonly StoredRow[]): void;
  /** The id is not there yet. */
  add(row: StoredRow): void;
  remove(item: StoredItem): void;
  /** Returns an item with what the engine keeps of it. */
  rowOf?(item: StoredItem): StoredRow;
  search(request: GroundingRequest, context: SearchContext): Promise<SourceHit[]>;
  /** Makes ready what is better made before the next question; with `measure` also what takes seconds, where it is worth it. */
  settle?(signal: AbortSignal, options: { readonly measure: boolean }): Promise<void>;
  /** What it has made of its items, as bytes; nothing comes or goes meanwhile. An engine has all three or none. */
  snapshot?(): Promise<Uint8Array<ArrayBuffer>>;
  /** Replaces all items with such bytes. Returns false and changes nothing if it cannot read them. */
  restore?(bytes: Uint8Array): Promise<boolean>;
  has?(id: string): boolean;
  stats?(): Readonly<Record<string, unknown>>;
}

export interface Items {
  readonly size: number;
  get(id: string): StoredItem | undefined;
  values(): IteratorObject<StoredItem>;
}

export interface SearchContext {
  readonly signal: AbortSignal;
  readonly items: Items;
  readonly version: string;
}

/** What a hit says of its item, whatever found it. */
export function plainHit(item: StoredItem, version: string) {
  return {
    id: item.id,
    content: item.text,
    ...(item.title !== undefined && { title: item.title }),
    source: originOf(item, version),
    metadata: copyOf(item.metadata) as StoredItem['metadata'], // a copy has the same shape
  };
}

/** An item that passes all filters is what was asked for. */
export const listedConfidence = 0.98;

/** Lists the items that pass the filters, the latest first. */
export async function listItems(
  { filters, topK }: GroundingRequest,
  { items, version, signal }: SearchContext,
): Promise<SourceHit[]> {
  const passes = compileFilters<StoredItem>(filters, readItem);
  const turns = createTurns(signal);
  const found: StoredItem[] = [];
  for (const item of items.values()) {
    await turns.next();
    if (passes(item)) found.push(item);
  }
  found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  return found.slice(0, topK).map((item) => ({
    ...plainHit(item, version),
    score: 0,
    scoreKind: 'exact',
    confidence: listedConfidence,
    matched: [],
  }));
}

interface FindOptions {
  readonly ids: readonly (string | undefined)[];
  readonly items: Items;
  readonly signal: AbortSignal;
}

const mostRemembered = 16;

export function createAllowedRows() {
  let known = new BoundedMap<string, Uint32Array>(mostRemembered);
  return {
    clear: (): void => {
      if (known.size > 0) known = new BoundedMap(mostRemembered);
    },
    /** Returns the rows that pass, in order; `undefined` without filters. */
    async find(filters: readonly Filter[], { ids, items, signal }: FindOptions): Promise<Uint32Array | undefined> {
      if (filters.length === 0) return undefined;
      const key = canonicalJson(filters);
      const found = known.get(key);
      if (found) return found;
      const passes = compileFilters<StoredItem>(filters, readItem);
      const into = known; // a later `clear` creates another
      const turns = createTurns(signal);
      const rows: number[] = [];
      for (const [row, id] of ids.entries()) {
        if (row % 256 === 0) await turns.next();
        const item = id === undefined ? undefined : items.get(id);
        if (item && passes(item)) rows.push(row);
      }
      const allowed = Uint32Array.from(rows);
      into.set(key, allowed);
      return allowed;
    },
  };
}
