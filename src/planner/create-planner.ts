/** Creates planners. */

import { checkOptions } from '../base/check-options.ts';
import { loadOnce } from '../base/load-once.ts';
import { createReport } from '../events/report.ts';
import { reportedHook, reportedPort } from '../events/reported-port.ts';
import { plannerOnUse } from './planner-on-use.ts';
import type { CreatePlannerOptions, Planner } from './planner.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./open-planner.ts'));

/**
 * Creates a planner. Between plans it holds no timer and no connection. Its code is loaded with the first plan.
 *
 * @example
 * const planner = createPlanner({ storage, runAgent: async ({ goal }) => ({ type: 'done', result: goal.length }) });
 * const outcome = await planner.run({ goal: 'Count the letters' }, localPrincipal());
 */
export function createPlanner(options: CreatePlannerOptions): Planner {
  checkOptions('create the planner', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    runAgent: ['function', 'a function, such as modelAgent( … )'],
  });
  const { onError, ...given } = options;
  const report = createReport(onError);
  const { authorize } = given;
  const parts = {
    ...given,
    report,
    storage: reportedPort(given.storage, report, { kind: 'storage', isRetried: true }),
    authorize: authorize && reportedHook(authorize, report, 'authorize'),
  };
  return plannerOnUse(parts, async () => (await load()).openPlanner(parts));
}
