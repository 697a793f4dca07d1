/** The trace of a request, from its headers to the response's. */

import type { MiddlewareHandler } from 'hono';
import { createTraceId, parseTraceparent } from '../../../src/events/trace-ids.ts';
import type { SignedEnv } from './env.ts';

/** The header that names the trace in every response. */
export const traceHeader = 'x-trace-id';

/** Sets `trace` from `traceparent`, and names it in the response unless the route names another, such as that of an earlier run. */
export const setTrace: MiddlewareHandler<SignedEnv> = async (c, next) => {
  const { traceId = createTraceId(), parentSpanId } = parseTraceparent(c.req.header('traceparent') ?? null) ?? {};
  c.set('trace', { traceId, ...(parentSpanId !== undefined && { parentSpanId }) });
  await next();
  if (!c.res.headers.has(traceHeader)) c.res.headers.set(traceHeader, traceId);
};
