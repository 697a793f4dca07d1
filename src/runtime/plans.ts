/** The plan of a request. Its code is loaded with the first request for one. */

import { loadOnce } from '../base/load-once.ts';
import type { Plans } from '../contracts/plans.ts';
import { type FollowedPlan, noPlan, type PlanOwner } from './followed-plan.ts';
import type { RunRequest } from './run-request.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./follow-plan.ts'));

/**
 * Starts the plan that a request defines, or finds the one that it names; `undefined` for a request without a plan.
 *
 * @throws PinnaceError `invalid_argument` for terms that the planner does not take, for a last message without text or with a file, and
 * where there is no planner; `not_found` for an unknown plan.
 */
export async function takePlan(
  plans: Plans | undefined,
  request: RunRequest,
  owner: PlanOwner,
): Promise<FollowedPlan | undefined> {
  const { planner } = request;
  if (planner === undefined) return undefined;
  if (!plans) throw noPlan('this runtime has no planner', 'no_planner');
  const { findPlan } = await load();
  return await findPlan(plans, { ...owner, request, planner });
}
