/** The routes of forks: start one, list them. */

import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import { ForkRequest } from '../../../../src/forks/fork-request.ts';
import type { ForkEntry } from '../../../../src/runtime/runtime.ts';
import { json, named, type Operations, pageOf, shapeOf, type WithTimes } from '../operation.ts';
import { Time } from '../schemas.ts';
import { runStream } from '../stream-parts.ts';
import { answerStart, readStart, startWith } from './runs.ts';
import type { Served } from '../served.ts';
import type { Page } from '../../../../src/base/page.ts';

/** A fork in a listing. */
const Fork = v.object({
  runId: v.string(),
  chatId: v.string(),
  atStep: v.number(),
  changed: v.array(v.string()),
  effects: v.picklist(['dry', 'live']),
  startedAt: Time,
});

const ForksQuery = v.strictObject({
  limit: v.optional(v.pipe(v.string(), v.regex(/^\d{1,4}$/, 'must be a number'), v.transform(Number))),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(1000))),
});

/** The operations of these routes. */
export const forkOperations = {
  'POST /v1/runs/:id/forks': {
    operationId: 'forkRun',
    hasLargeBody: true,
    summary: 'Start a run that goes on from a step of this one, or continue a lost one',
    scope: 'run:create',
    checkedBy: 'runtime',
    parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
    body: shapeOf(ForkRequest),
    responses: { 200: runStream },
    problems: [404, 409, 410, 413, 415, 422],
    usesNonce: true,
  },
  'GET /v1/runs/:id/forks': {
    operationId: 'listForks',
    summary: 'The forks of a run',
    scope: 'run:read',
    query: ForksQuery,
    responses: {
      200: json<Page<WithTimes<ForkEntry, 'startedAt'>>>('A page of forks', pageOf(named('Fork', shapeOf(Fork)))),
    },
    problems: [404, 410],
  },
} satisfies Operations;

/** Creates the routes under `/runs`. */
export function forkRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(forkOperations);
  serve('POST /v1/runs/:id/forks', async (c) => {
    const { data: request, idempotency } = await readStart(c);
    return await answerStart(
      c,
      endpoint,
      await startWith(c, { request, idempotency, forkOf: c.req.param('id') }, endpoint),
    );
  });
  serve('GET /v1/runs/:id/forks', async (c) => {
    const { limit, pageToken } = parse(ForksQuery, c.req.query(), { what: 'the query' });
    const wanted = { ...(limit !== undefined && { limit }), pageToken };
    const { items, ...more } = await runtime.forks(c.req.param('id'), c.var.principal, wanted);
    const shown = items.map((fork) => ({ ...fork, startedAt: new Date(fork.startedAt).toISOString() }));
    return c.json({ items: shown, ...more });
  });
}
