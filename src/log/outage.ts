/** Retries while a storage is out of reach: a short outage delays work and does not end it. */

import { PinnaceError } from '../base/errors.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';

/** How long calls are repeated while a storage is out of reach. */
export const defaultGraceMs = 10_000;
const firstWaitMs = 50;
const longestWaitMs = 500;

/** Returns whether the same call may succeed a moment later. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof PinnaceError)) return true; // a network error that the adapter did not translate
  return error.code === 'unavailable' && error.retryable;
}

/**
 * Retries idempotent work while it fails as in an outage: once immediately, then with growing, random pauses until `graceMs` have
 * passed since the first failure. Sets no timer unless the work fails. Rejects with the last error; an attempt in progress when the
 * grace ends is abandoned.
 */
export async function outlast<T>(work: () => Promise<T>, graceMs: number): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!mayPass(error)) throw error;
    return graceMs > 0 ? await repeat(work, { graceMs, last: error }) : await work();
  }
}

async function repeat<T>(
  work: () => Promise<T>,
  { graceMs, last }: { readonly graceMs: number; last: unknown },
): Promise<T> {
  const { promise: over, resolve: end } = Promise.withResolvers<'over'>();
  const deadline = setTimeout(() => end('over'), graceMs);
  try {
    for (let waitMs = firstWaitMs;; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      const attempt = work().then((value) => ({ value }), (error: unknown) => ({ error }));
      const outcome = await Promise.race([attempt, over]);
      if (outcome === 'over') throw last;
      if ('value' in outcome) return outcome.value;
      if (!mayPass(outcome.error)) throw outcome.error;
      last = outcome.error;
      if (await pause(waitMs, over) === 'over') throw last;
    }
  } finally {
    clearTimeout(deadline);
  }
}

/** Waits a random time from half of `waitMs` to all of it, so that instances do not retry at the same time. */
async function pause(waitMs: number, over: Promise<'over'>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, waitMs * (1 + Math.random()) / 2);
  return await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/**
 * Returns the same storage, which retries idempotent calls during an outage: reads, lists, and commits without an `ifVersion`. Other
 * commits are passed on as they are.
 */
export function steadyStorage(
  storage: Storage & Partial<Watchable>,
  graceMs: number,
): Storage & Partial<Watchable> {
  return {
    ...(storage.checks && { checks: true }),
    get: (key) => outlast(() => storage.get(key), graceMs),
    list: (options) => outlast(() => storage.list(options), graceMs),
    commit: (changes) =>
      changes.some(({ ifVersion }) => ifVersion !== undefined)
        ? storage.commit(changes)
        : outlast(() => storage.commit(changes), graceMs),
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
  };
}
