import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { createEmit } from '../../../src/events/event-ring.ts';
import type { Authorization } from '../../../src/contracts/index.ts';
import { createPlanner, type ObservedEvent, type Storage } from '../../../src/index.ts';
import type { RunAgent } from '../../../src/planner/index.ts';
import { createPrincipal } from '../../../src/base/principal.ts';
import { declareDead } from '../../fixtures/processes/lost-instance.ts';
import { checkOrder } from '../../fixtures/plans/plan-order.ts';
import { linesOf } from '../../fixtures/events.ts';
import { eventProblems } from '../../../src/simulation/invariants.ts';
import { done, eventsOf, me, next, resultsOf, testClock, testPlanner } from '../../fixtures/plan.ts';

/** An agent whose children wait for a sign, one for each process. */
function waiting(sign: Promise<unknown>): RunAgent {
  return async (task) => {
    if (task.address !== '1') {
      await sign;
      return done(task.goal);
    }
    return task.step === 1
      ? next({ type: 'create', key: 'a', goal: 'a' }, { type: 'create', key: 'b', goal: 'b' })
      : done(resultsOf(task));
  };
}

describe('two processes with one plan', () => {
  it('have one owner; when that is known to be dead the other takes over, and later writes of the first have no effect', async () => {
    const clock = testClock();
    const storage = memoryStorage({ now: clock.now });
    const sign = Promise.withResolvers<void>();
    const told: ObservedEvent[] = [];
    const first = createPlanner({
      storage,
      now: clock.now,
      runAgent: waiting(sign.promise),
      emit: createEmit({ sinks: [(event) => void told.push(event)], now: clock.now }),
    });
    const { planId } = await first.start({ goal: 'g' }, me);
    await expect.poll(() => eventsOf(first, planId)).toHaveLength(5);
    const second = createPlanner({
      storage,
      now: clock.now,
      runAgent: waiting(Promise.resolve()),
      emit: createEmit({ sinks: [(event) => void told.push(event)], now: clock.now }),
    });
    clock.advance(60_000);
    expect(await second.sweep()).toBe(0);
    await declareDead(storage);
    await second.sweep();
    expect(await second.outcome(planId, me)).toMatchObject({ state: 'done', result: { a: 'a', b: 'b' } });
    sign.resolve();
    expect(await first.outcome(planId, me)).toMatchObject({ state: 'done' });
    const events = await eventsOf(second, planId);
    checkOrder(events);
    const ends = told.filter(({ action }) => action === 'agent.end').map(({ target }) => target.id);
    expect(ends).toEqual(['1-1', '1-2', '1']); // nothing was emitted twice
    // The steps of the first go on until it has noticed.
    expect(eventProblems(told).filter((fault) => !fault.endsWith('step: outlives its parent'))).toEqual([]);
  });

  it('wait for the same outcome', async () => {
    const sign = Promise.withResolvers<void>();
    const { planner, storage } = testPlanner(waiting(sign.promise));
    const { planId } = await planner.start({ goal: 'g' }, me);
    const other = createPlanner({ storage, runAgent: waiting(sign.promise) });
    const elsewhere = other.outcome(planId, me);
    await other.cancel(planId, me); // by whom the plan is not run
    expect(await elsewhere).toMatchObject({ state: 'cancelled' });
    expect(await planner.outcome(planId, me)).toMatchObject({ state: 'cancelled' });
  });

  it('return the outcome to a caller elsewhere whose read came just before the end', async () => {
    const sign = Promise.withResolvers<void>();
    const { planner, storage } = testPlanner(waiting(sign.promise));
    const { planId } = await planner.start({ goal: 'g' }, me);
    const late: Storage = {
      ...storage,
      async get(key) {
        const entry = await storage.get(key);
        if (key.at(-1) !== 'head') return entry;
        sign.resolve();
        await planner.outcome(planId, me);
        return entry;
      },
    };
    const other = createPlanner({ storage: late, runAgent: waiting(sign.promise) });
    expect(await other.outcome(planId, me)).toMatchObject({ state: 'done' });
  });
});

describe('a plan', () => {
  it('is begun once for one key, also by two at once', async () => {
    const { planner } = testPlanner(async () => done(1));
    let traces = 0;
    const start = () =>
      planner.start({ goal: 'g', traceId: String(traces++).padStart(32, '0') }, me, { idempotencyKey: 'k' });
    const [a, b] = await Promise.all([start(), start()]);
    expect(a).toEqual(b);
    expect(await start()).toEqual(a);
    await expect(planner.start({ goal: 'other' }, me, { idempotencyKey: 'k' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    const stranger = createPrincipal({ ...me, tenant: 'other' });
    expect((await planner.start({ goal: 'g' }, stranger, { idempotencyKey: 'k' })).planId).not.toBe(a.planId);
  });

  it('is nothing to another tenant', async () => {
    const { planner } = testPlanner(async () => done(1));
    const { planId } = await planner.run({ goal: 'g' }, me);
    const stranger = createPrincipal({ ...me, tenant: 'other' });
    const refused = { code: 'not_found', details: { reason: 'plan_not_found' } };
    await expect(planner.outcome(planId, stranger)).rejects.toMatchObject(refused);
    await expect(planner.events(planId, stranger)).rejects.toMatchObject(refused);
    await expect(planner.questions(planId, stranger)).rejects.toMatchObject(refused);
    await expect(planner.cancel(planId, stranger)).rejects.toMatchObject(refused);
    await expect(planner.read(planId, stranger, { name: '1.1', length: 1, preview: '' })).rejects.toMatchObject(
      refused,
    );
  });

  it('needs no further attention when it has ended', async () => {
    const { planner, storage } = testPlanner(async () => done(1));
    await planner.run({ goal: 'g' }, me);
    expect(await storage.list({ prefix: ['due'], limit: 10 })).toEqual([]);
  });

  it('accepts a UUID as traceId and emits it as 32 hexadecimal digits', async () => {
    const told: ObservedEvent[] = [];
    const { planner } = testPlanner(waiting(Promise.resolve()), {
      emit: createEmit({ sinks: [(event) => void told.push(event)], now: Date.now }),
    });
    await planner.run({ goal: 'g', traceId: '0AF76519-16cd-43dd-8448-eb211c80319c' }, me);
    expect(new Set(told.map(({ traceId }) => traceId))).toEqual(new Set(['0af7651916cd43dd8448eb211c80319c']));
  });

  it('emits an event for everything in the journal, with its trace and spans that form a tree', async () => {
    const told: ObservedEvent[] = [];
    const { planner } = testPlanner(waiting(Promise.resolve()), {
      emit: createEmit({ sinks: [(event) => void told.push(event)], now: Date.now }),
    });
    const traceId = '0af7651916cd43dd8448eb211c80319c';
    const parentSpanId = 'b7ad6b7169203331';
    const { planId } = await planner.run({ goal: 'sk-SECRET', traceId, parentSpanId }, me);
    expect(linesOf(told)).toEqual([
      'plan pending',
      'plan > agent pending',
      'plan > agent > step pending',
      'plan > agent > step ok',
      'plan > agent > agent pending',
      'plan > agent > agent pending',
      'plan > agent > agent > step pending',
      'plan > agent > agent > step pending',
      'plan > agent > agent > step ok',
      'plan > agent > agent > step ok',
      'plan > agent > agent ok',
      'plan > agent > agent ok',
      'plan > agent > step pending',
      'plan > agent > step ok',
      'plan > agent ok',
      'plan ok',
    ]);
    expect(eventProblems(told)).toEqual([]);
    expect(told.every((event) => event.traceId === traceId)).toBe(true);
    expect(told[0]).toMatchObject({ parentSpanId, target: { type: 'plan', id: planId } });
    expect(JSON.stringify(told)).not.toContain('SECRET');
  });
});

describe('the hook before an agent is created', () => {
  const told = async (authorize: NonNullable<Parameters<typeof createPlanner>[0]['authorize']>): Promise<unknown> => {
    const { planner } = testPlanner(async (task) => {
      if (task.address !== '1') return done(task.goal);
      if (task.step > 1) return done(task.inbox.map((item) => item.type === 'outcome' && (item.ok || item.error.code)));
      return next({ type: 'create', goal: 'a', agentId: 'allowed' }, {
        type: 'create',
        goal: 'b',
        agentId: 'disabled',
      });
    }, { authorize });
    const outcome = await planner.run({ goal: 'g', agentId: 'lead' }, me);
    return outcome.state === 'done' && outcome.result;
  };

  it('receives the creator, the task and the principal, and can refuse single agents', async () => {
    const asked: unknown[] = [];
    const result = await told((creator, child) => {
      asked.push([creator.address, creator.agentId, creator.owner.tenant, child]);
      return child.agentId === 'disabled' ? { decision: 'deny', reason: 'it is disabled' } : { decision: 'allow' };
    });
    expect(result).toEqual([true, 'forbidden', false]);
    expect(asked.slice(0, 2)).toEqual([
      ['', undefined, 'local', { goal: 'g', agentId: 'lead' }],
      ['1', 'lead', 'local', { goal: 'a', agentId: 'allowed' }],
    ]);
  });

  it('refuses all when it fails, or requires an approval', async () => {
    const below = (answer: () => Authorization | Promise<Authorization>) =>
      told(({ address }) => address === '' ? { decision: 'allow' } : answer());
    expect(await below(() => Promise.reject(new Error('away')))).toEqual(['forbidden', 'forbidden']);
    expect(await below(() => ({ decision: 'ask', reason: 'ask first' }))).toEqual(['forbidden', 'forbidden']);
  });

  it.each([{}, { plan: { tasks: [{ key: 'a', goal: 'a' }] } }])('keeps the plan %j from starting', async (terms) => {
    const { planner, storage } = testPlanner(async () => done(1), {
      authorize: () => ({ decision: 'deny', reason: 'no' }),
    });
    const started = planner.start({ goal: 'g', ...terms }, me);
    await expect(started).rejects.toMatchObject({ code: 'forbidden' });
    expect(await storage.list({ prefix: [], limit: 1 })).toEqual([]);
  });
});

describe('a plan whose storage fails for a moment', () => {
  it('goes on by itself when that is back', async () => {
    const inner = memoryStorage();
    let failures = 0;
    const storage = {
      ...inner,
      commit: (changes: Parameters<typeof inner.commit>[0]) =>
        failures-- > 0 ? Promise.reject(new Error('away')) : inner.commit(changes),
    };
    let begun = 0;
    const runAgent: RunAgent = async (task) => {
      if (task.address !== '1') return done('a');
      if (task.step > 1) return done(resultsOf(task));
      if (++begun === 1) failures = 4;
      return next({ type: 'create', key: 'a', goal: 'a' });
    };
    const failing = createPlanner({ storage, runAgent, limits: { storageGraceMs: 20 } });
    expect(await failing.run({ goal: 'g' }, me)).toMatchObject({ state: 'done', result: { a: 'a' } });
    expect(begun).toBe(2);
  });
});

describe('a closed process', () => {
  it('starts no call whose start is committed only then, so its outcome cannot get lost', async () => {
    const inner = memoryStorage();
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    const storage = {
      ...inner,
      async commit(...args: Parameters<typeof inner.commit>) {
        const result = await inner.commit(...args);
        if (!JSON.stringify(args).includes('step.started')) return result;
        reached.resolve();
        await held.promise;
        return result;
      },
    };
    const paid: string[] = [];
    const runAgent: RunAgent = async (task) => {
      if (!task.call) return next({ type: 'call', tool: 'pay', input: {}, effect: 'unsafe' });
      paid.push(task.address);
      return done('paid');
    };
    const first = createPlanner({ storage, runAgent });
    await first.start({ goal: 'g' }, me);
    await reached.promise;
    const closed = first.close();
    held.resolve();
    await closed;
    await new Promise((resolve) => setTimeout(resolve));
    expect(paid).toEqual([]);
  });
});

describe('a sweep', () => {
  it('goes on with the others when one plan cannot be read', async () => {
    const clock = testClock();
    const inner = memoryStorage({ now: clock.now });
    const runAgent: RunAgent = async ({ step }) =>
      step === 1 ? next({ type: 'ask_human', question: 'A?', timeoutMs: 1000, onTimeout: 'continue' }) : done(1);
    const first = createPlanner({ storage: inner, runAgent, now: clock.now, limits: { lingerMs: 0 } });
    const plans = [];
    for (const goal of ['a', 'b', 'c']) plans.push(await first.run({ goal, allowHumanIntervention: true }, me));
    await first.close();
    const [broken, ...others] = plans.map(({ planId }) => planId);
    const storage = {
      ...inner,
      get: (key: Parameters<typeof inner.get>[0]) =>
        key[1] === broken ? Promise.reject(new Error('unreadable')) : inner.get(key),
    };
    clock.advance(1000);
    const second = createPlanner({ storage, runAgent, now: clock.now, limits: { storageGraceMs: 50 } });
    expect(await second.sweep()).toBe(2);
    for (const planId of others) expect(await second.outcome(planId, me)).toMatchObject({ state: 'done' });
  });
});
