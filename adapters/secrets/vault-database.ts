/** The IndexedDB database of a vault. It is opened for each transaction: vaults are used seldom, and nothing is held open. */

import { PinnaceError } from '../../src/base/errors.ts';

/** The object stores, within one transaction. Nothing but their requests may be awaited in it. */
export interface VaultStores {
  readonly keys: IDBObjectStore;
  readonly secrets: IDBObjectStore;
}

/** Runs one transaction, which is undone when the work rejects. */
export type VaultDatabase = <T>(mode: IDBTransactionMode, work: (stores: VaultStores) => Promise<T>) => Promise<T>;

const storeNames = ['keys', 'secrets'];

/**
 * Returns the database of this name.
 * Its calls reject with `unavailable` and the reason `vault_full` or `vault_unavailable`, or as the work does where that throws a
 * `PinnaceError`.
 */
export function vaultDatabase(name: string, indexedDB: IDBFactory | undefined): VaultDatabase {
  return async (mode, work) => {
    try {
      const database = await open(name, indexedDB);
      try {
        return await transact(database.transaction(storeNames, mode), work);
      } finally {
        database.close();
      }
    } catch (error) {
      throw explain(error, name);
    }
  };
}

export function settled<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result));
    request.addEventListener('error', () => reject(request.error ?? new Error('The request failed')));
  });
}

async function open(name: string, factory: IDBFactory | undefined): Promise<IDBDatabase> {
  const request = (factory ?? globalThis.indexedDB).open(`pinnace-vault:${name}`, 1); // reading the global may throw, too
  request.addEventListener('upgradeneeded', () => {
    for (const store of storeNames) request.result.createObjectStore(store);
  });
  return await settled(request);
}

async function transact<T>(transaction: IDBTransaction, work: (stores: VaultStores) => Promise<T>): Promise<T> {
  const ending = ended(transaction);
  ending.catch(() => undefined); // reported below, unless the work fails first
  const stores = { keys: transaction.objectStore('keys'), secrets: transaction.objectStore('secrets') };
  try {
    const result = await work(stores);
    await ending;
    return result;
  } catch (error) {
    abort(transaction);
    throw error;
  }
}

function ended(transaction: IDBTransaction): Promise<void> {
  return new Promise((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve());
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('The transaction was aborted')));
  });
}

/** Throws where the transaction has already ended. */
function abort(transaction: IDBTransaction): void {
  try {
    transaction.abort();
  } catch {
    // then there is nothing to undo
  }
}

function explain(error: unknown, name: string): PinnaceError {
  if (error instanceof PinnaceError) return error;
  const isFull = error instanceof DOMException && error.name === 'QuotaExceededError';
  const why = isFull
    ? 'the browser gives no more room; delete some data'
    : 'the browser has or gives no IndexedDB; allow this site to keep data';
  return new PinnaceError('unavailable', `Cannot use vault "${name}": ${why}`, {
    retryable: false,
    details: { reason: isFull ? 'vault_full' : 'vault_unavailable' },
    cause: error,
  });
}
