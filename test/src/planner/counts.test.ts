import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/base/metrics.ts';
import { done, me, testPlanner } from '../../fixtures/plan.ts';
import { readPrometheus } from '../../tools/prometheus.ts';

describe('the metrics of plans', () => {
  it('count outcomes, used budgets, open plans and commits', async () => {
    const metrics = createMetrics();
    const gate = Promise.withResolvers<void>();
    const { planner } = testPlanner(async ({ goal }) => {
      if (goal === 'wait') await gate.promise;
      if (goal === 'fail') throw new Error('Cannot');
      return { ...done(goal), usage: { tokens: 70 } };
    }, { metrics });
    const valueOf = (name: string, labels: Record<string, string> = {}): number | undefined =>
      readPrometheus(metrics.text()).get(name)?.samples.find((sample) =>
        Object.entries(labels).every(([label, value]) => sample.labels[label] === value)
      )?.value;
    await planner.run({ goal: 'a', budget: { tokens: 1000 } }, me);
    await planner.run({ goal: 'b' }, me);
    await planner.run({ goal: 'fail' }, me);
    const { planId } = await planner.start({ goal: 'wait', budget: { tokens: 500 } }, me);
    expect(valueOf('pinnace_open_plans')).toBe(1);
    await planner.cancel(planId, me);
    gate.resolve();
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'cancelled' });
    const states = ['done', 'failed', 'cancelled'].map((state) => valueOf('pinnace_plans_total', { state }));
    expect(states).toEqual([2, 1, 1]);
    expect(valueOf('pinnace_budget_tokens_total', { of: 'plan', kind: 'granted' })).toBe(1500);
    expect(valueOf('pinnace_budget_tokens_total', { of: 'plan', kind: 'used' })).toBe(70);
    expect(valueOf('pinnace_journal_commits_total', { of: 'plan' })).toBeGreaterThan(3);
    await planner.close();
    expect(valueOf('pinnace_open_plans')).toBe(0);
  });
});
