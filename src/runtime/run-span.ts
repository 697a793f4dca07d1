/** The span of a run: `run.start` when it starts, `run.end` when any instance finds that it has ended. */

import { actorOf, type Span, type SpanFacts, type SpanOptions, startSpan } from '../events/span.ts';

/** The run and its requester. */
export interface RunFacts extends Pick<SpanFacts, 'traceId' | 'parentSpanId' | 'spanId' | 'startedAt'> {
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
