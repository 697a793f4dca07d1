/** The plan of a request. Its code is loaded with the first request for one. */

import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import type { Plans } from '../contracts/plans.ts';
import { type FollowedPlan, noPlan, type PlanOwner } from './followed-plan.ts';
import type { RunRequest } from './run-request.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./follow-plan.ts'));

/**
 * Starts the plan that a request defines, or finds the one that it names; `undefined` for a request without a plan.
 *
 * @throws PinnaceError `invalid_argument` for terms that the planner does not take, for a last message without text or with a file, and
 * where there is no planner; `not_found` for an unknown plan; `forbidden` (`plans_not_allowed`) over HTTP, where the agent's record does
 * not allow plans.
 */
export async function takePlan(
  plans: Plans | undefined,
  request: RunRequest,
  owner: PlanOwner,
): Promise<FollowedPlan | undefined> {
  const { planner } = request;
  if (planner === undefined) return undefined;
  requireAllowed(owner);
  if (!plans) throw noPlan('this runtime has no planner', 'no_planner');
  const { findPlan } = await load();
  return await findPlan(plans, { ...owner, request, planner });
}

/** A plan is many model calls for one request, so strangers need the record's permission. */
function requireAllowed({ principal, agent }: PlanOwner): void {
  if (principal.via !== 'http' || agent.plans === true) return;
  throw new PinnaceError(
    'forbidden',
    `Cannot plan: agent "${agent.id}" does not allow plans over HTTP; set "plans": true in its record`,
    { details: { reason: 'plans_not_allowed' } },
  );
}
