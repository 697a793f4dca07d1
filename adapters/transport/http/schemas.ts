/** The schemas of responses that several routes share. */

import * as v from 'valibot';
import { problemCodes } from '../../../src/base/errors.ts';

/** An error as data, as in streams, reports and the state of a run. */
export const ErrorData = v.object({
  code: v.string(),
  message: v.string(),
  retryable: v.boolean(),
  retryAfterMs: v.optional(v.number()),
  details: v.optional(v.record(v.string(), v.unknown())),
});

/** What a run has used: counts by name, and the cost where the prices of all its models are known. */
export const Usage = v.objectWithRest({
  /** A provider has not reported all of it. */
  estimated: v.optional(v.literal(true)),
  cost: v.optional(v.object({ amount: v.number(), currency: v.string() })),
}, v.number());

/** A time of the endpoint, in UTC. */
export const Time = v.pipe(v.string(), v.isoTimestamp());

/** Who did something, or what it was done to. */
const Named = v.object({ type: v.string(), id: v.string() });

/** An event that the runtime has emitted. */
export const ObservedEvent = v.object({
  timestamp: Time,
  traceId: v.string(),
  spanId: v.optional(v.string()),
  parentSpanId: v.optional(v.string()),
  actor: Named,
  action: v.string(),
  target: Named,
  status: v.picklist(['pending', 'ok', 'error', 'denied', 'cancelled']),
  latency: v.number(),
  error: v.nullable(ErrorData),
  payloadSummary: v.string(),
});

/** A problem (RFC 9457). */
export const Problem = v.object({
  type: v.string(),
  title: v.string(),
  status: v.pipe(v.number(), v.integer()),
  code: v.picklist(problemCodes),
  detail: v.string(),
  retryable: v.boolean(),
  retryAfterMs: v.optional(v.pipe(v.number(), v.integer())),
  details: v.optional(v.record(v.string(), v.unknown())),
  serverTime: Time,
  traceId: v.string(),
});
