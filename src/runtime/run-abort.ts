/** What can stop a run from outside: its caller, the runtime that closes, its deadline. */

import { PinnaceError } from '../errors.ts';

/** The one signal of a run. Composed by hand: `AbortSignal.any` costs more than all else that a run sets up. */
export interface RunAbort {
  readonly signal: AbortSignal;
  abort(reason: unknown): void;
  /** Starts the clock and calls the listener once when the signal aborts, at once if it has. */
  whenAborted(totalMs: number, listener: () => void): void;
  /** Lets go of everything; then aborts, so that nothing of the run goes on after its end. */
  release(): void;
}

/** The longest time that `setTimeout` can wait; with more it would not wait at all. */
const longestTimeoutMs = 2_147_483_647;

/** Gives the signal of a run that stops with any of the others. */
export function createRunAbort(others: readonly (AbortSignal | undefined)[]): RunAbort {
  const own = new AbortController();
  const undo: (() => void)[] = [];
  for (const other of others) {
    const onAbort = (): void => own.abort(other?.reason);
    if (other?.aborted) onAbort();
    other?.addEventListener('abort', onAbort, { once: true });
    undo.push(() => other?.removeEventListener('abort', onAbort));
  }
  return {
    signal: own.signal,
    abort: (reason) => own.abort(reason),
    whenAborted(totalMs, listener) {
      const deadline = setTimeout(() => {
        own.abort(new PinnaceError('deadline_exceeded', `The run took longer than ${totalMs} ms`));
      }, Math.min(totalMs, longestTimeoutMs));
      undo.push(() => clearTimeout(deadline), () => own.signal.removeEventListener('abort', listener));
      if (own.signal.aborted) listener();
      else own.signal.addEventListener('abort', listener, { once: true });
    },
    release() {
      for (const step of undo.splice(0)) step();
      own.abort('run_ended');
    },
  };
}
