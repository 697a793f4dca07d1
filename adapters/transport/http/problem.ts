/** Problem responses (RFC 9457): what went wrong, without a stack, a cause or anything that the caller sent. */

import type { Context } from 'hono';
import { PinnaceError, toPinnaceError, toProblem } from '../../../src/base/errors.ts';
import type { SignedEnv } from './env.ts';
import { traceHeader } from './trace.ts';
import { challengeHeaders } from '../signed/challenge.ts';

/** What a problem response depends on besides the error. */
export interface ProblemOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** From 0 to 1, for the spread of `Retry-After`; `Math.random` when absent. */
  readonly random?: () => number;
}

/** Returns the problem response for an error. A 429 or 503 that may be retried carries `Retry-After`. */
export function problemResponse(
  c: Context<SignedEnv>,
  thrown: unknown,
  { now, random = Math.random }: ProblemOptions,
): Response {
  const error = toPinnaceError(thrown);
  const { traceId } = c.get('trace');
  const retryAfterMs = error.retryAfterMs ?? defaultRetryMs(error, random);
  const problem = { ...toProblem(error, { traceId, now }), ...(retryAfterMs !== undefined && { retryAfterMs }) };
  const body = new TextEncoder().encode(JSON.stringify(problem));
  const { details } = problem;
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'content-length': String(body.length), // complete for the client before the connection closes
    'cache-control': 'no-store',
    [traceHeader]: traceId,
    ...challengeHeaders(error, now),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  if (typeof details?.['location'] === 'string') headers['location'] = details['location'];
  // Hono's types know only registered statuses, and 499 (the client has left) is not one.
  return c.body(body, problem.status as 500, headers);
}

/** The average `Retry-After` when the error has none. */
const usualRetryMs = 1000;

/** Spreads retries by 20 %, so that rejected clients do not come back all at once. */
function defaultRetryMs({ status, retryable }: PinnaceError, random: () => number): number | undefined {
  if (!retryable || (status !== 429 && status !== 503)) return undefined;
  return Math.round(usualRetryMs * (0.8 + 0.4 * random()));
}

/** The problem of an idempotency key whose run is still in progress: it names the stream to join. */
export function runInProgress(runId: string, lastSeq: number): PinnaceError {
  return new PinnaceError('run_in_progress', 'The run of this key is in progress: join its stream', {
    retryAfterMs: 1000,
    details: { runId, lastEventId: `${runId}:${lastSeq}`, location: `/v1/runs/${runId}/stream` },
  });
}

const statuses: ReadonlySet<number> = new Set([408, 413, 429]);
const reasons: ReadonlySet<unknown> = new Set([
  'instance_quota',
  'start_objective',
  'instance_bodies',
  'instance_body_bytes',
  'runtime_closed',
]);

/** Whether a quota, a body limit or the closing endpoint has refused the request. */
export function isRefusedByEndpoint(thrown: unknown): boolean {
  const { status, details } = toPinnaceError(thrown);
  return statuses.has(status) || reasons.has(details?.['reason']);
}
