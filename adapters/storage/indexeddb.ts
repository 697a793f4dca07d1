/** State in the browser's IndexedDB, for pages and workers. The only file that knows idb-keyval. */

import { promisifyRequest } from 'idb-keyval';
import { checkNames, optional } from '../../src/base/check-options.ts';
import { encodeKey, keyBytes, keyText } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Presence, Watchable } from '../../src/contracts/storage.ts';
import {
  byteString,
  findConflicts,
  isExpired,
  type ListBounds,
  listBounds,
  nextBytes,
  prepareChanges,
  type PreparedChange,
} from './changes.ts';
import { type Connection, createConnection } from './connection.ts';
import { expiryIndex, openDatabase, type Row, type StorageFormat, toEntry, useStore } from './indexeddb-database.ts';
import { createNews, type News } from './news.ts';

export type { StorageFormat } from './indexeddb-database.ts';
export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';

interface IndexedDbStorageOptions {
  /** The database. Two names never see each other. */
  readonly name: string;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
  /** Instead of the global one. */
  readonly indexedDB?: IDBFactory;
  /** The format of the stored values; the first when absent. */
  readonly format?: StorageFormat;
}

/** How many expired rows a commit removes at most: as many as it has changes at most. */
const purgeLimit = 100;

/**
 * Keeps state in IndexedDB. It opens when first used, and again when the browser closed it. Checks and writes of a commit share
 * one transaction, so tabs and workers cannot overtake each other.
 *
 * @example
 * const storage = indexedDbStorage({ name: 'pinnace' });
 */
export function indexedDbStorage(
  given: IndexedDbStorageOptions,
): ClosableStorage & Watchable {
  checkNames('create the storage', given, optional('name', 'now', 'indexedDB', 'format'));
  const { name, now = Date.now, indexedDB, format } = given;
  const connection: Connection<IDBDatabase> = createConnection({
    open: () => openDatabase({ name, factory: indexedDB, format, onLost: (database) => connection.forget(database) }),
    shut: (database) => database.close(),
  });
  const use = useStore(connection, name);
  const news = createSharedNews(`pinnace:${name}`);
  return {
    checks: true,
    presence: presenceByLock(`pinnace:${name}`),
    async get(key) {
      const bytes = encodeKey(key);
      const row = await use('readonly', (store) => readRow(store, bytes));
      return row === undefined || isExpired(row, now()) ? undefined : toEntry(row);
    },
    async list(options) {
      const bounds = listBounds(options);
      return await use('readonly', (store) => rowsWithin(store, bounds, { limit: options.limit, time: now() }));
    },
    async commit(changes) {
      const prepared = prepareChanges(changes, now());
      const result = await use('readwrite', (store) => write(store, prepared, now()));
      if (result.ok) news.emit(prepared.filter(({ keep }) => !keep).map(({ id }) => id));
      return result;
    },
    watch: (keys, watching) => news.watch(keys.map((key) => keyText(key)), watching),
    async close() {
      news.close();
      await connection.close();
    },
  };
}

/** Each process holds a Web Lock, which is freed when it ends: a worker, or a page with its workers. `undefined` where there are none. */
function presenceByLock(name: string): Presence | undefined {
  const locks = globalThis.navigator?.locks as LockManager | undefined; // absent where the page is not secure, and in Deno
  if (!locks) return undefined;
  return {
    show: (id, signal) =>
      new Promise((resolve, reject) => {
        const held = async (): Promise<void> => {
          resolve();
          await new Promise<void>((free) => signal.addEventListener('abort', () => free(), { once: true }));
        };
        locks.request(`${name} ${id}`, { signal }, held).catch(reject);
      }),
    ended: async (id, signal) => await locks.request(`${name} ${id}`, { signal }, () => undefined),
  };
}

function readRow(store: IDBObjectStore, bytes: Uint8Array<ArrayBuffer>): Promise<Row | undefined> {
  const request: IDBRequest<Row | undefined> = store.get(bytes); // safe: only `write` writes here
  return promisifyRequest(request);
}

/** Reads on until there are enough living rows, or no more. */
async function rowsWithin(
  store: IDBObjectStore,
  { lower, upper }: ListBounds,
  { limit, time }: { readonly limit: number; readonly time: number },
): Promise<Entry[]> {
  const found: Row[] = [];
  let from = lower;
  while (found.length < limit && byteString(from) < byteString(upper)) {
    const range = IDBKeyRange.bound(from.buffer, upper.buffer, false, true); // buffers: views of none count as detached in some
    const request: IDBRequest<Row[]> = store.getAll(range, limit); // safe as above
    const page = await promisifyRequest(request);
    found.push(...page.filter((row) => !isExpired(row, time)));
    const last = page.at(-1);
    from = last === undefined || page.length < limit ? upper : nextBytes(encodeKey(last.key));
  }
  return found.slice(0, limit).map(toEntry);
}

/** Compares and writes in the one transaction. Nothing but its own requests is awaited on the way, or it would end early. */
async function write(store: IDBObjectStore, changes: readonly PreparedChange[], time: number): Promise<CommitResult> {
  const ending = ended(store.transaction);
  const conflicts = findConflicts(changes, await versions(store, changes, time));
  if (conflicts.length > 0) return { ok: false, conflicts };
  const version = crypto.randomUUID();
  if (changes.some(({ expiresAt }) => expiresAt !== undefined)) await purge(store, time);
  try {
    for (const change of changes) writeRow(store, change, version);
  } catch (error) {
    store.transaction.abort();
    throw error;
  }
  const failure = await ending;
  if (failure !== undefined) throw failure;
  return { ok: true, version };
}

/** Waits for the end: nothing when everything was written, the error when nothing was. */
function ended(transaction: IDBTransaction): Promise<Error | undefined> {
  return new Promise((resolve) => {
    transaction.addEventListener('complete', () => resolve(undefined));
    transaction.addEventListener('abort', () => resolve(transaction.error ?? new Error('The transaction was aborted')));
  });
}

async function versions(
  store: IDBObjectStore,
  changes: readonly PreparedChange[],
  time: number,
): Promise<(change: PreparedChange, index: number) => string | undefined> {
  const rows = await Promise.all(
    changes.map(async ({ id, ifVersion }) => ifVersion === undefined ? undefined : await readRow(store, keyBytes(id))),
  );
  return (_, index) => {
    const row = rows[index];
    return row === undefined || isExpired(row, time) ? undefined : row.version;
  };
}

/** Removes some of what has expired: every commit that adds such rows clears as many as it may add. */
async function purge(store: IDBObjectStore, time: number): Promise<void> {
  const keys = await promisifyRequest(store.index(expiryIndex).getAllKeys(IDBKeyRange.upperBound(time), purgeLimit));
  for (const key of keys) store.delete(key);
}

function writeRow(store: IDBObjectStore, change: PreparedChange, version: string): void {
  const { key, id, value, expiresAt, keep } = change;
  const bytes = keyBytes(id);
  if (keep) return;
  if (value === undefined) store.delete(bytes);
  else store.put({ key, value, version, ...(expiresAt !== undefined && { expiresAt }) } satisfies Row, bytes);
}

/** News that reach every context of the origin. */
interface SharedNews extends Omit<News, 'emitAll'> {
  close(): void;
}

/** Creates news over a broadcast channel of this name; without one, they stay in this context. */
function createSharedNews(name: string): SharedNews {
  const here = createNews();
  const channel = typeof BroadcastChannel === 'function' ? new BroadcastChannel(name) : undefined;
  let open = true;
  channel?.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (Array.isArray(data)) here.emit(data.filter((id) => typeof id === 'string'));
  });
  // In Node an open channel keeps the process alive; browsers have no `unref`.
  if (channel && 'unref' in channel && typeof channel.unref === 'function') channel.unref();
  return {
    watch: (ids, options) => here.watch(ids, options),
    emit(ids) {
      here.emit(ids);
      if (open) channel?.postMessage(ids);
    },
    close() {
      open = false;
      channel?.close();
    },
  };
}
