/** State in the browser's IndexedDB, for pages and workers. The only file that knows idb-keyval. */

import { promisifyRequest, type UseStore } from 'idb-keyval';
import { PinnaceError } from '../../src/errors.ts';
import { encodeKey, type Key } from '../../src/key.ts';
import type { ClosableStorage, CommitResult, Entry } from '../../src/ports.ts';
import {
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
import { storageBlocked, storageFull } from './unavailable.ts';

/** Options of {@link indexedDbStorage}. */
export interface IndexedDbStorageOptions {
  /** The database. Two names never see each other. */
  readonly name: string;
  readonly now?: () => number;
  /** Instead of the global one. */
  readonly indexedDB?: IDBFactory;
}

/** What stands in the object store, under the encoded key. */
interface Row extends Entry {
  /** Indexed, so that expired rows are found without reading any; absent in rows that stay. */
  readonly expiresAt?: number;
}

const storeName = 'entries';
const expiryIndex = 'expiresAt';
/** How many expired rows a commit removes, at most. */
const purgeLimit = 100;

/**
 * Keeps state in IndexedDB. It opens when first used, and again when the browser closed it. Checks and writes of a commit share
 * one transaction, so tabs and workers cannot overtake each other.
 *
 * @example
 * const storage = indexedDbStorage({ name: 'pinnace' });
 */
export function indexedDbStorage({ name, now = Date.now, indexedDB }: IndexedDbStorageOptions): ClosableStorage {
  const connection: Connection<IDBDatabase> = createConnection({
    open: () => openDatabase({ name, factory: indexedDB, onLost: (database) => connection.forget(database) }),
    shut: (database) => database.close(),
  });
  const use = useStore(connection, name);
  return {
    async get(key) {
      const bytes = encodeKey(key);
      const row = await use('readonly', (store) => promisifyRequest(rowRequest(store, bytes)));
      return row === undefined || isExpired(row, now()) ? undefined : toEntry(row);
    },
    async list(options) {
      const bounds = listBounds(options);
      return await use('readonly', (store) => rowsWithin(store, bounds, { limit: options.limit, time: now() }));
    },
    async commit(changes) {
      const prepared = prepareChanges(changes, now());
      return await use('readwrite', (store) => write(store, prepared, now()));
    },
    close: connection.close,
  };
}

/** Opens the database. A connection closed by the browser, or for another tab's sake, is reported as lost. */
async function openDatabase(
  { name, factory, onLost }: {
    name: string;
    factory: IDBFactory | undefined;
    onLost: (database: IDBDatabase) => void;
  },
): Promise<IDBDatabase> {
  // Some browsers throw on reading the global itself where site data is refused.
  const database = await requestDatabase(factory ?? globalThis.indexedDB, name);
  database.onclose = () => onLost(database);
  database.onversionchange = () => {
    database.close();
    onLost(database);
  };
  return database;
}

function requestDatabase(factory: IDBFactory | undefined, name: string): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    if (factory === undefined || factory === null) throw new Error('This runtime has no IndexedDB');
    const request = factory.open(name, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(storeName).createIndex(expiryIndex, expiryIndex);
    };
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error('The request failed'));
    request.onblocked = () => {
      request.onsuccess = () => request.result.close(); // too late: nobody waits any more
      reject(new Error('Another tab holds the database'));
    };
  });
}

/** idb-keyval's way to lend an object store, over a connection that may be lost. */
function useStore(connection: Connection<IDBDatabase>, name: string): UseStore {
  return async (mode, callback) => {
    try {
      return await connection.use(async (database) => {
        const transaction = begin(database, mode);
        if (transaction !== undefined) return await callback(transaction.objectStore(storeName));
        connection.forget(database);
        return await connection.use(async (again) =>
          await callback(again.transaction(storeName, mode).objectStore(storeName))
        );
      });
    } catch (error) {
      throw explain(error, name);
    }
  };
}

/** A transaction, or nothing where the connection is closed without anybody having been told. */
function begin(database: IDBDatabase, mode: IDBTransactionMode): IDBTransaction | undefined {
  try {
    return database.transaction(storeName, mode);
  } catch (error) {
    if (nameOf(error) === 'InvalidStateError') return undefined;
    throw error;
  }
}

/** What the browser says, in the words of the port. */
function explain(error: unknown, name: string): PinnaceError {
  if (error instanceof PinnaceError) return error;
  if (nameOf(error) === 'DataCloneError') {
    return invalid('invalid_value', 'Cannot store the value: it holds something that IndexedDB does not keep');
  }
  if (nameOf(error) === 'QuotaExceededError') {
    return storageFull(`Cannot write to IndexedDB "${name}": the browser's quota is used up; delete some data`, error);
  }
  return storageBlocked(
    `Cannot use IndexedDB "${name}": the browser refuses it; allow this site to keep data, or use memoryStorage()`,
    { cause: error },
  );
}

function nameOf(error: unknown): string | undefined {
  return error instanceof Error || error instanceof DOMException ? error.name : undefined;
}

function toEntry({ key, value, version }: Row): Entry {
  return { key, value, version };
}

function rowRequest(store: IDBObjectStore, bytes: Uint8Array<ArrayBuffer>): IDBRequest<Row | undefined> {
  return store.get(bytes); // safe: only `write` writes here
}

/** Reads on until there are enough living rows, or no more. */
async function rowsWithin(
  store: IDBObjectStore,
  { lower, upper }: ListBounds,
  { limit, time }: { limit: number; time: number },
): Promise<Entry[]> {
  const found: Row[] = [];
  for (let from = lower; indexedDB.cmp(from, upper) < 0;) {
    const request: IDBRequest<Row[]> = store.getAll(IDBKeyRange.bound(from, upper, false, true), limit);
    const page = await promisifyRequest(request);
    found.push(...page.filter((row) => !isExpired(row, time)));
    const last = page.at(-1);
    if (last === undefined || page.length < limit || found.length >= limit) break;
    from = nextBytes(encodeKey(last.key));
  }
  return found.slice(0, limit).map(toEntry);
}
