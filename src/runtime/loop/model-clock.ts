/**
 * The times that a model has: for a step, from the request to its first chunk, between two chunks. The SDK could watch them, but it sets a timer for every
 * chunk and joins five signals, which costs a twentieth of a run.
 */

import { setBoundedTimeout } from '../../base/timer.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Limits } from '../resolve/limits.ts';

/** What the clock is told, and what it does. */
export interface ModelClock {
  /** Aborts with the run, and with `deadline_exceeded` when the model takes too long; `details.reason` names the limit. */
  readonly signal: AbortSignal;
  /** A step begins. */
  readonly beginStep: () => void;
  /** A request is sent: the first chunk of its answer is due, with its headers. Each retry has the time anew. */
  readonly requested: () => void;
  /** The model has said something: its next chunk is due. */
  readonly heard: () => void;
  /** The request has failed, or the model has said all that it says in this step. */
  readonly saidAll: () => void;
  /** Nothing is due any more. */
  readonly stop: () => void;
}

/** Gives the clock of one run, whose signal stops it. */
export function createModelClock(
  { stepMs, firstChunkMs, chunkMs }: Pick<Limits, 'stepMs' | 'firstChunkMs' | 'chunkMs'>,
  run: AbortSignal,
): ModelClock {
  const own = new AbortController();
  let [stepDue, chunkDue, goesOffAt] = [Infinity, Infinity, Infinity];
  /** What is due of the answer; `undefined` while the model is not asked. */
  let awaited: 'firstChunkMs' | 'chunkMs' | undefined;
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
    timer = setBoundedTimeout(look, Math.ceil(due - performance.now()));
  };
  const look = (): void => {
    const now = performance.now();
    if (awaited && now >= chunkDue) return stop(tooLate[awaited](awaited === 'chunkMs' ? chunkMs : firstChunkMs));
    if (now >= stepDue) return stop(tooLate.stepMs(stepMs));
    goesOffAt = Infinity;
    watch();
  };
  const expectChunk = (withinMs: number): void => {
    chunkDue = performance.now() + withinMs;
    watch();
  };
  const follow = (): void => stop(run.reason);
  if (run.aborted) follow();
  else run.addEventListener('abort', follow, { once: true });
  return {
    signal: own.signal,
    beginStep() {
      stepDue = performance.now() + stepMs;
      watch();
    },
    requested() {
      awaited = 'firstChunkMs';
      expectChunk(firstChunkMs);
    },
    heard() {
      if (!awaited) return;
      awaited = 'chunkMs';
      expectChunk(chunkMs);
    },
    saidAll() {
      awaited = undefined;
      chunkDue = Infinity;
    },
    stop() {
      run.removeEventListener('abort', follow);
      clearTimeout(timer);
      goesOffAt = -Infinity;
    },
  };
}

const tooLate = {
  firstChunkMs: (ms: number) => late(`The model did not start its answer within ${ms} ms`, 'first_chunk_timeout'),
  chunkMs: (ms: number) => late(`The model stopped in the middle of its answer for ${ms} ms`, 'chunk_timeout'),
  stepMs: (ms: number) => late(`The step did not end within ${ms} ms: the model call and its tools`, 'step_timeout'),
};

function late(message: string, reason: string): PinnaceError {
  return new PinnaceError('deadline_exceeded', message, { details: { reason } });
}
