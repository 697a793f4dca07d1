/** The database of an IndexedDB storage: opens it, upgrades its format, and lends its one object store. */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Entry } from '../../src/contracts/storage.ts';
import { invalid } from './changes.ts';
import type { Connection } from './connection.ts';
import { storageBlocked, storageFull, storageNewer } from './unavailable.ts';

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

export interface Row extends Entry {
  /** Indexed, so that expired rows are found without reading any; absent in rows that stay. */
  readonly expiresAt?: number;
}

const storeName = 'entries';
export const expiryIndex = 'expiresAt';
/** How long another tab may hold on to a database that is to be opened in another format. */
const blockedMs = 10_000;
export function toEntry({ key, value, version }: Row): Entry {
  return { key, value, version };
}

/** Opens the database. A connection closed by the browser, or for another tab's sake, is reported as lost. */
export async function openDatabase({ name, factory, format, onLost }: {
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

export type UseStore = <T>(mode: IDBTransactionMode, callback: (store: IDBObjectStore) => Promise<T>) => Promise<T>;

/** A connection that is lost, which not every browser announces, is opened again. What may have been written is not done twice. */
export function useStore(connection: Connection<IDBDatabase>, name: string): UseStore {
  return async (mode, callback) => {
    for (let isAgain = false;; isAgain = true) {
      let hasStarted = false;
      try {
        return await connection.use(async (database) => {
          try {
            const store = database.transaction(storeName, mode).objectStore(storeName);
            hasStarted = true;
            return await callback(store);
          } catch (error) {
            if (isLost(error)) connection.forget(database);
            throw error;
          }
        });
      } catch (error) {
        if (isAgain || !isLost(error) || (hasStarted && mode === 'readwrite')) throw explain(error, name);
      }
    }
  };
}

/** Closed without an event, or by Safari ("Connection to Indexed Database server lost"). */
function isLost(error: unknown): boolean {
  return ['InvalidStateError', 'UnknownError'].some((name) => name === nameOf(error));
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
