import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner, createPrincipal, type Principal, type Storage } from '../../../src/index.ts';
import type { RunAgent } from '../../../src/planner/index.ts';
import { mortal } from '../../fixtures/processes/lost-instance.ts';
import { says, scriptedModel, stallingStream } from '../../fixtures/model.ts';
import { done, me, next, testClock } from '../../fixtures/plan.ts';
import { runRequest, testRuntime } from '../../fixtures/runtime.ts';

const asks: RunAgent = async ({ step }) =>
  step === 1 ? next({ type: 'ask_human', question: 'A?', timeoutMs: 1000, onTimeout: 'continue' }) : done(1);

/** A storage with plans that wait for a second, and their clock. */
async function waitingPlans(count: number, principalOf: (at: number) => Principal = () => me) {
  const clock = testClock();
  const storage = memoryStorage({ now: clock.now });
  const planner = createPlanner({ storage, runAgent: asks, now: clock.now, limits: { lingerMs: 0 } });
  for (let at = 0; at < count; at++) {
    await planner.run({ goal: `g${at}`, allowHumanIntervention: true }, principalOf(at));
  }
  await planner.close();
  clock.advance(1000);
  return { storage, other: () => createPlanner({ storage, runAgent: asks, now: clock.now }) };
}

/** The same data as version 0.2 has stored it. */
async function asOfEarlier(storage: Storage): Promise<void> {
  for (const { key } of await storage.list({ prefix: ['due'], limit: 1000 })) {
    await storage.commit([{ key }, { key: ['plan-due', key[1] ?? 0, key[2] ?? ''], value: key[2] }]);
  }
}

describe('the index of due things', () => {
  it('starts 16 things of a tenant in a sweep, the others in the next, and holds up no other tenant', async () => {
    const tenant = (at: number) => createPrincipal({ ...me, tenant: at === 20 ? 'b' : 'a' });
    const planner = (await waitingPlans(21, tenant)).other();
    expect(await planner.sweep()).toBe(17);
    expect(await planner.sweep()).toBe(4);
  });

  it('is read as version 0.2 has written it, and nothing of that is left when the plan has ended', async () => {
    const { other, storage } = await waitingPlans(2);
    await asOfEarlier(storage);
    const planner = other();
    expect(await planner.sweep()).toBe(2);
    await expect.poll(() => storage.list({ prefix: ['due'], limit: 10 })).toEqual([]);
    expect(await storage.list({ prefix: ['plan-due'], limit: 10 })).toEqual([]);
  });

  it('wakes a plan without a sweep while the process lives', async () => {
    const planner = createPlanner({ storage: memoryStorage(), runAgent: asksFor(50), limits: { lingerMs: 0 } });
    const { planId } = await planner.run({ goal: 'g', allowHumanIntervention: true }, me);
    await expect.poll(async () => (await planner.view(planId, me)).state).toBe('done');
  });

  it('leaves what another room has started to processes with that room', async () => {
    const storage = memoryStorage();
    await storage.commit([{ key: ['due', 1, 'other_1'], value: 'local' }]);
    const runtime = testRuntime({ ...scriptedModel(says('ok')), storage });
    expect(await runtime.sweep()).toBe(0);
    expect(await storage.list({ prefix: ['due'], limit: 10 })).toHaveLength(1);
  });

  it('finds the runs of a dead instance by sweeps alone', async () => {
    const storage = memoryStorage();
    const dying = mortal(storage);
    const first = testRuntime({ ...scriptedModel(() => stallingStream([])), storage: dying.storage });
    const { runId } = await first.start(runRequest(), me, {});
    await expect.poll(() => storage.list({ prefix: ['owned'], limit: 10 })).toHaveLength(1);
    dying.kill();
    const second = testRuntime({ ...scriptedModel(says('recovered')), storage });
    const isEnded = async (): Promise<boolean> => {
      await second.sweep();
      return (await storage.list({ prefix: ['owned'], limit: 10 })).length === 0;
    };
    await expect.poll(isEnded, { timeout: 30_000, interval: 500 }).toBe(true);
    expect(await second.runs.status(me, runId)).toMatchObject({ state: 'completed' });
  });
});

function asksFor(timeoutMs: number): RunAgent {
  return async ({ step }) =>
    step === 1 ? next({ type: 'ask_human', question: 'A?', timeoutMs, onTimeout: 'continue' }) : done(1);
}
