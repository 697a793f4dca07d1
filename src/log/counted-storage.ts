/** Counts the commits to a storage and the keys that they write. */

import type { Metrics } from '../base/metrics.ts';
import type { Key } from '../base/key.ts';
import type { Storage } from '../contracts/storage.ts';

/**
 * Returns the same storage, whose commits are counted: by the first part of their first key, and their keys each by its own. That part
 * is a fixed text such as `run` or `plan`. Keys that are only checked do not count; repeated and rejected commits do.
 */
export function countedStorage<Given extends Storage>(storage: Given, metrics: Pick<Metrics, 'count'>): Given {
  return {
    ...storage,
    commit(changes) {
      if (changes[0]) metrics.count('pinnace_storage_commits_total', { of: kindOf(changes[0].key) });
      for (const { key, keep } of changes) {
        if (!keep) metrics.count('pinnace_storage_keys_total', { of: kindOf(key) });
      }
      return storage.commit(changes);
    },
  };
}

function kindOf([first]: Key): string {
  return String(first);
}
