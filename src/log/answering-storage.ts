/** A storage that always answers: whoever waits for one that says nothing waits in vain, and holds up whoever waits for them. */

import { PinnaceError } from '../base/errors.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';

/** The longest time of one call. What a storage has not said by then, others think lost soon. */
const mostMs = 5_000;

/**
 * Gives the same storage, whose calls reject as `unavailable` with the reason `storage_blocked` when they take too long. What such a
 * commit was to write may be written all the same: that is known to nobody, as with any answer that is lost.
 */
export function answeringStorage(storage: Storage & Partial<Watchable>): Storage & Partial<Watchable> {
  return {
    get: (key) => inTime(() => storage.get(key)),
    list: (options) => inTime(() => storage.list(options)),
    commit: (changes) => inTime(() => storage.commit(changes)),
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
  };
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
    // A storage in memory has answered by then, for less than a timer costs.
    queueMicrotask(() => {
      if (!answered) timer = setTimeout(() => reject(silent()), mostMs);
    });
  });
}

function silent(): PinnaceError {
  return new PinnaceError('unavailable', `Cannot go on: the storage did not answer within ${mostMs} ms`, {
    details: { reason: 'storage_blocked' },
  });
}
