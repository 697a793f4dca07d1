/** The items in memory, and the engine that follows them. */

import type { ItemEngine, Items } from './item-engine.ts';
import type { StoredItem } from './item.ts';
import type { LogChange } from './log-part.ts';
import { createSplitMap } from '../../src/search/split-map.ts';
import { createTurns } from '../../src/base/turns.ts';

/** The items of one tenant. */
export interface HeldItems {
  readonly items: Items;
  /** Applies a whole change, yielding to other work in between. */
  apply(change: LogChange): Promise<void>;
  clear(): void;
  /** Stops updating the engine until `follow`. */
  leave(): void;
  /** Updates the engine from now on. With `restored` it has the current items already; otherwise they are all added. */
  follow(given: { readonly restored: boolean }): Promise<void>;
  /** Removes expired items. */
  expire(): void;
  /** The number of rows in the log that are no longer needed since it was last reset. */
  dead: number;
}

/** Holds no items. */
export function createHeldItems(engine: ItemEngine, now: () => number): HeldItems {
  const items = createSplitMap<StoredItem>();
  let nextExpiry = Infinity;
  let follows = true;
  function drop(id: string): void {
    const item = items.get(id);
    if (!item) return;
    items.delete(id);
    if (follows) engine.remove(item);
    held.dead++;
  }
  const held: HeldItems = {
    items,
    dead: 0,
    async apply({ removed, put }) {
      const turns = createTurns();
      for (const id of removed) drop(id);
      for (const row of put) {
        await turns.next();
        const { id, expiresAt = Infinity } = row.item;
        drop(id);
        if (follows && expiresAt <= now()) {
          held.dead++;
          continue;
        }
        items.set(id, row.item);
        if (follows) engine.add(row);
        nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
    clear() {
      for (const { id } of items.values()) drop(id);
    },
    leave: () => void (follows = false),
    async follow({ restored }) {
      const turns = createTurns();
      for (const item of items.values()) {
        await turns.next();
        // The snapshot has no items that had expired by then.
        if (restored && !engine.has?.(item.id)) drop(item.id);
        if (!restored) engine.add({ item });
      }
      follows = true;
      held.expire();
    },
    expire() {
      if (now() < nextExpiry) return;
      nextExpiry = Infinity;
      for (const { id, expiresAt = Infinity } of items.values()) {
        if (expiresAt <= now()) drop(id);
        else nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
  };
  return held;
}
