/**
 * The times that a model has: for a step, to its first chunk, between two. The SDK could watch them, but it sets a timer for every
 * chunk and joins five signals, which costs a twentieth of a run.
 */

import type { Limits } from './limits.ts';

/** What the clock is told, and what it does. */
export interface ModelClock {
  /** Aborts with the run, and with a `TimeoutError` when the model takes too long. */
  readonly signal: AbortSignal;
  /** A step begins. */
  readonly beginStep: () => void;
  /** The model has begun to answer: its first chunk is due. */
  readonly answered: () => void;
  /** The model has said something: its next chunk is due. */
  readonly heard: () => void;
  /** The model has said all that it says in this step. */
  readonly saidAll: () => void;
}

/** The longest time that `setTimeout` can wait; with more it would not wait at all. */
const longestTimeoutMs = 2_147_483_647;

/** Gives the clock of one run, whose signal stops it. */
export function createModelClock(
  { stepMs, firstChunkMs, chunkMs }: Pick<Limits, 'stepMs' | 'firstChunkMs' | 'chunkMs'>,
  run: AbortSignal,
): ModelClock {
  const own = new AbortController();
  let [stepDue, chunkDue, goesOffAt] = [Infinity, Infinity, Infinity];
  let isAnswering = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = (reason: unknown): void => {
    clearTimeout(timer);
    goesOffAt = -Infinity; // no timer is set any more
    own.abort(reason);
  };
  /** A timer that goes off before anything is due only looks again: so a chunk costs none. */
  const watch = (): void => {
    const due = Math.min(stepDue, chunkDue);
    if (due >= goesOffAt) return;
    clearTimeout(timer);
    goesOffAt = due;
    timer = setTimeout(look, Math.min(Math.ceil(due - performance.now()), longestTimeoutMs));
  };
  const look = (): void => {
    if (performance.now() >= Math.min(stepDue, chunkDue)) return stop(new DOMException('', 'TimeoutError'));
    goesOffAt = Infinity;
    watch();
  };
  const expectChunk = (withinMs: number): void => {
    chunkDue = performance.now() + withinMs;
    watch();
  };
  if (run.aborted) stop(run.reason);
  else run.addEventListener('abort', () => stop(run.reason), { once: true });
  return {
    signal: own.signal,
    beginStep() {
      stepDue = performance.now() + stepMs;
      watch();
    },
    answered() {
      isAnswering = true;
      expectChunk(firstChunkMs);
    },
    heard() {
      if (isAnswering) expectChunk(chunkMs);
    },
    saidAll() {
      isAnswering = false;
      chunkDue = Infinity;
    },
  };
}
