/** State in the browser's IndexedDB, for pages and workers. The only file that knows idb-keyval. */

import { promisifyRequest, type UseStore } from 'idb-keyval';
import { PinnaceError } from '../../src/base/errors.ts';
import { encodeKey } from '../../src/base/key.ts';
import type { ClosableStorage, CommitResult, Entry, Watchable } from '../../src/contracts/storage.ts';
import {
  byteString,
  findConflicts,
  invalid,
  isExpired,
  type ListBounds,
  listBounds,
  nextBytes,
  prepareChanges,
  type PreparedChange,
} from './changes.ts';
import { type Connection, createConnection } from './connection.ts';
import { createSharedNews } from './shared-news.ts';
import { storageBlocked, storageFull, storageNewer } from './unavailable.ts';

/** Options of {@link indexedDbStorage}. */
export interface IndexedDbStorageOptions {
  /** The database. Two names never see each other. */
  readonly name: string;
  readonly now?: () => number;
  /** Instead of the global one. */
  readonly indexedDB?: IDBFactory;
  /** The format of the stored values; the first when absent. */
  readonly format?: StorageFormat;
}

/**
 * The format of the values in a database, which may change from one version of a page to the next. A database of an earlier format is
 * brought to this one in one transaction when it is opened; one of a later format is not opened, and nothing in it is touched.
 */
export interface StorageFormat {
  /** Counted from 1, which is what databases have that were made without a format. */
  readonly version: number;
  /** Converts a value into this format. When it throws, the entry is not changed. */
  readonly upgrade: (entry: Pick<Entry, 'key' | 'value'>, from: number) => unknown;
}

/** A row of the object store, under the encoded key. */
interface Row extends Entry {
  /** Indexed, so that expired rows are found without reading any; absent in rows that stay. */
  readonly expiresAt?: number;
}

const storeName = 'entries';
const expiryIndex = 'expiresAt';
/** How long another tab may hold on to a database that is to be opened in another format. */
const blockedMs = 10_000;
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
  { name, now = Date.now, indexedDB, format }: IndexedDbStorageOptions,
): ClosableStorage & Watchable {
  const connection: Connection<IDBDatabase> = createConnection({
    open: () => openDatabase({ name, factory: indexedDB, format, onLost: (database) => connection.forget(database) }),
    shut: (database) => database.close(),
  });
  const use = useStore(connection, name);
  const news = createSharedNews(`pinnace:${name}`);
  return {
    checks: true,
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
    watch: (keys, watching) => news.watch(keys.map((key) => byteString(encodeKey(key))), watching),
    async close() {
      news.close();
      await connection.close();
    },
  };
}

/** Opens the database. A connection closed by the browser, or for another tab's sake, is reported as lost. */
async function openDatabase({ name, factory, format, onLost }: {
  readonly name: string;
  readonly factory: IDBFactory | undefined;
  readonly format: StorageFormat | undefined;
  readonly onLost: (database: IDBDatabase) => void;
}): Promise<IDBDatabase> {
  try {
    const database = await requestDatabase(factory ?? globalThis.indexedDB, name, format); // reading the global may throw, too
    database.addEventListener('close', () => onLost(database));
    database.addEventListener('versionchange', () => {
      database.close();
      onLost(database);
    });
    return database;
  } catch (error) {
    if (nameOf(error) === 'QuotaExceededError') throw full(error, name);
    if (nameOf(error) === 'VersionError') {
      throw storageNewer(
        `Cannot open IndexedDB "${name}": a newer version of this page has written it; reload to get that`,
        error,
      );
    }
    const advice = 'allow this site to keep data, or use memoryStorage()';
    throw storageBlocked(`Cannot open IndexedDB "${name}": the browser has or gives none; ${advice}`, { cause: error });
  }
}

function requestDatabase(
  factory: IDBFactory | undefined,
  name: string,
  format: StorageFormat | undefined,
): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (!factory) throw new Error('There is no indexedDB here');
    const request = factory.open(name, format?.version ?? 1);
    request.addEventListener('upgradeneeded', ({ oldVersion }) => {
      const { result: database, transaction } = request;
      if (oldVersion === 0) database.createObjectStore(storeName).createIndex(expiryIndex, expiryIndex);
      else if (format && transaction) upgradeRows(transaction.objectStore(storeName), format, oldVersion);
    });
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isLate = false;
    request.addEventListener('success', () => {
      clearTimeout(timer);
      return isLate ? request.result.close() : resolve(request.result);
    });
    request.addEventListener('error', () => {
      clearTimeout(timer);
      reject(request.error ?? new Error('The request failed'));
    });
    // Another tab lets go of the database as soon as it has finished what it is at.
    request.addEventListener('blocked', () => {
      timer = setTimeout(() => {
        isLate = true;
        reject(new Error('Another tab holds the database open'));
      }, blockedMs);
    });
  });
}

/** One transaction: when it fails, as on a full disk, nothing is changed. */
function upgradeRows(store: IDBObjectStore, { upgrade }: StorageFormat, from: number): void {
  const request = store.openCursor();
  request.addEventListener('success', () => {
    const { result: cursor } = request;
    if (!cursor) return;
    const row = cursor.value as Row; // safe: only `write` writes here
    try {
      const value = upgrade(toEntry(row), from);
      if (value !== row.value) cursor.update({ ...row, value } satisfies Row);
    } catch {
      // it stays: reading it reports the error
    }
    cursor.continue();
  });
}

/** Lends an object store as idb-keyval does, over a connection that may have been lost. */
function useStore(connection: Connection<IDBDatabase>, name: string): UseStore {
  return async (mode, callback) => {
    try {
      return await connection.use(async (database) => {
        const store = storeIfOpen(database, mode);
        if (store !== undefined) return await callback(store);
        connection.forget(database);
        return await connection.use(async (reopened) => await callback(storeOf(reopened, mode)));
      });
    } catch (error) {
      throw explain(error, name);
    }
  };
}

function storeOf(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore {
  return database.transaction(storeName, mode).objectStore(storeName);
}

/** Returns nothing when the connection was closed without an event. */
function storeIfOpen(database: IDBDatabase, mode: IDBTransactionMode): IDBObjectStore | undefined {
  try {
    return storeOf(database, mode);
  } catch (error) {
    if (nameOf(error) === 'InvalidStateError') return undefined;
    throw error;
  }
}

function explain(error: unknown, name: string): PinnaceError {
  if (error instanceof PinnaceError) return error;
  if (nameOf(error) === 'QuotaExceededError') return full(error, name);
  if (nameOf(error) === 'DataCloneError') {
    return invalid('invalid_value', 'Cannot store the value: it holds something that IndexedDB does not keep');
  }
  return storageBlocked(`Cannot finish a transaction of IndexedDB "${name}": it was aborted; try again`, {
    cause: error,
  });
}

function full(cause: unknown, name: string): PinnaceError {
  return storageFull(`Cannot write to IndexedDB "${name}": the browser gives no more room; delete some data`, cause);
}

function nameOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'name' in error ? error.name : undefined;
}

function toEntry({ key, value, version }: Row): Entry {
  return { key, value, version };
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
    changes.map(async ({ bytes, ifVersion }) => ifVersion === undefined ? undefined : await readRow(store, bytes)),
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
  const { key, bytes, value, expiresAt, keep } = change;
  if (keep) return;
  if (value === undefined) store.delete(bytes);
  else store.put({ key, value, version, ...(expiresAt !== undefined && { expiresAt }) } satisfies Row, bytes);
}
