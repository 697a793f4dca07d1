/** The trace that a request is part of: the caller's, or one of its own. */

import type { MiddlewareHandler } from 'hono';
import { createTraceId } from '../../../src/events/events.ts';
import { parseTraceparent } from '../../../src/events/traceparent.ts';

/** Where in which trace a request is served. */
export interface RequestTrace {
  readonly traceId: string;
  /** The caller's span, when the request names one. */
  readonly parentSpanId?: string;
}

/** The header that names the trace in every answer. */
export const traceHeader = 'x-trace-id';

const traces = new WeakMap<Request, RequestTrace>();

/** Returns the trace of a request: that of its `traceparent`, else a new one. Always the same for the same request. */
export function traceOf(request: Request): RequestTrace {
  const known = traces.get(request);
  if (known) return known;
  const { traceId = createTraceId(), parentSpanId } = parseTraceparent(request.headers.get('traceparent')) ?? {};
  const trace = { traceId, ...(parentSpanId !== undefined && { parentSpanId }) };
  traces.set(request, trace);
  return trace;
}

/** Names the trace in the answer. A route that shows another trace, such as that of an earlier run, sets the header itself. */
export const nameTrace: MiddlewareHandler = async (c, next) => {
  await next();
  if (!c.res.headers.has(traceHeader)) c.res.headers.set(traceHeader, traceOf(c.req.raw).traceId);
};
