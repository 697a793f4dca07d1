/** What finds items: words or vectors, over items that a shelf holds. */

import type { GroundingRequest, SourceHit } from '../../src/contracts/grounding-source.ts';
import { copyOf } from '../storage/changes.ts';
import { originOf, type StoredItem } from './item.ts';
import type { StoredRow } from './log-part.ts';

/** What finds items. It receives every row that is added and every item that is removed. */
export interface ItemEngine {
  /** Throws `invalid_argument` for rows that it cannot hold. */
  require?(rows: readonly StoredRow[]): void;
  /** The id is not there yet. */
  add(row: StoredRow): void;
  remove(item: StoredItem): void;
  /** Returns an item with what the engine keeps of it. */
  rowOf?(item: StoredItem): StoredRow;
  /** Returns the best hits for a query or an embedding; filters hold before anything is cut. */
  search(request: GroundingRequest, context: SearchContext): Promise<SourceHit[]>;
  /** Makes ready what is better made before the next question; with `measure` also what takes seconds, where it is worth it. */
  settle?(signal: AbortSignal, options: { readonly measure: boolean }): Promise<void>;
  /** What it has made of its items, as bytes; nothing comes or goes meanwhile. An engine has all three or none. */
  snapshot?(): Promise<Uint8Array<ArrayBuffer>>;
  /** Replaces all items with such bytes. Returns false and changes nothing if it cannot read them. */
  restore?(bytes: Uint8Array): Promise<boolean>;
  has?(id: string): boolean;
  /** Figures for the operator. */
  stats?(): Readonly<Record<string, unknown>>;
}

/** Items by id. */
export interface Items {
  readonly size: number;
  get(id: string): StoredItem | undefined;
  values(): IteratorObject<StoredItem>;
}

/** What an engine may look at while it searches. */
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
