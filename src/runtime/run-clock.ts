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

/** The spans of a run's loop; none is started. Made for each run: a literal with getters would outlive it until a full collection. */
export class RunSpans {
  readonly clock: ModelClock;
  readonly #run: Span;
  readonly #agent: { readonly type: 'agent'; readonly id: string };
  #open: Span | undefined;
  #count = 0;

  constructor(
    { span, agent: { id }, limits, abort }: {
      readonly span: Span;
      readonly agent: { readonly id: string };
      readonly limits: Limits;
      readonly abort: Pick<RunAbort, 'signal'>;
    },
  ) {
    this.#run = span;
    this.#agent = { type: 'agent', id };
    this.clock = new ModelClock(limits, abort.signal);
  }

  /** The step that is under way; before the first, the run. */
  get current(): SpanContext {
    return this.#open ?? this.#run;
  }

  /** The number of the step that is under way, from 1; before the first, 0. */
  get step(): number {
    return this.#count;
  }

  /** Ends the step before, and starts the next. */
  startStep(): void {
    const agent = this.#agent;
    this.clock.startStep();
    this.#open?.end({ status: 'ok' });
    this.#open = this.#run.start({ action: 'step', actor: agent, target: agent, payload: { step: ++this.#count } });
  }

  /** Ends the step before, and starts a compaction, which has its own clock. */
  startCompaction(payload: Payload): Span {
    const agent = this.#agent;
    this.clock.endStep();
    this.#open?.end({ status: 'ok' });
    this.#open = undefined;
    return this.#run.start({ action: 'compaction', actor: agent, target: agent, payload });
  }

  /** The last step has ended. */
  end(how: { readonly status: SpanEnd['status']; readonly error: ErrorData | null }): void {
    this.#open?.end(how);
  }
}

/** The limits of a model's silence. */
export type SilenceLimit = 'firstChunkMs' | 'reasoningMs' | 'chunkMs';

/** The clock of one run, whose signal stops it. */
export class ModelClock {
  readonly #limits: Pick<Limits, 'stepMs' | SilenceLimit>;
  readonly #run: AbortSignal;
  /** The global is a getter, which each chunk would ask. */
  readonly #performance = performance;
  #own = new AbortController();
  #stepDue = Infinity;
  #chunkDue = Infinity;
  /** What is due of the answer; `undefined` while no request is open. */
  #awaited: SilenceLimit | undefined;
  #alarm = createAlarm(() => this.#look());

  constructor(limits: Pick<Limits, 'stepMs' | SilenceLimit>, run: AbortSignal) {
    this.#limits = limits;
    this.#run = run;
    if (run.aborted) this.#follow();
    else run.addEventListener('abort', this.#follow, { once: true });
  }

  /** Aborts with the run, and with `deadline_exceeded` when the model takes too long; `details.reason` names the limit. */
  get signal(): AbortSignal {
    return this.#own.signal;
  }

  /** Makes another model's request possible after a late first chunk: with a new `signal`. Returns whether it is. */
  restart(): boolean {
    if (this.#run.aborted || this.#awaited !== 'firstChunkMs' || performance.now() >= this.#stepDue) return false;
    this.#own = new AbortController();
    this.#alarm = createAlarm(() => this.#look());
    this.saidAll();
    this.#alarm.set(this.#stepDue);
    return true;
  }

  /** A step starts. */
  startStep(): void {
    this.#stepDue = performance.now() + this.#limits.stepMs;
    this.#alarm.set(this.#stepDue);
  }

  /** The step has ended: nothing is due until the next. */
  endStep(): void {
    this.#stepDue = Infinity;
  }

  /** A request is sent: the first chunk of its answer is due, with its headers. The time restarts with each retry. */
  requested(): void {
    this.#expect('firstChunkMs');
  }

  /** The model has sent something: its next chunk is due within this limit. */
  received(within: SilenceLimit): void {
    if (this.#awaited) this.#expect(within);
  }

  /** The request has failed, or the model has said all that it says in this step. */
  saidAll(): void {
    this.#awaited = undefined;
    this.#chunkDue = Infinity;
  }

  /** Nothing is due any more. */
  stop(): void {
    this.#run.removeEventListener('abort', this.#follow);
    this.#alarm.stop();
  }

  readonly #follow = (): void => this.#abort(this.#run.reason);

  #abort(reason: unknown): void {
    this.#alarm.stop();
    this.#own.abort(reason);
  }

  #look(): void {
    const now = performance.now();
    if (this.#awaited && now >= this.#chunkDue) {
      return this.#abort(tooLate[this.#awaited](this.#limits[this.#awaited]));
    }
    if (now >= this.#stepDue) return this.#abort(tooLate.stepMs(this.#limits.stepMs));
    this.#alarm.set(Math.min(this.#stepDue, this.#chunkDue));
  }

  #expect(within: SilenceLimit): void {
    this.#awaited = within;
    this.#chunkDue = this.#performance.now() + this.#limits[within];
    this.#alarm.set(this.#chunkDue);
  }
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
