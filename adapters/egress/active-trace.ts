/** The trace of a request, for platforms that replace our `traceparent` with their own: Deno does, where it traces. */

import { loadOnce } from '../../src/base/load-once.ts';
import { parseTraceparent } from '../../src/events/trace-ids.ts';

/** The package is optional: a platform that traces has it. */
const openTelemetry = /* @__PURE__ */ loadOnce(async () => {
  try {
    return await import('@opentelemetry/api');
  } catch {
    return undefined;
  }
});

/** Runs the work within the trace of a `traceparent`, so that the platform sends the same trace on. */
export async function withinTrace<T>(traceparent: string | null, work: () => Promise<T>): Promise<T> {
  const found = parseTraceparent(traceparent);
  const api = found && await openTelemetry();
  if (!api) return await work();
  const { context, ROOT_CONTEXT, trace, TraceFlags } = api;
  const { traceId, parentSpanId: spanId, sampled } = found;
  const traceFlags = sampled ? TraceFlags.SAMPLED : TraceFlags.NONE;
  return await context.with(trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true }), work);
}
