/** The planner of a runtime: agents work by the runtime's steps, and changes of plans need a permission. */

import type { Metrics } from '../../base/metrics.ts';
import type { AgentSteps } from '../../contracts/steps.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import type { Report } from '../../events/report.ts';
import { authorizeByHook } from '../decide/authorize-create.ts';
import type { PlanLimits } from '../model/plan-limits.ts';
import { openPlanner } from '../open-planner.ts';
import type { OpenPlanner } from '../planner.ts';
import { guardPlanner, type GuardPlannerOptions, readPlanAs } from './guard-planner.ts';
import { modelAgent } from './model-agent.ts';

/** What the planner of a runtime is composed of. */
export interface RuntimePlannerOptions extends GuardPlannerOptions {
  readonly storage: Storage & Partial<Watchable>;
  /** The steps of the runtime's agents. */
  readonly steps: AgentSteps;
  readonly metrics: Pick<Metrics, 'count' | 'gauge'>;
  readonly report: Report;
  readonly limits: Partial<PlanLimits>;
}

/** Creates the planner. */
export function openRuntimePlanner({ steps, ...options }: RuntimePlannerOptions): OpenPlanner {
  const { authorize } = options;
  const planner = openPlanner({
    ...options,
    readAs: readPlanAs(options),
    runAgent: modelAgent(steps),
    authorize: authorize && authorizeByHook(authorize),
  });
  return guardPlanner(planner, options);
}
