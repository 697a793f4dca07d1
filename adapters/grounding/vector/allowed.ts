/** Which rows pass filters: found once for each version, and then at hand. */

import { BoundedMap } from '../../../src/base/bounded-map.ts';
import { compileFilters, type Filter } from '../../../src/contracts/filter.ts';
import { canonicalJson } from '../../../src/base/json.ts';
import type { Items } from '../item-engine.ts';
import { readItem, type StoredItem } from '../item.ts';
import { createTurns } from '../../../src/base/turns.ts';

/** Remembers what passes the latest filters. */
export interface AllowedRows {
  /** Forgets everything: the rows have changed. */
  clear(): void;
  /** Returns the rows that pass, in order; `undefined` without filters. */
  find(filters: readonly Filter[], given: FindOptions): Promise<Uint32Array | undefined>;
}

/** What rows are found among. */
export interface FindOptions {
  readonly ids: readonly (string | undefined)[];
  readonly items: Items;
  readonly signal: AbortSignal;
}

const mostRemembered = 16;

/** Creates an empty memory. */
export function createAllowedRows(): AllowedRows {
  let known = new BoundedMap<string, Uint32Array>(mostRemembered);
  return {
    clear: () => {
      if (known.size > 0) known = new BoundedMap(mostRemembered);
    },
    async find(filters, { ids, items, signal }) {
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
