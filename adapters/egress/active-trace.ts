/** The trace of a request, for platforms that replace our `traceparent` with their own: Deno does, where it traces. */

import { context, ROOT_CONTEXT, trace, TraceFlags } from '@opentelemetry/api';
import { parseTraceparent } from '../../src/events/traceparent.ts';

/** Runs the work within the trace of a `traceparent`, so that the platform sends the same trace on. */
export function withinTrace<T>(traceparent: string | null, work: () => T): T {
  const found = parseTraceparent(traceparent);
  if (!found) return work();
  const { traceId, parentSpanId: spanId, sampled } = found;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true }), work);
}
