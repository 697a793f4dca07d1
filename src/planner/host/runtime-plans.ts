/** The planner of a runtime. */

import type { Metrics } from '../../base/metrics.ts';
import { createPrincipal, type Principal } from '../../base/principal.ts';
import type { Plans } from '../../contracts/plans.ts';
import type { AgentSteps } from '../../contracts/steps.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import { openPlanner } from '../create-planner.ts';
import { authorizeByHook } from '../decide/authorize-create.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import type { Planner } from '../planner.ts';
import { guardPlanner, type GuardPlannerOptions } from './guard-planner.ts';
import { modelAgent } from './model-agent.ts';

/** What the planner of a runtime is composed of. */
export interface RuntimePlansOptions extends GuardPlannerOptions {
  readonly storage: Storage & Partial<Watchable>;
  /** The steps of the runtime's agents. */
  readonly steps: AgentSteps;
  readonly metrics: Pick<Metrics, 'count' | 'gauge'>;
  readonly limits: Partial<PlanLimits>;
}

/** The plans of a runtime's runs, and the planner that makes them. */
export interface RuntimePlans extends Plans {
  readonly planner: Planner;
}

/** Creates the planner of a runtime, whose agents work by its steps. */
export function createRuntimePlans({ steps, ...options }: RuntimePlansOptions): RuntimePlans {
  const { authorize } = options;
  const unguarded = openPlanner({
    ...options,
    runAgent: modelAgent(steps),
    authorize: authorize && authorizeByHook(authorize),
  });
  const planner = guardPlanner(unguarded, options);
  return {
    ...planner,
    planner,
    stop: (planId, principal, how) => unguarded.cancel(planId, asCanceller(principal), how),
  };
}

/** What the runtime stops by itself needs no scope of the caller. */
function asCanceller(principal: Principal): Principal {
  return createPrincipal({ ...principal, scopes: ['run:cancel'], via: 'in-process' });
}
