/** The items in memory, and the engine that follows them. */

import type { ItemEngine } from './item-engine.ts';
import type { KeptItem } from './item.ts';
import type { LogChange } from './log-part.ts';
import { createTurns } from './turns.ts';

/** The items of one tenant. */
export interface HeldItems {
  readonly items: ReadonlyMap<string, KeptItem>;
  /** Does what a change says, in turns; to its end, for half a change is none. */
  apply(change: LogChange): Promise<void>;
  clear(): void;
  /** Drops what is past its time. */
  expire(): void;
  /** The rows that the log has and nobody needs; begins to count anew. */
  dead: number;
}

/** Holds no items. */
export function createHeldItems(engine: ItemEngine, now: () => number): HeldItems {
  const items = new Map<string, KeptItem>();
  let nextExpiry = Infinity;
  function drop(id: string): void {
    const item = items.get(id);
    if (!item) return;
    items.delete(id);
    engine.remove(item);
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
        if (expiresAt <= now()) {
          held.dead++;
          continue;
        }
        items.set(id, row.item);
        engine.add(row);
        nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
    clear() {
      for (const id of items.keys()) drop(id);
    },
    expire() {
      if (now() < nextExpiry) return;
      nextExpiry = Infinity;
      for (const [id, { expiresAt = Infinity }] of items) {
        if (expiresAt <= now()) drop(id);
        else nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
  };
  return held;
}
