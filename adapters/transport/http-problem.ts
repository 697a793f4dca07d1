/** Problem answers (RFC 9457): what went wrong, without a stack, a cause or anything that the caller sent. */

import type { Context } from 'hono';
import { PinnaceError, toPinnaceError, toProblem } from '../../src/errors.ts';
import { createTraceId } from '../../src/events.ts';
import { challengeHeaders } from './signed/challenge.ts';

/** Gives the problem answer for an error. */
export function problemResponse(c: Context, error: unknown, now: number): Response {
  const known = toPinnaceError(error);
  const problem = toProblem(known, { traceId: createTraceId(), now });
  const { details, retryAfterMs } = problem;
  const headers: Record<string, string> = {
    'content-type': 'application/problem+json',
    'cache-control': 'no-store',
    'x-trace-id': problem.traceId,
    ...challengeHeaders(known, now),
  };
  if (retryAfterMs !== undefined) headers['retry-after'] = String(Math.max(1, Math.ceil(retryAfterMs / 1000)));
  if (typeof details?.['location'] === 'string') headers['location'] = details['location'];
  // 499 says that the client left: nobody reads it, and Hono's types know only registered statuses.
  return c.body(JSON.stringify(problem), problem.status as 500, headers);
}

/** The problem of a key whose run goes on: it tells where to join. */
export function runInProgress(runId: string, lastSeq: number): PinnaceError {
  return new PinnaceError('run_in_progress', 'The run of this key is in progress: join its stream', {
    status: 409,
    retryable: true,
    retryAfterMs: 1000,
    details: { runId, lastEventId: `${runId}:${lastSeq}`, location: `/v1/runs/${runId}/stream` },
  });
}
