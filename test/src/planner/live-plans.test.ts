import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createPlanner, type Storage } from '../../../src/index.ts';
import { done, eventsOf, me, next, typesOf } from '../../fixtures/plan.ts';
import { mortal, stoppable, withPresence } from '../../fixtures/processes/lost-instance.ts';
import type { RunAgent } from '../../../src/planner/index.ts';

const never: RunAgent = () => new Promise(() => undefined);

/** A process that has started a plan, and another that ends what it takes over. */
async function twoProcesses({ inner = memoryStorage(), own = inner, runAgent = never }: {
  readonly inner?: Storage;
  readonly own?: Storage;
  readonly runAgent?: RunAgent;
} = {}) {
  const owner = createPlanner({ storage: own, runAgent });
  const { planId } = await owner.start({ goal: 'g' }, me);
  await vi.advanceTimersByTimeAsync(1_000); // its start is committed
  const taken: string[] = [];
  const other = createPlanner({
    storage: inner,
    async runAgent({ address }) {
      taken.push(address);
      return done('by the other');
    },
  });
  return { owner, other, planId, taken, inner };
}

describe('a plan of two processes', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('goes on at the other for a reader, seconds after the first was killed', async () => {
    const inner = memoryStorage();
    const { storage, kill } = mortal(inner);
    const { other, planId, taken } = await twoProcesses({ inner, own: storage });
    const outcome = other.outcome(planId, me);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(taken).toEqual([]); // while the first shows that it lives
    kill();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(taken).toEqual([]);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await outcome).toMatchObject({ state: 'done', result: 'by the other' });
    expect(await inner.list({ prefix: ['owned'], limit: 10 })).toEqual([]);
    await other.close();
  });

  it('goes on after one sweep, also where no caller waits for it', async () => {
    const inner = memoryStorage();
    const { storage, kill } = mortal(inner);
    const { other, planId } = await twoProcesses({ inner, own: storage });
    kill();
    await other.sweep();
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await other.outcome(planId, me)).toMatchObject({ state: 'done' });
    await other.close();
  });

  it('goes on at once where the storage knows that the first has ended, and not while that is frozen', async () => {
    const { storage: inner, end } = withPresence(memoryStorage());
    const { storage, kill } = mortal(inner);
    const { other, planId, taken } = await twoProcesses({ inner, own: storage });
    const outcome = other.outcome(planId, me);
    await vi.advanceTimersByTimeAsync(2_000); // it has seen the first
    kill();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(taken).toEqual([]);
    end(0);
    await vi.advanceTimersByTimeAsync(1);
    expect(taken).toEqual(['1']);
    expect(await outcome).toMatchObject({ state: 'done' });
    await other.close();
  });

  it('goes on at the other within a second when the first has handed it over', async () => {
    const { owner, other, planId, taken } = await twoProcesses();
    const outcome = other.outcome(planId, me);
    await owner.close({ handOver: true });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(taken).toEqual(['1']);
    expect(await outcome).toMatchObject({ state: 'done' });
    await other.close();
  });

  it('loses nothing where the first is stopped and goes on: its later writes have no effect', async () => {
    const inner = memoryStorage();
    const { storage, stop } = stoppable(inner);
    const gate = Promise.withResolvers<void>();
    const acted: string[] = [];
    const pay = (who: string): RunAgent => async (task) => {
      if (task.call) {
        acted.push(who);
        return { type: 'output', output: 'paid' };
      }
      if (task.step > 1) return done(who);
      if (who === 'first') await gate.promise;
      return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
    };
    const owner = createPlanner({ storage, runAgent: pay('first') });
    const other = createPlanner({ storage: inner, runAgent: pay('second') });
    const { planId } = await owner.start({ goal: 'g' }, me);
    await vi.advanceTimersByTimeAsync(1_000);
    const goOn = stop();
    gate.resolve();
    const outcome = other.outcome(planId, me);
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await outcome).toMatchObject({ state: 'done', result: 'second' });
    goOn();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(acted).toEqual(['second']);
    const types = typesOf(await eventsOf(other, planId));
    expect(types.filter((type) => type === 'run.done')).toHaveLength(1);
    expect(await owner.outcome(planId, me)).toMatchObject({ state: 'done', result: 'second' });
    await Promise.all([owner.close(), other.close()]);
  });

  it('starts nothing that acts while it is handed over: the next one does', async () => {
    const inner = memoryStorage();
    const acted: string[] = [];
    let closing: Promise<void> | undefined;
    const owner = createPlanner({
      storage: {
        ...inner,
        async commit(changes) {
          const result = await inner.commit(changes);
          if (JSON.stringify(changes).includes('step.started')) closing ??= owner.close({ handOver: true });
          return result;
        },
      },
      async runAgent(task) {
        if (task.call) acted.push(task.address);
        return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
      },
    });
    const { planId } = await owner.start({ goal: 'g', allowHumanIntervention: true }, me);
    await vi.advanceTimersByTimeAsync(1_000);
    await closing;
    expect(acted).toEqual([]);
    const other = createPlanner({ storage: inner, runAgent: never });
    const outcome = other.outcome(planId, me);
    await vi.advanceTimersByTimeAsync(2_000);
    // That the first has not made it is more than the record says.
    expect(await outcome).toMatchObject({ state: 'suspended', questions: [{ kind: 'lost_call' }] });
    await other.close();
  });

  it('waits longer each time where it kills every process that takes it', async () => {
    const inner = memoryStorage();
    const started: number[] = [];
    let kill: () => void = () => undefined;
    const one = () => {
      const process = mortal(inner);
      const planner = createPlanner({
        storage: process.storage,
        runAgent() {
          started.push(Date.now());
          kill = process.kill;
          process.kill();
          return new Promise(() => undefined);
        },
      });
      const sweeps = setInterval(() => void planner.sweep(), 3_000);
      return { planner, stop: () => clearInterval(sweeps) };
    };
    const startedAt = Date.now();
    const processes = [one()];
    await processes[0]?.planner.start({ goal: 'g' }, me);
    for (let at = 0; at < 300; at++) {
      await vi.advanceTimersByTimeAsync(1_000);
      if (started.length < processes.length) continue;
      processes.at(-1)?.stop();
      processes.push(one());
    }
    kill();
    processes.forEach(({ stop }) => stop());
    expect(started.length).toBeGreaterThanOrEqual(4);
    expect(started.length).toBeLessThanOrEqual(5); // in 300 s, in which it could be lost a hundred times
    expect(started.at(-1)).toBeGreaterThan(startedAt + 100_000);
  });
});
