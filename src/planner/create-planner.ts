/** Creates planners. */

import { plannerOnUse } from './planner-on-use.ts';
import type { CreatePlannerOptions, Planner } from './planner.ts';

/**
 * Creates a planner. Between plans it holds no timer and no connection. Its code is loaded with the first plan.
 *
 * @example
 * const planner = createPlanner({ storage, runAgent: async ({ goal }) => ({ type: 'done', result: goal.length }) });
 * const outcome = await planner.run({ goal: 'Count the letters' }, localPrincipal());
 */
export function createPlanner(options: CreatePlannerOptions): Planner {
  return plannerOnUse(options, async () => (await import('./open-planner.ts')).openPlanner(options));
}
