/** The deadline of a whole exchange: its time limit or the caller's signal, whichever comes first. */

import { PinnaceError } from '../../src/base/errors.ts';

export interface Deadline {
  /** Aborts with a `PinnaceError`, `deadline_exceeded` or `cancelled`, or with the caller's own reason. */
  readonly signal: AbortSignal;
  /** Resolves with the result, or rejects at the deadline if that is first. */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
  readonly release: () => void;
}

export interface DeadlineOptions {
  readonly signal: AbortSignal;
  /** `Infinity`: no timer is set. */
  readonly timeoutMs: number;
  /** Whether an abort rejects with the signal's own reason, as `fetch` does. */
  readonly keepsReason?: boolean;
}

export function createDeadline({ signal: outer, timeoutMs, keepsReason = false }: DeadlineOptions): Deadline {
  const own = new AbortController();
  const onAbort = (): void =>
    own.abort(keepsReason ? outer.reason : new PinnaceError('cancelled', 'The request was stopped with its run'));
  const timer = timeoutMs === Infinity ? undefined : setTimeout(() => own.abort(timedOut(timeoutMs)), timeoutMs);
  if (outer.aborted) onAbort();
  outer.addEventListener('abort', onAbort, { once: true });
  return {
    signal: own.signal,
    race: (work) => race(own.signal, work),
    release() {
      clearTimeout(timer);
      outer.removeEventListener('abort', onAbort);
    },
  };
}

async function race<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = (): void => reject(signal.reason);
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  try {
    return await Promise.race([promise, work]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

function timedOut(timeoutMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `The request took longer than ${timeoutMs} ms`);
}
