/** Tells of changes of a stored value: by the storage's own means, or by asking now and then. */

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
