/** The planner of a runtime. */

import { loadOnce } from '../../base/load-once.ts';
import type { Plans } from '../../contracts/plans.ts';
import { plannerOnUse } from '../planner-on-use.ts';
import type { Planner } from '../planner.ts';
import type { RuntimePlannerOptions } from './runtime-planner.ts';

/** The plans of a runtime's runs, and the planner that makes them. */
export interface RuntimePlans extends Plans {
  readonly planner: Planner;
}

const load = /* @__PURE__ */ loadOnce(() => import('./runtime-planner.ts'));

/** Creates the planner of a runtime, whose agents work by its steps. Its code is loaded with the first plan. */
export function createRuntimePlans(options: RuntimePlannerOptions): RuntimePlans {
  const planner = plannerOnUse(
    options,
    async () => (await load()).openRuntimePlanner(options),
  );
  return { ...planner, planner };
}
