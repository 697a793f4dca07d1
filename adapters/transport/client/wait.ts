/** Waiting: for a while, for something unless it takes too long, and how long before the next attempt. */

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

/** What a signal was aborted with, whatever that is. */
function reasonOf(signal: AbortSignal): Error {
  return signal.reason as Error; // safe enough: it is passed on, never looked at
}

/** Returns what the work gives, or `undefined` when that takes longer. The work itself goes on. */
export async function within<T>(work: Promise<T>, ms: number, waitFor: Wait): Promise<T | undefined> {
  const done = new AbortController();
  try {
    return await Promise.race([work, waitFor(ms, done.signal).then(() => undefined)]);
  } finally {
    done.abort();
  }
}

/** How attempts are spread. */
export interface Backoff {
  /** The most attempts in a row that may fail. */
  readonly attempts: number;
  readonly baseMs: number;
  readonly capMs: number;
  /** From 0 to 1. */
  readonly random: () => number;
}

/** The pause after so many failed attempts, with full jitter: of those who failed together, few come back together. */
export function pauseMs(failures: number, { baseMs, capMs, random }: Backoff): number {
  return random() * Math.min(capMs, baseMs * 2 ** failures);
}
