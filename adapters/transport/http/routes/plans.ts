/** The routes of plans: read, pause, resume, cancel. A plan that does not belong to the caller is not found. */

import { Hono } from 'hono';
import * as v from 'valibot';
import type { Planner } from '../../../../src/planner/planner.ts';
import type { Signed } from '../authentication.ts';
import { readAs } from '../body.ts';
import type { SignedEnv } from '../env.ts';
import { empty, json, shapeOf, type SignedOperation } from '../operation.ts';
import { planShape } from '../stream-parts.ts';

/** The body of a cancellation: one agent of the plan with its sub-agents, or without `address` the whole plan. */
const PlanCancellation = v.strictObject({
  address: v.optional(v.pipe(v.string(), v.regex(/^1(-\d{1,6}){0,64}$/, 'must be an address such as "1-3-2"'))),
  reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
});

/** What the routes need. */
export interface PlanRoutesOptions {
  readonly planner: Pick<Planner, 'view' | 'pause' | 'resume' | 'cancel'>;
  readonly signed: Signed;
}

const getPlan: SignedOperation = {
  operationId: 'getPlan',
  summary: 'State of a plan, with its tasks as data-plan shows them',
  scope: 'run:read',
  responses: { 200: json('The plan', planShape) },
  problems: [404],
};

const steering = { scope: 'run:cancel', responses: { 202: empty('Accepted') }, problems: [404] } as const;
const pausePlan: SignedOperation = {
  ...steering,
  operationId: 'pausePlan',
  summary: 'Start no more activities of a plan',
};
const resumePlan: SignedOperation = { ...steering, operationId: 'resumePlan', summary: 'Resume a paused plan' };
const cancelPlan: SignedOperation = {
  ...steering,
  operationId: 'cancelPlan',
  summary: 'Cancel a plan, or one of its agents with all its sub-agents',
  body: shapeOf(PlanCancellation),
  bodyIsOptional: true,
};

/** Creates the routes. Repeating a request changes nothing. */
export function planRoutes({ planner, signed }: PlanRoutesOptions): Hono<SignedEnv> {
  const app = new Hono<SignedEnv>();
  app.get('/plans/:id', signed(getPlan), async (c) => c.json(await planner.view(c.req.param('id'), c.var.principal)));
  app.post('/plans/:id/pause', signed(pausePlan), async (c) => {
    await planner.pause(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  app.post('/plans/:id/resume', signed(resumePlan), async (c) => {
    await planner.resume(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  app.post('/plans/:id/cancel', signed(cancelPlan), async (c) => {
    const { address, reason } = c.req.header('content-type') === undefined
      ? {}
      : await readAs(c.req.raw, PlanCancellation, { what: 'the cancellation' });
    await planner.cancel(c.req.param('id'), c.var.principal, {
      ...(address !== undefined && { address }),
      ...(reason !== undefined && { reason }),
    });
    return c.body(null, 202);
  });
  return app;
}
