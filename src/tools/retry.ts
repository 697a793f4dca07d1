/** Tries work again that failed for now. */

import { PinnaceError } from '../errors.ts';

/** How often, and with what clock. */
export interface RetryOptions {
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** Waits; rejects with the signal. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const baseMs = 100;
const capMs = 2000;

/** Gives the first success, or the last failure. Full jitter; what the server asked for wins, up to 2 s. */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { retries, signal, random = Math.random, wait = delay } = options;
  for (let attempt = 0;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= retries || !(error instanceof PinnaceError) || !error.retryable || signal.aborted) throw error;
      const jitter = random() * Math.min(capMs, baseMs * 2 ** attempt);
      await wait(Math.min(capMs, error.retryAfterMs ?? jitter), signal);
    }
  }
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(new PinnaceError('cancelled', 'The call was stopped with its run'));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
