/** Which failures of a model call are tried again, and after which delay. */

import { PinnaceError } from '../../base/errors.ts';
import { isNetworkError } from '../../base/network/network-error.ts';
import { cut, retryAfterIn, toStreamError } from './model-error.ts';

const firstDelayMs = 2_000;
/** Longer pauses are not waited for: the call fails. */
const longestPauseMs = 60_000;

/** How often a model call is tried, and how its delays are made. */
export interface ModelRetryOptions {
  /** Retries after the first try. */
  readonly retries: number;
  readonly signal: AbortSignal;
  /** Between 0 and 1. */
  readonly random?: () => number;
  /** Is called before each delay, with the number of the try that follows it. */
  readonly onRetry?: (error: unknown, retry: { readonly attempt: number; readonly delayMs: number }) => void;
}

/** An error that the model reported in its stream, before any output. */
export class ReportedError extends Error {
  constructor(cause: unknown) {
    super('The model reported an error', { cause });
  }
}

/**
 * Returns the result of the first try that succeeds; rejects with the last failure. `attempt` gets the number of the try, from 1.
 * Retried are what the provider's error calls retryable, a connection that could not be made, and an answer that failed or was cut
 * before any output. The delay is 2 s, then 4 s, up to a quarter shorter; a `retry-after` of the provider below 60 s is followed
 * exactly.
 */
export async function withModelRetries<T>(
  attempt: (number: number) => Promise<T>,
  { retries, signal, random = Math.random, onRetry }: ModelRetryOptions,
): Promise<T> {
  for (let retried = 0;; retried++) {
    try {
      return await attempt(retried + 1);
    } catch (thrown) {
      signal.throwIfAborted();
      const error = thrown instanceof ReportedError ? toStreamError(thrown.cause) : thrown;
      if (retried >= retries || !mayRetry(thrown)) throw error;
      const ownMs = firstDelayMs * 2 ** retried * (1 - random() / 4);
      const delayMs = retryAfterOf(thrown instanceof ReportedError ? thrown.cause : thrown, ownMs) ?? ownMs;
      onRetry?.(error, { attempt: retried + 2, delayMs });
      await pause(delayMs, signal);
    }
  }
}

interface Failure {
  readonly name?: unknown;
  readonly isRetryable?: unknown;
  readonly responseHeaders?: Readonly<Record<string, string>>;
}

function mayRetry(thrown: unknown): boolean {
  if (thrown instanceof ReportedError) return toStreamError(thrown.cause).retryable;
  if (thrown instanceof PinnaceError) return thrown.details?.['reason'] === cut().details?.['reason'];
  const { name, isRetryable } = failureOf(thrown);
  if (name === 'AI_APICallError') return isRetryable === true;
  return isNetworkError(thrown);
}

/** The pause that the provider requests, if runs wait that long. */
function retryAfterOf(error: unknown, delayMs: number): number | undefined {
  const pauseMs = retryAfterIn(failureOf(error).responseHeaders);
  return pauseMs !== undefined && (pauseMs < longestPauseMs || pauseMs < delayMs) ? pauseMs : undefined;
}

function failureOf(error: unknown): Failure {
  return typeof error === 'object' && error !== null ? error : {};
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const stop = (): void => reject(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(resolve, ms);
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  });
}
