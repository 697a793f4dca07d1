import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanRequestInput, TaskInput } from '../../../src/planner/index.ts';
import { done, eventsOf, me, testPlanner } from '../../fixtures/plan.ts';
import { checkOrder } from '../../fixtures/plans/plan-order.ts';

/** Tasks of which each comes after those before it, up to `width` of them. */
function dense({ count, width }: { count: number; width: number }): TaskInput[] {
  return Array.from({ length: count }, (_task, place) => ({
    key: `t${place}`,
    goal: 'work',
    after: Array.from({ length: Math.min(place, width) }, (_item, back) => `t${place - 1 - back}`),
  }));
}

const idle = () => new Promise<never>(() => {});

describe('a dense plan', () => {
  it('is refused beyond 200,000 dependencies', async () => {
    const { planner } = testPlanner(idle);
    await expect(planner.start({ goal: 'g', plan: { tasks: dense({ count: 800, width: 1000 }) } }, me)).rejects
      .toMatchObject({ code: 'invalid_argument', details: { reason: 'too_many_dependencies' } });
  });

  it('is refused by the first 20 tasks that are wrong, each with its place', async () => {
    const { planner } = testPlanner(idle);
    const tasks: TaskInput[] = dense({ count: 50, width: 3 }).map((task) => ({ ...task, goal: '' }));
    await expect(planner.start({ goal: 'g', plan: { tasks } }, me)).rejects.toMatchObject({
      details: { issues: Array.from({ length: 20 }, (_, place) => ({ path: `plan.tasks.${place}.goal` })) },
    });
  });

  it('of any form runs each task once, after those that it needs; a circle anywhere is refused', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.nat(), { maxLength: 8 }), { minLength: 2, maxLength: 30 }),
        fc.option(fc.tuple(fc.nat(), fc.nat())),
        async (graph, circle) => {
          const tasks: TaskInput[] = graph.map((after, place) => ({
            key: `t${place}`,
            goal: `${place}`,
            after: place === 0 ? [] : after.map((other) => `t${other % place}`), // names repeat
          }));
          const request: PlanRequestInput = { goal: 'g', plan: { tasks: tasks.toReversed() } };
          const ran: string[] = [];
          const { planner } = testPlanner(async ({ goal }) => {
            ran.push(goal);
            return done(goal);
          });
          if (circle) {
            const [one, other] = circle.map((place) => place % tasks.length) as [number, number];
            const [from, to] = [Math.min(one, other), Math.max(one, other)];
            tasks[to] = { ...tasks[to]!, after: [...tasks[to]!.after ?? [], `t${from}`] };
            tasks[from] = { ...tasks[from]!, after: [...tasks[from]!.after ?? [], `t${to}`] };
            await expect(planner.run({ goal: 'g', plan: { tasks } }, me)).rejects.toMatchObject({
              code: 'invalid_argument',
            });
            expect(ran).toEqual([]);
            return;
          }
          const outcome = await planner.run(request, me);
          expect(outcome).toMatchObject({ state: 'done' });
          expect(ran.toSorted()).toEqual(tasks.map(({ goal }) => goal).toSorted());
          checkOrder(await eventsOf(planner, outcome.planId));
        },
      ),
      { numRuns: 60 },
    );
  }, 60_000);
});
