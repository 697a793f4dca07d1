/** Keeps long work from holding the event loop: it stops for others every few milliseconds. */

import { PinnaceError } from './errors.ts';

/**
 * Lets everything else that is ready run first. `scheduler.yield` would come back before messages and timers that wait, so that
 * the work could not be stopped; a timer waits longer than necessary.
 */
export function yieldTurn(): Promise<void> {
  const { setImmediate: soon = viaMessage } = globalThis as { setImmediate?: (work: () => void) => unknown };
  return new Promise((resolve) => void soon(resolve));
}

/** Each turn has a channel of its own: Node reads up to 1,000 messages of one channel without a turn of its loop in between. */
function viaMessage(work: () => void): void {
  const { port1, port2 } = new MessageChannel();
  port1.addEventListener('message', () => {
    port1.close();
    work();
  });
  port1.start();
  port2.postMessage(null);
}

export interface Turns {
  /**
   * Waits for the next turn where this one has lasted long enough, else continues at once.
   *
   * @throws PinnaceError `cancelled` when the signal has aborted.
   */
  next(): Promise<void> | undefined;
}

/** When the last turn started, of any caller: the next piece of work may still be in it. */
let latestStart = -Infinity;
/** A turn that started longer ago is over. */
const longAgoMs = 20;

/** Returns turns of about `turnMs` milliseconds, 2 when absent; the first continues the current turn. */
export function createTurns(signal?: AbortSignal, { turnMs = 2 }: { readonly turnMs?: number } = {}): Turns {
  const now = performance.now();
  const ago = now - latestStart;
  let start = ago >= 0 && ago < longAgoMs ? latestStart : now;
  latestStart = start;
  const nextTurn = async (): Promise<void> => {
    await yieldTurn();
    start = latestStart = performance.now();
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
  if (signal?.aborted) throw new PinnaceError('cancelled', 'The work was stopped');
}

/** Work in slices of equal size, counted and not timed: the same work stops at the same places. */
export interface Slices {
  /**
   * Counts so many items of work, and waits for the next turn where the slice is full.
   *
   * @throws PinnaceError `cancelled` when the signal has aborted.
   */
  next(items: number): Promise<void> | undefined;
}

/** Items of a slice: a few milliseconds where each takes about a microsecond. */
const sliceItems = 4096;

/** Returns slices of work. */
export function createSlices(signal: AbortSignal | undefined): Slices {
  let left = sliceItems;
  const nextTurn = async (): Promise<void> => {
    await yieldTurn();
    requireRunning(signal);
  };
  return {
    next(items) {
      requireRunning(signal);
      left -= items;
      if (left > 0) return undefined;
      left = sliceItems;
      return nextTurn();
    },
  };
}
