/** State in memory: for tests, for pages that may not store data, and for state that need not outlive the process. */

import { encodeKey } from '../../src/base/key.ts';
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

/** Options of {@link memoryStorage}. */
export interface MemoryStorageOptions {
  readonly now?: () => number;
  /** The most living entries: a commit that would make more is refused. */
  readonly maxEntries?: number;
}

/** A stored entry. */
interface Row extends Entry {
  readonly expiresAt: number | undefined;
}

/** The rows by encoded key, and these keys in their order. */
interface Table {
  readonly rows: Map<string, Row>;
  order: string[];
  /** At this size the expired rows are removed. */
  purgeAt: number;
}

const smallestPurge = 1024;

/**
 * Keeps state in this object, and with it the state ends. Reads and lists take O(log n) plus what they answer.
 *
 * @example
 * const storage = memoryStorage({ maxEntries: 10_000 });
 * await storage.commit([{ key: ['greeting', 1], value: 'hello', ttlMs: 60_000 }]);
 */
export function memoryStorage(
  { now = Date.now, maxEntries = Infinity }: MemoryStorageOptions = {},
): ClosableStorage & Watchable {
  const writer = crypto.randomUUID(); // so that no version of an earlier store matches
  const news = createNews();
  let commits = 0;
  let table: Table | undefined = { rows: new Map(), order: [], purgeAt: smallestPurge };

  function open(): Table {
    if (table === undefined) throw storageClosed();
    return table;
  }

  return {
    checks: true,
    async get(key) {
      const row = living(open(), byteString(encodeKey(key)), now());
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
    watch: (keys, options) => news.watch(keys.map((key) => byteString(encodeKey(key))), options),
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
  const end = position(table.order, byteString(upper));
  for (let at = position(table.order, byteString(lower)); at < end && found.length < limit; at++) {
    const id = table.order[at] as string; // safe: `at` is below `end`
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
  if (sizeAfter(table, changes) > Math.min(maxEntries, table.purgeAt)) purge(table, time);
  if (sizeAfter(table, changes) > maxEntries) {
    throw storageFull(`Cannot commit: the store is full, it takes ${maxEntries} entries`);
  }
  for (const { id, key, value, expiresAt, keep } of changes) {
    if (keep) continue;
    if (value === undefined) remove(table, id);
    else set(table, id, { key, value, version, expiresAt });
  }
  return { ok: true, version };
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
    if (isExpired(row, time)) table.rows.delete(id);
  }
  table.order = table.order.filter((id) => table.rows.has(id));
  table.purgeAt = Math.max(smallestPurge, table.rows.size * 2);
}

function set(table: Table, id: string, row: Row): void {
  if (!table.rows.has(id)) table.order.splice(position(table.order, id), 0, id);
  table.rows.set(id, row);
}

function remove(table: Table, id: string): void {
  if (table.rows.delete(id)) table.order.splice(position(table.order, id), 1);
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
