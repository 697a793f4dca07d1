/** Tries work again that failed for now. */

import { PinnaceError } from './errors.ts';

/** How often, and with what clock. */
export interface RetryOptions {
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** Is called for each failure that is retried. */
  readonly onRetry?: (error: unknown) => void;
  /** Waits; rejects with the signal. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

const baseMs = 100;
const capMs = 2000;

/**
 * Returns the first success, or the last failure with `details.attempts`, how often the work was tried. Full jitter; what the server
 * asked for wins, up to 2 s. An open circuit is not retried.
 */
export async function withRetries<T>(work: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { retries, signal, random = Math.random, wait = delay, onRetry } = options;
  for (let attempt = 0;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (attempt >= retries || !mayPass(error) || signal.aborted) throw withAttempts(error, attempt + 1);
      onRetry?.(error);
      const jitter = random() * Math.min(capMs, baseMs * 2 ** attempt);
      await wait(Math.min(capMs, error.retryAfterMs ?? jitter), signal);
    }
  }
}

function mayPass(error: unknown): error is PinnaceError {
  return error instanceof PinnaceError && error.retryable && error.details?.['reason'] !== 'dependency_unavailable';
}

/** The error with how often the work was tried. */
export function withAttempts(error: unknown, attempts: number): unknown {
  if (!(error instanceof PinnaceError) || attempts === 1) return error;
  const { code, message, details, ...facts } = error;
  return new PinnaceError(code, message, { ...facts, cause: error.cause, details: { ...details, attempts } });
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
