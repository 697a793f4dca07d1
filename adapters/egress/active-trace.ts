/** The trace of a request, for platforms that put a `traceparent` of their own in place of ours: Deno does, where it traces. */

import { context, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { parseTraceparent } from '../../src/events/traceparent.ts';

/** Does the work within the trace that a `traceparent` names, so that what the platform tells elsewhere is the same trace. */
export function withinTrace<T>(traceparent: string | null, work: () => T): T {
  const found = parseTraceparent(traceparent);
  if (!found) return work();
  const { traceId, parentSpanId: spanId, sampled } = found;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true }), work);
}
