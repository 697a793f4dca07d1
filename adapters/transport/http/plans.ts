/** The routes of plans: look, pause, go on, cancel. Whoever the plan does not work for finds none. */

import type { Context } from 'hono';
import * as v from 'valibot';
import type { Planner } from '../../../src/planner/planner.ts';
import { parse } from '../../../src/base/parse.ts';
import { type Principal, requireScope, type Scope } from '../../../src/base/principal.ts';
import type { HandlerContext } from './handler.ts';
import { readJson } from './body.ts';

/** What `POST /v1/plans/:id/cancel` may take: one agent of the plan, with all below it, instead of the whole. */
export const PlanCancellation = v.strictObject({
  address: v.optional(v.pipe(v.string(), v.regex(/^1(-\d{1,6}){0,64}$/, 'must be an address such as "1-3-2"'))),
  reason: v.optional(v.pipe(v.string(), v.maxLength(500))),
});

/** What the routes need of an endpoint. */
type PlanContext = Pick<HandlerContext, 'app' | 'authenticator' | 'maxBodyBytes'>;

/** Adds the routes. Looking takes the scope `run:read`, all else `run:cancel`; asking for something again changes nothing. */
export function addPlanRoutes({ app, authenticator, maxBodyBytes }: PlanContext, planner: Planner): void {
  const asOwner = async (c: Context, scope: Scope): Promise<{ planId: string; principal: Principal }> => {
    const principal = await authenticator.authenticate(c.req.raw);
    requireScope(principal, scope);
    const planId = c.req.param('id') ?? '';
    await planner.requireOwner(planId, principal);
    return { planId, principal };
  };
  app.get('/v1/plans/:id', async (c) => {
    const { planId, principal } = await asOwner(c, 'run:read');
    return c.json(await planner.view(planId, principal));
  });
  for (const how of ['pause', 'resume'] as const) {
    app.post(`/v1/plans/:id/${how}`, async (c) => {
      const { planId, principal } = await asOwner(c, 'run:cancel');
      await planner[how](planId, principal);
      return c.body(null, 202);
    });
  }
  app.post('/v1/plans/:id/cancel', async (c) => {
    const { planId, principal } = await asOwner(c, 'run:cancel');
    const hasBody = c.req.header('content-type') !== undefined;
    const data = hasBody ? (await readJson(c.req.raw, maxBodyBytes)).data : {};
    const { address, reason } = parse(PlanCancellation, data, { what: 'the cancellation' });
    await planner.cancel(planId, principal, {
      ...(address !== undefined && { address }),
      ...(reason !== undefined && { reason }),
    });
    return c.body(null, 202);
  });
}
