/** The routes of forks: start one, list them. */

import { Hono } from 'hono';
import * as v from 'valibot';
import { parse } from '../../../../src/base/parse.ts';
import { ForkRequest } from '../../../../src/runtime/fork-options.ts';
import type { SignedEnv } from '../env.ts';
import { json, named, pageOf, shapeOf, type SignedOperation } from '../operation.ts';
import { Time } from '../schemas.ts';
import { runStream } from '../stream-parts.ts';
import { answerStart, readStart, type RunRoutesOptions, startWith } from './runs.ts';

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

const forkRun: SignedOperation = {
  operationId: 'forkRun',
  hasLargeBody: true,
  summary: 'Start a run that goes on from a step of this one, or continue a lost one',
  scope: 'run:create',
  checkedBy: 'runtime',
  parameters: [{ name: 'Idempotency-Key', in: 'header', required: true, schema: { type: 'string' } }],
  body: shapeOf(ForkRequest),
  responses: { 200: runStream },
  problems: [404, 409, 410, 413, 415, 422],
};

const listForks: SignedOperation = {
  operationId: 'listForks',
  summary: 'The forks of a run',
  scope: 'run:read',
  query: ForksQuery,
  responses: { 200: json('A page of forks', pageOf(named('Fork', shapeOf(Fork)))) },
  problems: [404, 410],
};

/** Creates the routes under `/runs`. */
export function forkRoutes(options: RunRoutesOptions): Hono<SignedEnv> {
  const { runtime, signed, signedOnce } = options;
  const app = new Hono<SignedEnv>();
  app.post('/runs/:id/forks', signedOnce(forkRun), async (c) => {
    const { data: request, idempotency } = await readStart(c);
    return await answerStart(
      c,
      options,
      await startWith(c, { request, idempotency, forkOf: c.req.param('id') }, options),
    );
  });
  app.get('/runs/:id/forks', signed(listForks), async (c) => {
    const { limit, pageToken } = parse(ForksQuery, c.req.query(), { what: 'the query' });
    const wanted = { ...(limit !== undefined && { limit }), pageToken };
    const { items, ...more } = await runtime.forks(c.req.param('id'), c.var.principal, wanted);
    const shown = items.map((fork) => ({ ...fork, startedAt: new Date(fork.startedAt).toISOString() }));
    return c.json({ items: shown, ...more });
  });
  return app;
}
