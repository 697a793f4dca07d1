/** State in memory: for tests, for pages that may not store data, and for state that need not outlive the process. */

import { checkNames } from '../../src/base/check-options.ts';
import { keyText } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Watchable } from '../../src/contracts/storage.ts';
import {
  byteString,
  copyOf,
  findConflicts,
  isExpired,
  type ListBounds,
  listBounds,
  prepareChanges,
  type PreparedChange,
} from './changes.ts';
import { createNews } from './news.ts';
import { storageClosed, storageFull } from './unavailable.ts';

export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';

interface MemoryStorageOptions {
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
  /** The most living entries: a commit that would make more is refused. */
  readonly maxEntries?: number;
}

interface Row extends Entry {
  readonly expiresAt: number | undefined;
}

interface Table {
  readonly rows: Map<string, Row>;
  readonly order: SortedIds;
  /** At this size the expired rows are removed. */
  purgeAt: number;
}

const smallestPurge = 1024;

/**
 * Keeps state in this object, and with it the state ends. Reads take O(1), lists O(log n) plus what they return, and a write moves
 * at most one block of keys.
 *
 * @example
 * const storage = memoryStorage({ maxEntries: 10_000 });
 * await storage.commit([{ key: ['greeting', 1], value: 'hello', ttlMs: 60_000 }]);
 */
export function memoryStorage(
  settings: MemoryStorageOptions = {},
): ClosableStorage & Watchable {
  checkNames('create the storage', settings, { now: true, maxEntries: true });
  const { now = Date.now, maxEntries = Infinity } = settings;
  const writer = crypto.randomUUID(); // so that no version of an earlier store matches
  const news = createNews();
  let commits = 0;
  let table: Table | undefined = { rows: new Map(), order: createSortedIds(), purgeAt: smallestPurge };

  function open(): Table {
    if (table === undefined) throw storageClosed();
    return table;
  }

  return {
    checks: true,
    isVolatile: true,
    async get(key) {
      const row = living(open(), keyText(key), now());
      return row && toEntry(row);
    },
    async list(options) {
      return rowsWithin(open(), listBounds(options), { limit: options.limit, time: now() }).map(toEntry);
    },
    async commit(changes) {
      const version = `${writer}-${++commits}`;
      const prepared = prepareChanges(changes, now());
      const result = write(open(), prepared, { version, maxEntries, time: now() });
      if (result.ok) news.emit(prepared.filter(({ keep }) => !keep).map(({ id }) => id));
      return result;
    },
    watch: (keys, options) => news.watch(keys.map((key) => keyText(key)), options),
    async close() {
      table = undefined;
    },
  };
}

function toEntry({ key, value, version }: Row): Entry {
  return { key: [...key], value: copyOf(value), version };
}

/** The row, unless its lifetime is over: then it is removed. */
function living(table: Table, id: string, time: number): Row | undefined {
  const row = table.rows.get(id);
  if (row === undefined || !isExpired(row, time)) return row;
  remove(table, id);
  return undefined;
}

function rowsWithin(
  table: Table,
  { lower, upper }: ListBounds,
  { limit, time }: { limit: number; time: number },
): Row[] {
  const found: Row[] = [];
  const expired: string[] = [];
  for (const id of table.order.between(byteString(lower), byteString(upper))) {
    if (found.length >= limit) break;
    const row = table.rows.get(id) as Row; // safe: every id in order has a row
    if (isExpired(row, time)) expired.push(id);
    else found.push(row);
  }
  for (const id of expired) remove(table, id);
  return found;
}

function write(
  table: Table,
  changes: readonly PreparedChange[],
  { version, maxEntries, time }: { version: string; maxEntries: number; time: number },
): CommitResult {
  const conflicts = findConflicts(changes, ({ id }) => living(table, id, time)?.version);
  if (conflicts.length > 0) return { ok: false, conflicts };
  const most = Math.min(maxEntries, table.purgeAt);
  if (table.rows.size + changes.length > most) makeRoom(table, changes, { most, maxEntries, time }); // else it fits anyway
  for (const { id, key, value, expiresAt, keep } of changes) {
    if (keep) continue;
    if (value === undefined) remove(table, id);
    else set(table, id, { key, value, version, expiresAt });
  }
  return { ok: true, version };
}

function makeRoom(
  table: Table,
  changes: readonly PreparedChange[],
  { most, maxEntries, time }: { most: number; maxEntries: number; time: number },
): void {
  if (sizeAfter(table, changes) > most) purge(table, time);
  if (sizeAfter(table, changes) > maxEntries) {
    throw storageFull(`Cannot commit: the store is full, it takes ${maxEntries} entries`);
  }
}

function sizeAfter({ rows }: Table, changes: readonly PreparedChange[]): number {
  return changes.reduce(
    (size, { id, value, keep }) => keep ? size : size + Number(value !== undefined) - Number(rows.has(id)),
    rows.size,
  );
}

/** Removes expired rows. Runs whenever the table has doubled: O(1) per write, and bounds rows that are never read. */
function purge(table: Table, time: number): void {
  for (const [id, row] of table.rows) {
    if (isExpired(row, time)) remove(table, id);
  }
  table.purgeAt = Math.max(smallestPurge, table.rows.size * 2);
}

function set(table: Table, id: string, row: Row): void {
  const before = table.rows.size;
  table.rows.set(id, row);
  if (table.rows.size > before) table.order.add(id);
}

function remove(table: Table, id: string): void {
  if (table.rows.delete(id)) table.order.remove(id);
}

/** The most ids in a block. A full block is split into halves. */
const blockSize = 256;

/** A sorted set of ids. The caller adds an id once, and removes only what it has added. */
type SortedIds = ReturnType<typeof createSortedIds>;

function createSortedIds() {
  const blocks: string[][] = [];
  return {
    /** Adds an id that is not in the set. Takes O(log n + block size + number of blocks / block size). */
    add(id: string): void {
      const at = Math.max(0, blockOf(blocks, id));
      const block = blocks[at];
      if (!block) {
        blocks.push([id]);
        return;
      }
      block.splice(position(block, id), 0, id);
      if (block.length > blockSize) blocks.splice(at + 1, 0, block.splice(blockSize / 2));
    },
    remove(id: string): void {
      const at = blockOf(blocks, id);
      const block = blocks[at];
      if (!block) return;
      block.splice(position(block, id), 1);
      if (block.length === 0) blocks.splice(at, 1);
    },
    /** Returns the ids from `lower` (included) to `upper` (excluded), in order. The set must not change while they are read. */
    *between(lower: string, upper: string): Iterable<string> {
      for (let at = Math.max(0, blockOf(blocks, lower)); at < blocks.length; at++) {
        const block = blocks[at] as string[]; // safe: `at` is below the length
        for (let i = position(block, lower); i < block.length; i++) {
          const id = block[i] as string; // safe: `i` is below the length
          if (id >= upper) return;
          yield id;
        }
      }
    },
  };
}

/** The index of the last block that starts at or before the id, -1 where every block starts behind it. Blocks are never empty. */
function blockOf(blocks: readonly (readonly string[])[], id: string): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.[0] as string) <= id) low = middle + 1; // safe: a block has a first id
    else high = middle;
  }
  return low - 1;
}

/** The index of the id in the sorted list, or where it would be inserted. */
function position(sorted: readonly string[], id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < id) low = middle + 1; // safe: `middle` is below `high`
    else high = middle;
  }
  return low;
}
