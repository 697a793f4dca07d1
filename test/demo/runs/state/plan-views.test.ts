import { describe, expect, it } from 'vitest';
import { createPlanViews } from '../../../../demo/runs/state/plan-views.ts';
import type { PlanView } from '../../../../src/planner/planner.ts';

const plan = (planId: string) =>
  ({ planId, traceId: 't', state: 'running', by: 'ada', startedAt: '2026-11-25T10:00:00Z' }) as const;
// Only the id and the state are read here.
const viewOf = (planId: string, state: PlanView['state']) => ({ planId, state, goal: planId }) as PlanView;

describe('the views of the plans of an endpoint', () => {
  it('are read once for all changes of a pause, and no more after the end of a plan', async () => {
    const states: Record<string, PlanView['state']> = { p1: 'running', p2: 'done' };
    const requested: string[] = [];
    const pauses: (() => void)[] = [];
    const { views, read } = createPlanViews({
      plans: () => [plan('p1'), plan('p2')],
      viewOf: async (planId) => {
        requested.push(planId);
        return { ok: true, value: viewOf(planId, states[planId]!) };
      },
      pause: () => new Promise((resolve) => pauses.push(resolve)),
    });
    expect(requested).toEqual([]);
    const reading = read();
    await expect.poll(() => pauses.length).toBe(1);
    states['p1'] = 'done';
    await Promise.all([read(), read(), read()]);
    expect(requested).toEqual(['p1', 'p2']);
    pauses[0]!();
    await expect.poll(() => pauses.length).toBe(2);
    expect(requested).toEqual(['p1', 'p2', 'p1']);
    expect(views.value.get('p1')?.state).toBe('done');
    pauses[1]!();
    await reading;
    expect(requested).toHaveLength(3);
  });

  it('leave out the plans that the endpoint does not show', async () => {
    const { views, read } = createPlanViews({
      plans: () => [plan('p1')],
      viewOf: async () => ({ ok: false, error: { code: 'forbidden', message: 'No', retryable: false } }),
      pause: async () => undefined,
    });
    await read();
    expect(views.value.size).toBe(0);
  });
});
