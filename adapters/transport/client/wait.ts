/** Waits: for a time, for work up to a time, and before the next attempt. */

/** Resolves after a time; rejects with the signal's reason as soon as it aborts. */
export type Wait = (ms: number, signal: AbortSignal) => Promise<void>;

/** Waits with the platform's timer. */
export function wait(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(reasonOf(signal));
    const onAbort = (): void => {
      clearTimeout(timer);
      reject(reasonOf(signal));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal.addEventListener('abort', onAbort, { once: true });
  });
}

/** The reason of an aborted signal. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason as Error; // passed on, never read
}

/** Returns the result of the work, or `undefined` when it takes longer. The work itself continues. */
export async function within<T>(work: Promise<T>, ms: number, waitFor: Wait): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work, waitFor(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}

/** How retries are spread. */
export interface Backoff {
  /** The most attempts in a row that may fail. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The pause after so many failed attempts, with full jitter, so that clients that failed together do not return together. */
export function pauseMs(failures: number, { baseMs, capMs, random }: Backoff): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}
