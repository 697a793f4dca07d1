/** Counts what plans do: commits of their journals, how they end, and what they have used of their budgets. */

import type { Metrics } from '../../base/metrics.ts';
import type { PlanEvent } from '../model/plan-event.ts';
import type { PlanState } from '../model/plan-state.ts';

const endings: Partial<Record<PlanEvent['type'], string>> = {
  'run.done': 'done',
  'run.failed': 'failed',
  'run.cancelled': 'cancelled',
};

/** Gives what counts one commit of the plan. Only the process that ends a plan counts its end. */
export function createPlanCounter(
  state: PlanState,
  metrics: Pick<Metrics, 'count'>,
): (events: readonly PlanEvent[]) => void {
  return (events) => {
    metrics.count('pinnace_journal_commits_total', { of: 'plan' });
    const ending = events.map(({ type }) => endings[type]).find((name) => name !== undefined);
    if (ending === undefined) return;
    metrics.count('pinnace_plans_total', { state: ending });
    const { limit, used } = state.account;
    if (limit.tokens === Infinity) return;
    metrics.count('pinnace_budget_tokens_total', { of: 'plan', kind: 'granted' }, limit.tokens);
    metrics.count('pinnace_budget_tokens_total', { of: 'plan', kind: 'used' }, used.tokens);
  };
}
