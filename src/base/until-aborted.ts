/** Lets go of work as soon as a signal aborts, also of work that does not look at it. */

import { PinnaceError } from './errors.ts';

/** When to let go, and what then cannot be done: `load agent "helper"`. */
interface UntilAbortedOptions {
  readonly signal: AbortSignal | undefined;
  readonly action: string;
}

/**
 * Does the work, unless the signal aborts first. Work that has not started then never starts.
 *
 * @throws PinnaceError the signal's reason where it is one; `unavailable` with the reason `timeout` where its time was over;
 * else `cancelled`.
 */
export async function untilAborted<T>(
  work: () => Promise<T>,
  { signal, action }: UntilAbortedOptions,
): Promise<T> {
  if (!signal) return await work();
  throwIfAborted(signal, action);
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(abortError(signal, action));
  signal.addEventListener('abort', onAbort, { once: true }); // before the work listens: its own words come too late
  try {
    return await Promise.race([aborted, work()]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Resolves with the work, or rejects with the signal's reason as soon as it aborts: the work may ignore it. */
export async function raceAbort<T>(work: PromiseLike<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([aborted, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Returns unless the signal has aborted. @throws PinnaceError as `untilAborted` does. */
export function throwIfAborted(signal: AbortSignal, action: string): void {
  if (signal.aborted) throw abortError(signal, action);
}

function abortError({ reason }: AbortSignal, action: string): PinnaceError {
  if (reason instanceof PinnaceError) return reason;
  if (reason instanceof DOMException && reason.name === 'TimeoutError') {
    return new PinnaceError('unavailable', `Cannot ${action}: no answer came in time`, {
      details: { reason: 'timeout' },
    });
  }
  return new PinnaceError('cancelled', `Cannot ${action}: the caller has given up`);
}

/** The longest delay of `setTimeout`, in milliseconds: with a longer one it would fire at once. */
export const longestTimeoutMs = 2_147_483_647;

/** Starts a timer that waits at most `longestTimeoutMs`; returns its id for `clearTimeout`. */
export function setBoundedTimeout(callback: () => void, delayMs: number): ReturnType<typeof setTimeout> {
  return setTimeout(callback, Math.min(delayMs, longestTimeoutMs));
}

/** Waits for the work, but no longer than this. Rejects as the work does while it waits. */
export async function waitAtMost(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise: late, resolve } = Promise.withResolvers<void>();
  const timer = setBoundedTimeout(resolve, ms);
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The cancel reason of a reader that will resume: the run continues for its grace (`Limits.detachGraceMs`). */
export const comingBack = 'coming_back';
