/** Lets calls about the same keys run one after the other, so that within one process they do not get into each other's way. */

/** Runs a call when all earlier calls about any of its keys have ended. */
export type KeyQueue = <Result>(keys: readonly string[], call: () => Promise<Result>) => Promise<Result>;

/** Creates a queue. No call waits for a later one, so there is no deadlock. */
export function createKeyQueue(): KeyQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (keys, call) => {
    const earlier = keys.flatMap((key) => last.get(key) ?? []);
    const result = Promise.allSettled(earlier).then(call);
    for (const key of keys) last.set(key, result);
    try {
      return await result;
    } finally {
      for (const key of keys) if (last.get(key) === result) last.delete(key);
    }
  };
}
