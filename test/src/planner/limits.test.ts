import { describe, expect, it } from 'vitest';
import type { ActionInput, RunAgent } from '../../../src/planner/index.ts';
import { createPlanner } from '../../../src/index.ts';
import { done, eventsOf, me, next, resultsOf, testClock, testPlanner } from '../../fixtures/plan.ts';

/** Counts how many activities are at work at once. */
function counting(work: RunAgent): { readonly runAgent: RunAgent; readonly most: () => number } {
  let [now, most] = [0, 0];
  return {
    most: () => most,
    async runAgent(task, context) {
      most = Math.max(most, ++now);
      await new Promise((resolve) => setTimeout(resolve));
      now--;
      return await work(task, context);
    },
  };
}

/** Makes `width` children down to `depth`, and counts the leaves. */
function nested({ width, depth, more = {} }: { width: number; depth: number; more?: object }): RunAgent {
  return async (task) => {
    if (task.depth === depth) return done(1);
    if (task.step > 1) {
      return done(Object.values(resultsOf(task)).reduce((sum: number, value) => sum + Number(value), 0));
    }
    return next(...Array.from({ length: width }, (_, i) => ({ type: 'create' as const, goal: `${i}`, ...more })));
  };
}

describe('slots', () => {
  for (const maxParallelism of [1, 2, 5]) {
    it(`count what is at work and never waiting parents: ${maxParallelism} are enough for any depth`, async () => {
      const { runAgent, most } = counting(nested({ width: 3, depth: 4 }));
      const { planner } = testPlanner(runAgent);
      expect(await planner.run({ goal: 'g', maxParallelism }, me)).toMatchObject({ state: 'done', result: 81 });
      expect(most()).toBe(maxParallelism);
    });
  }

  it('of a provider are shared by parents and children, and by plans, without a deadlock', async () => {
    const { runAgent, most } = counting(nested({ width: 3, depth: 2, more: { provider: 'small' } }));
    const { planner } = testPlanner(runAgent, { limits: { providers: { small: 1 } } });
    const goals = [planner.run({ goal: 'a' }, me), planner.run({ goal: 'b' }, me)];
    for (const outcome of await Promise.all(goals)) expect(outcome).toMatchObject({ state: 'done', result: 9 });
    expect(most()).toBeLessThanOrEqual(2); // the first agents have no provider
  });
});

describe('limits', () => {
  it('of depth and agents are reported to the agent, and end nothing', async () => {
    const told: unknown[] = [];
    const { planner } = testPlanner(async (task) => {
      if (task.step > 1) {
        told.push(
          task.inbox.flatMap((item) => item.type === 'outcome' && !item.ok ? [item.error.details?.['reason']] : []),
        );
        return done('did it myself');
      }
      if (!task.mayCreate) return next({ type: 'create', goal: 'too deep' });
      return next({ type: 'create', goal: 'a' }, { type: 'create', goal: 'b' }, { type: 'create', goal: 'c' });
    });
    const outcome = await planner.run({ goal: 'g', maxDepth: 1, budget: { agents: 3 } }, me);
    expect(outcome).toMatchObject({ state: 'done', result: 'did it myself' });
    expect(told.map(String).toSorted()).toEqual(['agents_limit', 'depth_limit', 'depth_limit']);
  });

  it('of steps hold over all agents', async () => {
    let runs = 0;
    const { planner } = testPlanner(async (task) => {
      runs++;
      return task.step === 1 && task.depth === 0
        ? next(...Array.from({ length: 20 }, (): ActionInput => ({ type: 'create', goal: 'a', onFailure: 'ignore' })))
        : done('a');
    });
    const outcome = await planner.run({ goal: 'g', budget: { steps: 10 } }, me);
    expect(outcome).toMatchObject({
      state: 'failed',
      error: { code: 'budget_exceeded', details: { reason: 'steps_limit' } },
    });
    expect(runs).toBe(10);
  });

  it('of tokens are overrun by less than one reservation, also by calls at once', async () => {
    let used = 0;
    const tasks = Array.from({ length: 50 }, (_, i) => ({ key: `t${i}`, goal: 'g', onFailure: 'ignore' as const }));
    const { planner } = testPlanner(async () => {
      await Promise.resolve();
      used += 90;
      return { type: 'done', result: 1, usage: { tokens: 90 } };
    }, { limits: { reserve: { tokens: 100, cost: 0 } } });
    const outcome = await planner.run({ goal: 'g', budget: { tokens: 1000 }, plan: { tasks } }, me);
    expect(outcome.state).toBe('done');
    expect(used).toBeGreaterThan(900);
    expect(used).toBeLessThanOrEqual(1100);
  });

  it.each([[10, 8, 2], [10, 10, 1], [1, 0.3, 4], [0, 1, 0]])(
    'of cost hold with the default limits: %d pays for calls of %d until nothing is left',
    async (cost, each, calls) => {
      const left: unknown[] = [];
      const { planner } = testPlanner((task) => {
        left.push(task.left?.cost);
        return Promise.resolve({ type: 'next', actions: [], usage: { cost: each } });
      });
      const outcome = await planner.run({ goal: 'g', budget: { cost, steps: 20 } }, me);
      expect(outcome).toMatchObject({
        state: 'failed',
        error: { code: 'budget_exceeded', details: { reason: 'cost_limit' } },
      });
      expect(left.every((amount) => Number(amount) > 0)).toBe(true);
      expect(left).toHaveLength(calls);
    },
  );

  it.each([NaN, Infinity, -5, '7'])('of tokens and cost are exhausted by a call that reports %s', async (given) => {
    const odd = given as number; // what is no number comes from an agent that is not typed
    for (const usage of [{ tokens: odd }, { cost: odd }]) {
      let runs = 0;
      const { planner } = testPlanner(async () => {
        await Promise.resolve();
        runs++;
        return { type: 'next', actions: [], usage };
      });
      const outcome = await planner.run({ goal: 'g', budget: { tokens: 10_000, cost: 1000, steps: 5 } }, me);
      expect(outcome).toMatchObject({ state: 'failed', error: { code: 'budget_exceeded' } });
      expect(runs).toBe(1);
    }
  });

  it('of a child are taken from its parent’s, and what it leaves is given back', async () => {
    const { planner } = testPlanner(async (task) => {
      if (task.depth > 0) return { type: 'done', result: task.goal, usage: { tokens: 100 } };
      if (task.step === 1) {
        return next(
          { type: 'create', key: 'a', goal: 'a', budget: { tokens: 600 } },
          { type: 'create', key: 'b', goal: 'b', budget: { tokens: 600 } },
        );
      }
      if (task.step === 2) return next({ type: 'create', key: 'c', goal: 'c', budget: { tokens: 800 } });
      return done(task.inbox.map((item) => item.type === 'outcome' ? item.ok : item.type));
    }, { limits: { reserve: { tokens: 100, cost: 0 } } });
    const outcome = await planner.run({ goal: 'g', budget: { tokens: 1000 } }, me);
    expect(outcome).toMatchObject({ state: 'done' });
    const { planId } = outcome;
    const created = (await eventsOf(planner, planId)).flatMap(({ event }) =>
      event.type === 'agent.created' ? [event.key] : []
    );
    expect(created).toEqual([undefined, 'a', 'c']); // not b: 400 were left; c: 900 were
  });

  it('of time are absolute: they continue while no instance owns the plan, and have passed when one takes it over too late', async () => {
    const clock = testClock();
    const runAgent: RunAgent = async (task) =>
      task.step === 1 ? next({ type: 'ask_human', question: 'A?' }) : done('late');
    const { planner, storage } = testPlanner(runAgent, { now: clock.now });
    const { planId } = await planner.run({ goal: 'g', allowHumanIntervention: true, timeout: 1000 }, me);
    await planner.close();
    clock.advance(1000);
    const other = createPlanner({ storage, runAgent, now: clock.now });
    expect(await other.sweep()).toBe(1);
    const outcome = await other.outcome(planId, me);
    expect(outcome).toMatchObject({
      state: 'failed',
      error: { code: 'deadline_exceeded', details: { reason: 'plan_timeout' } },
    });
  });

  it('of time bind a child by its own and all above it', async () => {
    const clock = testClock();
    const deadlines: unknown[] = [];
    const { planner } = testPlanner(async (task) => {
      deadlines.push((task.deadlineAt ?? 0) - clock.now());
      if (task.depth < 2 && task.step === 1) {
        return next({ type: 'create', goal: 'g', timeoutMs: task.depth === 0 ? 500 : 900 });
      }
      return done(1);
    }, { now: clock.now });
    await planner.run({ goal: 'g', timeout: 1000 }, me);
    expect(deadlines).toEqual([1000, 500, 500, 500, 1000]);
  });

  it('of time end a working agent, and its parent receives the failure', async () => {
    const clock = testClock();
    const started = Promise.withResolvers<void>();
    const { planner } = testPlanner(async (task, { signal }) => {
      if (task.depth === 0) {
        return task.step === 1 ? next({ type: 'create', key: 'a', goal: 'g', timeoutMs: 500 }) : done(resultsOf(task));
      }
      started.resolve();
      return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    }, { now: clock.now });
    const { planId } = await planner.start({ goal: 'g' }, me);
    await started.promise;
    clock.advance(500);
    await planner.sweep();
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'done', result: { a: 'deadline_exceeded' } });
  });
});
