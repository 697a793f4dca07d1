/** A storage whose calls have a timeout, so that a caller never waits for one that does not answer. */

import { PinnaceError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import { withCalls } from './commits.ts';

/** The longest time of one call: shorter than the time after which other instances take a silent owner for lost. */
const mostMs = 5_000;

/**
 * Returns the same storage, whose calls reject as `unavailable` with the reason `storage_blocked` when they take too long. A commit
 * that was rejected so may still be written, as with any answer that is lost.
 */
export function answeringStorage(storage: Storage & Partial<Watchable>): Storage & Partial<Watchable> {
  return withCalls(storage, {
    get: (key) => inTime(() => storage.get(key)),
    list: (options) => inTime(() => storage.list(options)),
    commit: (changes) => inTime(() => storage.commit(changes)),
  });
}

function inTime<T>(work: () => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    let answered = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const end = <A>(settle: (answer: A) => void) => (answer: A): void => {
      answered = true;
      if (timer !== undefined) clearTimeout(timer);
      settle(answer);
    };
    work().then(end(resolve), end(reject));
    // A storage in memory has answered by then, so it needs no timer.
    queueMicrotask(() => {
      if (!answered) timer = setTimeout(() => reject(timedOut()), mostMs);
    });
  });
}

function timedOut(): PinnaceError {
  return new PinnaceError('unavailable', `Cannot reach the storage: it did not answer within ${mostMs} ms; try again`, {
    details: { reason: 'storage_blocked' },
  });
}

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
