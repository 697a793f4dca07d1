/** The spans of a run's loop, and the clock of its models. */

import type { Payload, Span, SpanContext, SpanEnd } from '../events/span.ts';
import type { ErrorData } from '../base/errors.ts';
import type { Limits } from './limits.ts';
import { createModelClock, type ModelClock } from './model-chain.ts';
import type { RunAbort } from './run-abort.ts';

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
