/** Counts the commits to a storage and the keys that they write. */

import type { Metrics } from '../base/metrics.ts';
import type { Storage } from '../contracts/storage.ts';

/**
 * Returns the same storage, whose commits are counted: by the first part of their first key, and their keys each by its own. That part
 * is a fixed text such as `run` or `plan`. Keys that are only checked do not count; repeated and rejected commits do.
 */
export function countedStorage<Given extends Storage>(storage: Given, metrics: Pick<Metrics, 'count'>): Given {
  return {
    ...storage,
    commit(changes) {
      changes.forEach(({ key: [of], keep }, at) => {
        const labels = { of: String(of) };
        if (at === 0) metrics.count('pinnace_storage_commits_total', labels);
        if (!keep) metrics.count('pinnace_storage_keys_total', labels);
      });
      return storage.commit(changes);
    },
  };
}
