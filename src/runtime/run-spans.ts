/** The span of a run: `run.start` when it starts, `run.end` when any instance finds that it has ended. */

import {
  actorOf,
  type Payload,
  type Span,
  type SpanContext,
  type SpanEnd,
  type SpanFacts,
  type SpanOptions,
  startSpan,
} from '../events/span.ts';
import type { ErrorData } from '../base/errors.ts';
import type { Limits } from './limits.ts';
import { createModelClock, type ModelClock } from './model-chain.ts';
import type { RunAbort } from './run-abort.ts';

/** The run and its requester. */
interface RunFacts extends Pick<SpanFacts, 'traceId' | 'parentSpanId' | 'spanId' | 'startedAt'> {
  readonly runId: string;
  readonly tenant: string;
  readonly subject: string;
  readonly actor?: string | undefined;
  readonly agentId: string;
  readonly messages?: number;
  /** The caller's own runtime, where the request names it. */
  readonly runtimeId?: string | undefined;
  /** The names of what the request sets of its agent. */
  readonly settings?: string | undefined;
}

/** Starts the span. */
export function spanOfRun(
  { traceId, parentSpanId, spanId, startedAt, runId, tenant, agentId, messages, runtimeId, settings, ...caller }:
    RunFacts,
  options: SpanOptions,
): Span {
  return startSpan({
    traceId,
    parentSpanId,
    ...(spanId !== undefined && { spanId }),
    ...(startedAt !== undefined && { startedAt }),
    tenant,
    actor: actorOf(caller),
    action: 'run.start',
    endAction: 'run.end',
    target: { type: 'agent', id: agentId },
    payload: { runId, messages, runtimeId, settings },
  }, options);
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
