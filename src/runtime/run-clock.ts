/** What limits a run in time, and shows where its time goes: its signal, its clock and its spans. */

import { type ErrorData, PinnaceError } from '../base/errors.ts';
import { setBoundedTimeout } from '../base/until-aborted.ts';
import type { Payload, Span, SpanContext, SpanEnd } from '../events/span.ts';
import type { Limits } from './limits.ts';

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

/** The spans of a loop, and the clock of its models. */
export interface LoopSpans {
  readonly clock: ModelClock;
  /** The step that is under way; before the first, the run. */
  readonly current: SpanContext;
  /** The number of the step that is under way, from 1; before the first, 0. */
  readonly step: number;
  /** Ends the step before, and starts the next. */
  readonly startStep: () => void;
  /** Ends the step before, and starts a compaction, which has its own clock. */
  readonly startCompaction: (payload: Payload) => Span;
  /** The last step has ended. */
  readonly end: (how: { readonly status: SpanEnd['status']; readonly error: ErrorData | null }) => void;
}

/** Creates the spans of a run's loop. None is started. */
export function createLoopSpans(
  { span: run, agent: { id }, limits, abort }: {
    readonly span: Span;
    readonly agent: { readonly id: string };
    readonly limits: Limits;
    readonly abort: Pick<RunAbort, 'signal'>;
  },
): LoopSpans {
  const agent = { type: 'agent', id } as const;
  let step: Span | undefined;
  let count = 0;
  const current = (): SpanContext => step ?? run;
  const clock = createModelClock(limits, abort.signal);
  return {
    clock,
    get current() {
      return current();
    },
    get step() {
      return count;
    },
    startStep() {
      clock.startStep();
      step?.end({ status: 'ok' });
      step = run.start({ action: 'step', actor: agent, target: agent, payload: { step: ++count } });
    },
    startCompaction(payload) {
      clock.endStep();
      step?.end({ status: 'ok' });
      step = undefined;
      return run.start({ action: 'compaction', actor: agent, target: agent, payload });
    },
    end: (how) => step?.end(how),
  };
}

/** The limits of a model's silence. */
export type SilenceLimit = 'firstChunkMs' | 'reasoningMs' | 'chunkMs';

/** The clock of a model. */
export interface ModelClock {
  /** Aborts with the run, and with `deadline_exceeded` when the model takes too long; `details.reason` names the limit. */
  readonly signal: AbortSignal;
  /** Makes another model's request possible after a late first chunk: with a new `signal`. Returns whether it is. */
  readonly restart: () => boolean;
  /** A step starts. */
  readonly startStep: () => void;
  /** The step has ended: nothing is due until the next. */
  readonly endStep: () => void;
  /** A request is sent: the first chunk of its answer is due, with its headers. The time restarts with each retry. */
  readonly requested: () => void;
  /** The model has sent something: its next chunk is due within this limit. */
  readonly received: (within: SilenceLimit) => void;
  /** The request has failed, or the model has said all that it says in this step. */
  readonly saidAll: () => void;
  /** Nothing is due any more. */
  readonly stop: () => void;
}

/** Creates the clock of one run, whose signal stops it. */
export function createModelClock(
  limits: Pick<Limits, 'stepMs' | SilenceLimit>,
  run: AbortSignal,
): ModelClock {
  let own = new AbortController();
  let [stepDue, chunkDue] = [Infinity, Infinity];
  /** What is due of the answer; `undefined` while no request is open. */
  let awaited: SilenceLimit | undefined;
  let alarm = createAlarm(() => look());
  const abort = (reason: unknown): void => {
    alarm.stop();
    own.abort(reason);
  };
  const look = (): void => {
    const now = performance.now();
    if (awaited && now >= chunkDue) return abort(tooLate[awaited](limits[awaited]));
    if (now >= stepDue) return abort(tooLate.stepMs(limits.stepMs));
    alarm.set(Math.min(stepDue, chunkDue));
  };
  const expect = (within: SilenceLimit): void => {
    awaited = within;
    chunkDue = performance.now() + limits[within];
    alarm.set(chunkDue);
  };
  const follow = (): void => abort(run.reason);
  if (run.aborted) follow();
  else run.addEventListener('abort', follow, { once: true });
  return {
    get signal() {
      return own.signal;
    },
    restart() {
      if (run.aborted || awaited !== 'firstChunkMs' || performance.now() >= stepDue) return false;
      own = new AbortController();
      alarm = createAlarm(() => look());
      [awaited, chunkDue] = [undefined, Infinity];
      alarm.set(stepDue);
      return true;
    },
    startStep() {
      stepDue = performance.now() + limits.stepMs;
      alarm.set(stepDue);
    },
    endStep: () => void (stepDue = Infinity),
    requested: () => expect('firstChunkMs'),
    received: (within) => awaited && expect(within),
    saidAll() {
      awaited = undefined;
      chunkDue = Infinity;
    },
    stop() {
      run.removeEventListener('abort', follow);
      alarm.stop();
    },
  };
}

/** Calls back at the earliest time set. A later time sets no timer: the callback sets the next one, so that a chunk costs none. */
function createAlarm(onDue: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let goesOffAt = Infinity;
  return {
    set(due: number): void {
      if (due >= goesOffAt) return;
      clearTimeout(timer);
      goesOffAt = due;
      timer = setBoundedTimeout(() => {
        goesOffAt = Infinity;
        onDue();
      }, Math.ceil(due - performance.now()));
    },
    stop(): void {
      clearTimeout(timer);
      goesOffAt = -Infinity; // no timer is set after this
    },
  };
}

const tooLate = {
  firstChunkMs: (ms: number) => late(`The model did not start its answer within ${ms} ms`, 'first_chunk_timeout'),
  reasoningMs: (ms: number) => late(`The model was silent for ${ms} ms while it reasoned`, 'reasoning_timeout'),
  chunkMs: (ms: number) => late(`The model stopped in the middle of its answer for ${ms} ms`, 'chunk_timeout'),
  stepMs: (ms: number) => late(`The step did not end within ${ms} ms: the model call and its tools`, 'step_timeout'),
};

function late(message: string, reason: string): PinnaceError {
  return new PinnaceError('deadline_exceeded', message, { details: { reason } });
}
