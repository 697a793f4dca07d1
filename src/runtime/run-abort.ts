/** What can stop a run from outside: its caller, the runtime that closes, its deadline. */

import { setBoundedTimeout } from '../base/until-aborted.ts';
import { PinnaceError } from '../base/errors.ts';

/** The one signal of a run. Composed by hand: `AbortSignal.any` costs more than all else that a run sets up. */
export interface RunAbort {
  readonly signal: AbortSignal;
  /** Aborts with the other signal while the run is starting, for callers that wait for the start. */
  readonly starting: AbortSignal;
  abort(reason: unknown): void;
  /** Starts the clock, or restarts it. */
  startClock(totalMs: number): void;
  /** Starts the clock and calls the listener once when the signal aborts, at once if it has. */
  whenAborted(totalMs: number, listener: () => void): void;
  /** Lets go of everything; then aborts, so that nothing of the run goes on after its end. */
  release(): void;
}

/** Creates the signal of a run that stops with any of the others. */
export function createRunAbort(others: readonly (AbortSignal | undefined)[]): RunAbort {
  const own = new AbortController();
  const starting = new AbortController();
  const stopStarting = (): void => starting.abort(own.signal.reason);
  own.signal.addEventListener('abort', stopStarting, { once: true });
  const undo: (() => void)[] = [];
  let deadline: ReturnType<typeof setTimeout> | undefined;
  const startClock = (totalMs: number): void => {
    clearTimeout(deadline);
    deadline = setBoundedTimeout(() => {
      own.abort(new PinnaceError('deadline_exceeded', `The run took longer than ${totalMs} ms`));
    }, totalMs);
  };
  for (const other of others) {
    const onAbort = (): void => own.abort(other?.reason);
    if (other?.aborted) onAbort();
    other?.addEventListener('abort', onAbort, { once: true });
    undo.push(() => other?.removeEventListener('abort', onAbort));
  }
  return {
    signal: own.signal,
    starting: starting.signal,
    abort: (reason) => own.abort(reason),
    startClock,
    whenAborted(totalMs, listener) {
      own.signal.removeEventListener('abort', stopStarting);
      startClock(totalMs);
      undo.push(() => own.signal.removeEventListener('abort', listener));
      if (own.signal.aborted) listener();
      else own.signal.addEventListener('abort', listener, { once: true });
    },
    release() {
      clearTimeout(deadline);
      own.signal.removeEventListener('abort', stopStarting);
      for (const step of undo.splice(0)) step();
      own.abort('run_ended');
    },
  };
}
