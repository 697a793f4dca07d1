import { describe, expect, it } from 'vitest';
import { createPlanner } from '../../../src/index.ts';
import type { RunAgent } from '../../../src/planner/index.ts';
import { actingAgent } from '../../fixtures/plans/plan-crash.ts';
import { checkOrder } from '../../fixtures/plans/plan-order.ts';
import { done, eventsOf, me, next, resultsOf, testPlanner, typesOf } from '../../fixtures/plan.ts';

/** A tree of agents whose leaves work until they are stopped. */
function endless(): { readonly runAgent: RunAgent; readonly signals: AbortSignal[]; readonly started: Promise<void> } {
  const signals: AbortSignal[] = [];
  const { promise: started, resolve } = Promise.withResolvers<void>();
  return {
    signals,
    started,
    runAgent: async (task, { signal }) => {
      if (task.depth < 2 && task.step === 1) {
        return next({ type: 'create', key: 'a', goal: 'a' }, { type: 'create', key: 'b', goal: 'b' });
      }
      if (task.depth < 2) return done(resultsOf(task));
      if (signals.push(signal) === 4) resolve();
      return await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
  };
}

describe('a cancel', () => {
  it('stops everything at work, and ends leaves before what they hang on', async () => {
    const { runAgent, signals, started } = endless();
    const { planner } = testPlanner(runAgent);
    const { planId } = await planner.start({ goal: 'g' }, me);
    await started;
    await planner.cancel(planId, me, { reason: 'too slow' });
    expect(await planner.outcome(planId, me)).toEqual({ planId, state: 'cancelled', reason: 'too slow' });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true, true, true]);
    const events = await eventsOf(planner, planId);
    checkOrder(events);
    const cancelled = events.flatMap(({ event }) => event.type === 'agent.cancelled' ? [event.id] : []);
    expect(cancelled).toEqual(['1-1-1', '1-1-2', '1-2-1', '1-2-2', '1-1', '1-2', '1']);
    expect(events.at(-1)?.event.type).toBe('run.cancelled');
    await planner.cancel(planId, me); // changes nothing
    expect(await eventsOf(planner, planId)).toHaveLength(events.length);
  });

  it('of one agent leaves its siblings at work, and its later result counts as late', async () => {
    const [started, release] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const runAgent: RunAgent = async (task) => {
      if (task.address === '1' && task.step === 1) {
        return next({ type: 'create', key: 'a', goal: 'a' }, { type: 'create', key: 'b', goal: 'b' });
      }
      if (task.address === '1') return done(resultsOf(task));
      if (task.goal === 'b') started.resolve();
      await release.promise; // whatever its signal says
      return { type: 'done', result: task.goal, usage: { tokens: 5 } };
    };
    const { planner } = testPlanner(runAgent);
    const { planId } = await planner.start({ goal: 'g' }, me);
    await started.promise;
    await planner.cancel(planId, me, { address: '1-1' });
    release.resolve();
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'done', result: { a: 'cancelled', b: 'b' } });
    expect(typesOf(await eventsOf(planner, planId))).toContain('step.late');
  });

  it('by the signal of the waiting caller ends the plan', async () => {
    const { runAgent, started } = endless();
    const { planner } = testPlanner(runAgent);
    const controller = new AbortController();
    void started.then(() => controller.abort());
    expect(await planner.run({ goal: 'g' }, me, { signal: controller.signal })).toMatchObject({
      state: 'cancelled',
      reason: 'aborted',
    });
  });

  it('returns the unsafe calls that were running', async () => {
    const started = Promise.withResolvers<void>();
    const { planner } = testPlanner(async (task) => {
      if (!task.call) return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
      started.resolve();
      return await new Promise(() => undefined);
    });
    const { planId } = await planner.start({ goal: 'g' }, me);
    await started.promise;
    await planner.cancel(planId, me);
    const events = await eventsOf(planner, planId);
    expect(events.find(({ event }) => event.type === 'agent.cancelled')?.event).toMatchObject({
      id: '1',
      unknown: ['1#1.1'],
    });
  });

  it('shows an agent whose unsafe call was under way as outcome_unknown, and repeats nothing', async () => {
    const started = Promise.withResolvers<void>();
    const { planner } = testPlanner(async (task) => {
      if (!task.call) return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
      started.resolve();
      return await new Promise(() => undefined);
    });
    const { planId } = await planner.start({ goal: 'g' }, me);
    await started.promise;
    await planner.cancel(planId, me);
    expect((await planner.view(planId, me)).tasks).toMatchObject([
      { address: '1', status: 'cancelled', error: { code: 'outcome_unknown', retryable: false } },
    ]);
  });

  it('and a deadline alike leave an unsafe call outcome_unknown', async () => {
    const { planner } = testPlanner(async (task) => {
      if (task.call) return await new Promise(() => undefined);
      return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
    });
    const outcome = await planner.run({ goal: 'g', timeout: 50 }, me);
    expect(outcome).toMatchObject({
      state: 'failed',
      error: {
        code: 'outcome_unknown',
        retryable: false,
        details: { endedBy: 'deadline_exceeded', unknown: ['1#1.1'] },
      },
    });
  });

  it('comes at any moment, and nothing is on record after it', async () => {
    for (let nth = 1; nth < 40; nth++) {
      let count = 0;
      const act = actingAgent(new Map());
      const { planner } = testPlanner(async (task, context) => {
        if (++count === nth) await planner.cancel(task.planId, me);
        return await act(task, context);
      });
      const { planId, state } = await planner.run({ goal: 'g' }, me);
      const events = await eventsOf(planner, planId);
      checkOrder(events);
      expect(events.at(-1)?.event.type).toBe(`run.${state}`);
      if (state === 'done') return expect(nth).toBeGreaterThan(15);
    }
  });
});

describe('a pause', () => {
  it('starts nothing more until it is over, in whichever process', async () => {
    const first = Promise.withResolvers<void>();
    const seen: string[] = [];
    const runAgent: RunAgent = async (task) => {
      seen.push(`${task.address}#${task.step}`);
      if (task.step === 1) {
        await first.promise;
        return task.depth === 0 ? next({ type: 'create', goal: 'a', key: 'a' }) : done('a');
      }
      return done(resultsOf(task));
    };
    const { planner, storage } = testPlanner(runAgent);
    const { planId } = await planner.start({ goal: 'g' }, me);
    await planner.pause(planId, me);
    first.resolve();
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'suspended', questions: [] });
    expect(seen).toEqual(['1#1']);
    const other = createPlanner({ storage, runAgent });
    await other.resume(planId, me);
    expect(await other.outcome(planId, me)).toMatchObject({ state: 'done', result: { a: 'a' } });
  });
});
