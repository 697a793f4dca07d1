/** Keeps long work from holding the event loop: it stops for others every few milliseconds. */

import { PinnaceError } from '../../src/errors.ts';

/** Work in turns. */
export interface Turns {
  /**
   * Waits for the next turn where this one has lasted long enough, else goes on at once.
   *
   * @throws PinnaceError `cancelled` when the signal has aborted.
   */
  next(): Promise<void> | undefined;
}

/** Gives turns of about `turnMs` milliseconds, 4 when absent. */
export function createTurns(signal?: AbortSignal, { turnMs = 4 }: { readonly turnMs?: number } = {}): Turns {
  let start = performance.now();
  const nextTurn = async (): Promise<void> => {
    await yieldTurn();
    start = performance.now();
    requireRunning(signal);
  };
  return {
    next() {
      requireRunning(signal);
      if (performance.now() - start < turnMs) return undefined;
      return nextTurn();
    },
  };
}

/** Throws `cancelled` when the signal has aborted. */
export function requireRunning(signal: AbortSignal | undefined): void {
  if (signal?.aborted) throw new PinnaceError('cancelled', 'The work on the data source was stopped');
}

/** Lets everything else that is ready run first. */
function yieldTurn(): Promise<void> {
  const { scheduler } = globalThis as { scheduler?: { yield?: () => Promise<void> } };
  return scheduler?.yield?.() ?? new Promise((resolve) => setTimeout(resolve, 0));
}
