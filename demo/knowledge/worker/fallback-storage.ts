/** A storage that falls back to memory where the browser provides none. */

import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { PinnaceError, type Storage } from '../../../src/index.ts';

/** A storage, and whether what it takes outlives the page. */
export interface FallbackStorage extends Storage {
  isStored(): boolean;
}

/** A newer version of the page may have written it. */
const outOfReach: ReadonlySet<unknown> = new Set(['storage_blocked', 'storage_newer']);

/** Goes over to memory, for good, when the storage is out of reach at the first call. One that is full later stays what it is. */
export function fallbackStorage(storage: Storage): FallbackStorage {
  let used: Storage | undefined;
  const choose = async (): Promise<Storage> => {
    try {
      await storage.get(['knowledge']);
      return storage;
    } catch (error) {
      if (error instanceof PinnaceError && outOfReach.has(error.details?.['reason'])) return memoryStorage();
      throw error;
    }
  };
  const current = async (): Promise<Storage> => (used ??= await choose());
  return {
    isStored: () => used === undefined || used === storage,
    get: async (key) => await (await current()).get(key),
    list: async (options) => await (await current()).list(options),
    commit: async (changes) => await (await current()).commit(changes),
  };
}
