/** The route that clients of AG-UI call: `new HttpAgent({ url: '…/v1/agents/<id>/agui' })`. */

import { loadOnce } from '../../../../src/base/load-once.ts';
import { parse } from '../../../../src/base/parse.ts';
import { requireScope } from '../../../../src/base/principal.ts';
import { sha256 } from '../../../../src/base/hash.ts';
import { parseIdempotencyKey } from '../../idempotency-key.ts';
import { AguiInput } from '../agui/agui-input.ts';
import { readJson } from '../body.ts';
import { type Operations, shapeOf } from '../operation.ts';
import { startWith, streamResponse } from './runs.ts';
import type { Served } from '../served.ts';

/* Most endpoints have no client of AG-UI. */
const dialect = /* @__PURE__ */ loadOnce(() => import('../agui/dialect.ts'));

/** The operations of these routes. */
export const aguiOperations = {
  'POST /v1/agents/:id/agui': {
    operationId: 'runAgui',
    hasLargeBody: true,
    summary: 'Run an agent for a client of AG-UI 1.0, which receives events of that protocol',
    scope: 'run:create',
    checkedBy: 'runtime',
    body: shapeOf(AguiInput),
    responses: {
      200: {
        description: 'Events of AG-UI 1.0, each as JSON in the data of a server-sent event',
        content: { 'text/event-stream': () => ({ type: 'string' }) },
      },
    },
    problems: [404, 409, 413, 415, 422],
  },
} satisfies Operations;

/** Creates the route. Answers to interrupts are decisions: they take `tool:approve`. */
export function aguiRoutes(endpoint: Served): void {
  const { runtime } = endpoint;
  const serve = endpoint.serve(aguiOperations);
  serve('POST /v1/agents/:id/agui', async (c) => {
    const { principal, trace } = c.var;
    const { data, fingerprint } = await readJson(c.req.raw);
    const input = parse(AguiInput, data, { what: 'the input of the run' });
    const agentId = c.req.param('id');
    requireScope(principal, 'run:create', agentId);
    const { aguiRequest, createAguiDialect, decideResumed } = await dialect();
    const request = aguiRequest(agentId, input);
    await decideResumed(input, (...decided) => runtime.decide(...decided, principal));
    const { threadId, runId: named } = input;
    const given = c.req.header('idempotency-key') ??
      `"agui-${await sha256(JSON.stringify([principal.subject, agentId, threadId, named]))}"`;
    const idempotency = { key: parseIdempotencyKey(given), fingerprint };
    const { runId, known } = await startWith(c, { request, idempotency }, endpoint);
    const cursor = await runtime.runs.answer(principal, runId);
    const traceId = known?.traceId ?? trace.traceId;
    return streamResponse(endpoint, { cursor, runId, traceId, dialect: createAguiDialect(input) });
  });
}
