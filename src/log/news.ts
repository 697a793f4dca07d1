/** Waiting for changes of stored values, by the storage's own means where it has them. */

import type { Key } from '../base/key.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';

const pollMs = 250;

/** Calls back after the value under the key may have changed, until the returned function is called. */
export function watchKey(storage: Storage & Partial<Watchable>, key: Key, onNews: () => void): () => void {
  if (storage.watch) {
    const stop = new AbortController();
    storage.watch([key], { signal: stop.signal, onNews });
    return () => stop.abort();
  }
  const timer = setInterval(onNews, pollMs);
  return () => clearInterval(timer);
}

/** The news of a stored value, for a reader that reads again after each. */
export interface News {
  /** Resolves when something may have changed since it last resolved, and after the end of the news. */
  next(): Promise<void>;
  /** Ends the news. */
  stop(): void;
}

/** Waits for news that `watch` reports, until the signal aborts. */
export function createNews(watch: (onNews: () => void) => () => void, signal?: AbortSignal): News {
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const unwatch = watch(() => wake.resolve());
  const stop = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', stop);
    unwatch();
    wake.resolve();
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  return {
    stop,
    async next() {
      await wake.promise;
      if (!isOver) wake = Promise.withResolvers();
    },
  };
}
