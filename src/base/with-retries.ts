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

const longestPauseMs = 86_400_000;

/**
 * Reads `Retry-After`: seconds, or a date in a form of RFC 9110 (5.6.7), counted from the `date` of the answer where it has one. At most
 * a day; `undefined` for any other text.
 */
export function readRetryAfter(
  text: string | null | undefined,
  { date, now }: { readonly date?: string | null | undefined; readonly now: number },
): number | undefined {
  const after = text?.trim() ?? '';
  const at = dateIn(after);
  const pauseMs = /^\d{1,10}(?:\.\d+)?$/.test(after)
    ? Number(after) * 1000
    : at && Math.max(0, at - (dateIn(date ?? '') ?? now));
  return pauseMs === undefined ? undefined : Math.min(Math.round(pauseMs), longestPauseMs);
}

/** `Date` takes many texts for dates: these have a day and a time. A date of asctime has no zone, and is in GMT. */
function dateIn(text: string): number | undefined {
  if (!/^(?:[a-z]{3,9},? |\d{4}-\d\d-\d\dT).*\d\d:\d\d/i.test(text)) return undefined;
  const at = Date.parse(/ \d{4}$/.test(text) ? `${text} GMT` : text);
  return Number.isNaN(at) ? undefined : at;
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
