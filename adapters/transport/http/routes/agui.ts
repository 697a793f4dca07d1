/** The route that clients of AG-UI call: `new HttpAgent({ url: '…/v1/agents/<id>/agui' })`. */

import { Hono } from 'hono';
import { loadOnce } from '../../../../src/base/load-once.ts';
import { parse } from '../../../../src/base/parse.ts';
import { requireScope } from '../../../../src/base/principal.ts';
import { sha256 } from '../../../../src/base/hash.ts';
import type { HostedRuntime } from '../../../../src/runtime/runtime.ts';
import { parseIdempotencyKey } from '../../idempotency-key.ts';
import { AguiInput } from '../agui/agui-input.ts';
import { readJson } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { shapeOf, type SignedOperation } from '../operation.ts';
import { type RunRoutesOptions, startWith, streamResponse } from './runs.ts';

/** What the route needs. */
export interface AguiRoutesOptions extends RunRoutesOptions {
  readonly runtime: RunRoutesOptions['runtime'] & Pick<HostedRuntime, 'decide'>;
}

const runAgui: SignedOperation = {
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
};

/* Most endpoints have no client of AG-UI. */
const dialect = /* @__PURE__ */ loadOnce(() => import('../agui/dialect.ts'));

/** Creates the route. Answers to interrupts are decisions: they take `tool:approve`. */
export function aguiRoutes(options: AguiRoutesOptions): Hono<SignedEnv> {
  const { runtime, signed } = options;
  const app = new Hono<SignedEnv>();
  app.post('/agents/:id/agui', signed(runAgui), async (c) => {
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
    const { runId, known } = await startWith(c, { request, idempotency }, options);
    const cursor = await runtime.runs.answer(principal, runId);
    const traceId = known?.traceId ?? trace.traceId;
    return streamResponse(options, { cursor, runId, traceId, dialect: createAguiDialect(input) });
  });
  return app;
}
