/** The routes of plans: read, pause, resume, cancel. A plan that does not belong to the caller is not found. */

import * as v from 'valibot';
import type { Planner, PlanView } from '../../../../src/planner/planner.ts';
import { readAs } from '../body.ts';
import { empty, json, type Operations, shapeOf } from '../operation.ts';
import { planShape } from '../stream-parts.ts';
import type { Served } from '../served.ts';

/** The body of a cancellation: one agent of the plan with its sub-agents, or without `address` the whole plan. */
const PlanCancellation = v.strictObject({
  address: v.optional(v.pipe(v.string(), v.regex(/^1(-\d{1,6}){0,64}$/, 'must be an address such as "1-3-2"'))),
  reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
});

const steering = { scope: 'run:cancel', responses: { 202: empty('Accepted') }, problems: [404] } as const;
/** The operations of these routes. */
export const planOperations = {
  'GET /v1/plans/:id': {
    operationId: 'getPlan',
    summary: 'State of a plan, with its tasks as data-plan shows them',
    scope: 'run:read',
    responses: { 200: json<PlanView>('The plan', planShape) },
    problems: [404],
  },
  'POST /v1/plans/:id/pause': {
    ...steering,
    operationId: 'pausePlan',
    summary: 'Start no more activities of a plan',
  },
  'POST /v1/plans/:id/resume': { ...steering, operationId: 'resumePlan', summary: 'Resume a paused plan' },
  'POST /v1/plans/:id/cancel': {
    ...steering,
    operationId: 'cancelPlan',
    summary: 'Cancel a plan, or one of its agents with all its sub-agents',
    body: shapeOf(PlanCancellation),
    bodyIsOptional: true,
  },
} satisfies Operations;

/** Creates the routes. Repeating a request changes nothing. */
export function planRoutes({ serve: table }: Served, planner: Planner): void {
  const serve = table(planOperations);
  serve('GET /v1/plans/:id', async (c) => c.json(await planner.view(c.req.param('id'), c.var.principal)));
  serve('POST /v1/plans/:id/pause', async (c) => {
    await planner.pause(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  serve('POST /v1/plans/:id/resume', async (c) => {
    await planner.resume(c.req.param('id'), c.var.principal);
    return c.body(null, 202);
  });
  serve('POST /v1/plans/:id/cancel', async (c) => {
    const { address, reason } = c.req.header('content-type') === undefined
      ? {}
      : await readAs(c.req.raw, PlanCancellation, { what: 'the cancellation' });
    await planner.cancel(c.req.param('id'), c.var.principal, {
      ...(address !== undefined && { address }),
      ...(reason !== undefined && { reason }),
    });
    return c.body(null, 202);
  });
}
