import { describe, expect, it } from 'vitest';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import { type UIMessageChunk } from '../../../src/index.ts';
import { planTools, type PlanView, readPlanCall } from '../../../src/planner/index.ts';
import { readAll, terminalChunks } from '../../fixtures/runtime.ts';
import { done, me, next, testPlanner } from '../../fixtures/plan.ts';

function viewsOf(chunks: readonly UIMessageChunk[]): PlanView[] {
  return chunks.flatMap((chunk) => chunk.type === 'data-plan' ? [chunk.data as PlanView] : []);
}

function statesOf(chunks: readonly UIMessageChunk[]): unknown[] {
  return chunks.flatMap((chunk) => chunk.type === 'data-run' ? [(chunk.data as { state: string }).state] : []);
}

describe('the stream of a plan', () => {
  it.each([
    ['cancelled', (stream: ReadableStream, _: AbortController) => stream.cancel()],
    ['left by an abort, and read no more', (_: ReadableStream, stop: AbortController) => Promise.resolve(stop.abort())],
  ])('watches nothing any more when it is %s', async (_, leave) => {
    let watchers = 0;
    const memory = memoryStorage();
    const storage: typeof memory = {
      ...memory,
      watch(keys, options) {
        watchers++;
        options.signal.addEventListener('abort', () => watchers--, { once: true });
        memory.watch(keys, options);
      },
    };
    const { planner } = testPlanner(() => new Promise(() => undefined), { storage });
    const { planId } = await planner.start({ goal: 'g' }, me);
    const before = watchers;
    const stop = new AbortController();
    const stream = planner.stream(planId, me, { signal: stop.signal });
    const reader = stream.getReader();
    for (let read = await reader.read(); read.value?.type !== 'data-plan';) read = await reader.read();
    reader.releaseLock();
    expect(watchers).toBe(before + 1);
    await leave(stream, stop);
    expect(watchers).toBe(before);
    await planner.cancel(planId, me);
    await planner.close();
  });

  it('shows the usage of each agent', async () => {
    const usage = { tokens: 30, cost: 0.5 };
    const { planner } = testPlanner(async (task) =>
      task.address === '1' && task.step === 1
        ? { ...next({ type: 'create', key: 'a', goal: 'a', budget: { tokens: 100 } }), usage: { tokens: 7 } }
        : task.address === '1'
        ? done('all')
        : { type: 'done', result: 'a', usage }
    );
    const { planId } = await planner.start({ goal: 'g' }, me);
    const last = viewsOf(await readAll(planner.stream(planId, me))).at(-1);
    expect(last?.tasks).toMatchObject([{ used: { tokens: 7, cost: 0 } }, { used: usage }]);
    expect(last?.used).toMatchObject({ tokens: 37, cost: 0.5 });
  });

  it('ends with a suspended state when only a person can go on, and shows the question', async () => {
    const { planner } = testPlanner(async (task) =>
      task.step === 1 ? next({ type: 'ask_human', question: 'Go on?' }) : done('yes')
    );
    const { planId } = await planner.start({ goal: 'g', allowHumanIntervention: true }, me);
    const chunks = await readAll(planner.stream(planId, me));
    expect(statesOf(chunks)).toEqual(['running', 'suspended']);
    expect(viewsOf(chunks).at(-1)).toMatchObject({
      state: 'suspended',
      questions: [{ question: 'Go on?', agent: '1' }],
    });
    expect(terminalChunks(chunks)).toHaveLength(1);
  });

  it('ends with the failure, or with the cancel', async () => {
    const { planner } = testPlanner(async (task) => {
      if (task.goal === 'fail') throw new Error('sk-SECRET');
      return await new Promise(() => undefined);
    });
    const failed = await planner.start({ goal: 'fail' }, me);
    const chunks = await readAll(planner.stream(failed.planId, me));
    expect(terminalChunks(chunks)).toEqual([{ type: 'error', errorText: 'internal: An internal error occurred' }]);
    expect(JSON.stringify(chunks)).not.toContain('SECRET');
    const { planId } = await planner.start({ goal: 'wait' }, me);
    await planner.cancel(planId, me);
    expect(terminalChunks(await readAll(planner.stream(planId, me)))).toEqual([{ type: 'abort', reason: 'requested' }]);
  });

  it('shows a large plan within 64 KiB, those at work first, in Chinese too', async () => {
    const tasks = Array.from({ length: 3000 }, (_, i) => ({ key: `t${i}`, goal: '漢'.repeat(300) }));
    const gate = Promise.withResolvers<void>();
    let count = 0;
    const { planner } = testPlanner(async () => {
      if (++count > 2000) await gate.promise;
      return done(1);
    }, { limits: { agents: 3001 } });
    const { planId } = await planner.start({ goal: 'g', maxParallelism: 8, plan: { tasks } }, me);
    await expect.poll(() => count).toBe(2008);
    const view = await planner.view(planId, me);
    expect(new TextEncoder().encode(JSON.stringify(view)).length).toBeLessThanOrEqual(65_536);
    expect(view.tasks.length + view.omitted).toBe(3001);
    expect(view.tasks.every(({ status }) => status !== 'done')).toBe(true);
    gate.resolve();
    await planner.outcome(planId, me);
  }, 30_000);
});

describe('planTools', () => {
  it('are the primitives, with schemas that models are shown', () => {
    expect(planTools.map(({ name }) => name)).toEqual(['create', 'send', 'ask_human', 'plan_revise', 'finish']);
    for (const { inputSchema, description } of planTools) {
      expect(inputSchema).toMatchObject({ type: 'object' });
      expect(description.length).toBeGreaterThan(20);
    }
  });

  it('are read as what a step wants done', async () => {
    const { planner } = testPlanner(async (task) => {
      const call = task.step === 1 && task.depth === 0
        ? readPlanCall('create', { goal: 'a', key: 'a' }, { callId: 'c1' })
        : readPlanCall('finish', { result: task.inbox, cites: ['1-1'] });
      return call?.type === 'action' ? next(call.action) : done(call?.result);
    });
    const outcome = await planner.run({ goal: 'g' }, me);
    expect(outcome).toMatchObject({
      result: [{ type: 'outcome', callId: 'c1', ok: true, output: { value: { address: '1-1' } } }, { key: 'a' }],
    });
    for (
      const [name, input] of [['send', { to: 'parent', body: 1 }], ['ask_human', { question: 'A?' }], ['plan_revise', {
        facts: ['a'],
      }]] as const
    ) {
      expect(readPlanCall(name, input)).toMatchObject({ type: 'action', action: { type: name } });
    }
    expect(readPlanCall('calculator', {})).toBeUndefined();
    expect(() => readPlanCall('create', { goal: '', budget: { tokens: 1e9 } })).toThrow(
      'Cannot read the input of tool "create"',
    );
  });
});
