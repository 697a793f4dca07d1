/** The shared tick of an instance: the logs that wait for it commit in the same turn, so that a storage can write them together. */

/** A tick. */
export interface CommitTick {
  /** The time between two ticks in milliseconds; 0: each turn is one. */
  readonly spacingMs: number;
  /** Calls back at the next tick. Returns the function that no longer waits. */
  wait(run: () => unknown): () => void;
}

/** Creates a tick. It has one timer, and only while something waits. */
export function createCommitTick(spacingMs: number, now: () => number): CommitTick {
  let waiting = new Set<() => unknown>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tick = (): void => {
    const due = waiting;
    waiting = new Set();
    for (const run of due) run();
  };
  const cancel = (run: () => unknown): void => {
    if (waiting.delete(run) && waiting.size === 0) clearTimeout(timer);
  };
  return {
    spacingMs,
    wait(run) {
      if (waiting.size === 0) {
        if (spacingMs === 0) queueMicrotask(tick);
        else timer = setTimeout(tick, spacingMs - (now() % spacingMs));
      }
      waiting.add(run);
      return () => cancel(run);
    },
  };
}
