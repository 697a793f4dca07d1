import { describe, expect, it } from 'vitest';
import { createPlanner, type Planner } from '../../../src/index.ts';
import { eventsOf, me } from '../../fixtures/plan.ts';
import {
  plansOfVersion02,
  storedAt,
  type StoredPlan,
  storedPlanAgent,
  storedPlans,
} from '../../fixtures/stored-plans.ts';

/** A planner over what version 0.2 has stored, `afterMs` later. */
async function planner02(afterMs = 0): Promise<Planner> {
  const now = (): number => storedAt + afterMs;
  return createPlanner({
    storage: await plansOfVersion02(now),
    runAgent: storedPlanAgent,
    now,
    limits: { snapshotEvents: 10 },
  });
}

const { running, reserved, given, asking, pricedAsking, ...over } = storedPlans;
const leaseIsOver = 60_000;

describe('a plan that version 0.2 has stored', () => {
  it.each(Object.entries(storedPlans))('is shown as there, with every event: %s', async (_name, stored: StoredPlan) => {
    const planner = await planner02();
    expect(await planner.view(stored.planId, me)).toEqual(stored.view);
    expect(await eventsOf(planner, stored.planId)).toHaveLength(stored.events);
    await planner.close();
  });

  it.each(Object.entries(over))('has its outcome: %s', async (_name, { planId, outcome }: StoredPlan) => {
    expect(await (await planner02()).outcome(planId, me)).toEqual(outcome);
  });

  it.each(Object.entries({ running, reserved, given }))(
    'goes on when its process was lost, and uses what it would have used: %s',
    async (_name, { planId, outcome, used, counts }: StoredPlan) => {
      const planner = await planner02(leaseIsOver);
      expect(await planner.sweep()).toBeGreaterThan(0);
      expect(await planner.outcome(planId, me)).toEqual({ planId, ...outcome });
      expect(await planner.view(planId, me)).toMatchObject({ used, counts });
      await planner.close();
    },
  );

  it.each(Object.entries({ asking, pricedAsking }))(
    'still has its question, and goes on with the answer: %s',
    async (_name, { planId, outcome }: StoredPlan) => {
      const planner = await planner02(leaseIsOver);
      expect(await planner.outcome(planId, me)).toEqual(outcome);
      const [question] = await planner.questions(planId, me);
      await planner.reply(planId, me, { askId: question?.ask ?? '', answer: 'yes' });
      expect(await planner.outcome(planId, me)).toMatchObject({ state: 'done', result: ['outcome', 'answer'] });
      expect(await planner.view(planId, me)).toMatchObject({ counts: { done: 13 }, used: { steps: 26, cost: 42 } });
      await planner.close();
    },
  );
});
