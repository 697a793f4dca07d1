import { describe, expect, it } from 'vitest';
import type { PlanRequestInput, RunAgent } from '../../../src/planner/index.ts';
import { done, me, resultsOf, testPlanner } from '../../fixtures/plan.ts';

const tasks = [
  { key: 'report', goal: 'report', after: ['left', 'right'] },
  { key: 'left', goal: 'left', after: ['base'] },
  { key: 'right', goal: 'right', after: ['base'] },
  { key: 'base', goal: 'base' },
  { key: 'aside', goal: 'aside' },
];
const joining: RunAgent = async (task) => done([task.goal, ...Object.values(resultsOf(task))].join(' '));

describe('a given plan', () => {
  it('fails with a task, unless that says otherwise', async () => {
    const failing: RunAgent = async (task) => {
      if (task.goal === 'right') throw new Error('No');
      return await joining(task, {
        read: async () => undefined,
        signal: new AbortController().signal,
        spanId: '',
        parentSpanId: undefined,
      });
    };
    const { planner } = testPlanner(failing);
    expect(await planner.run({ goal: 'g', plan: { tasks } }, me)).toMatchObject({
      state: 'failed',
      error: { code: 'internal' },
    });
    const lenient = tasks.map((task) => ({ ...task, onFailure: 'collect' as const }));
    expect(await planner.run({ goal: 'g', plan: { tasks: lenient, result: 'report' } }, me)).toMatchObject({
      result: 'report left base internal',
    });
  });

  const wrong: readonly [string, object][] = [
    ['a goal that is empty', { goal: '' }],
    ['two tasks of one key', { plan: { tasks: [{ key: 'a', goal: 'a' }, { key: 'a', goal: 'b' }] } }],
    ['a task after one that is not there', { plan: { tasks: [{ key: 'a', goal: 'a', after: ['b'] }] } }],
    ['tasks that wait for each other', {
      plan: { tasks: [{ key: 'a', goal: 'a', after: ['b'] }, { key: 'b', goal: 'b', after: ['a'] }] },
    }],
    ['a task after itself', { plan: { tasks: [{ key: 'a', goal: 'a', after: ['a'] }] } }],
    ['a result that is no task', { plan: { tasks: [{ key: 'a', goal: 'a' }], result: 'b' } }],
    ['more tasks than agents', { plan: { tasks }, budget: { agents: 5 } }],
    ['tasks where no depth is allowed', { plan: { tasks }, maxDepth: 0 }],
    ['a trace id that is none', { traceId: 'abc' }],
    ['no parallelism', { maxParallelism: 0 }],
    ['an unknown field', { depth: 3 }],
    ['a budget below nothing', { budget: { cost: -1 } }],
    ['context that is no JSON', { context: [() => 1] }],
  ];
  for (const [what, part] of wrong) {
    it(`is refused with ${what}`, async () => {
      const { planner, storage } = testPlanner(joining);
      const request = { goal: 'g', ...part } as PlanRequestInput;
      await expect(planner.run(request, me)).rejects.toMatchObject({ code: 'invalid_argument' });
      expect(await storage.list({ prefix: [], limit: 1 })).toEqual([]);
    });
  }

  it('of 10,000 tasks is refused by default, and ends where the limit is raised', async () => {
    const many = Array.from({ length: 10_000 }, (_, i) => ({ key: `t${i}`, goal: `${i}` }));
    const request = { goal: 'g', plan: { tasks: many } };
    const { planner } = testPlanner(async () => done(1));
    await expect(planner.run(request, me)).rejects.toMatchObject({ code: 'invalid_argument' });
    const { planner: larger } = testPlanner(async ({ goal }) => done(Number(goal)), { limits: { agents: 10_001 } });
    const outcome = await larger.run(request, me);
    expect(outcome).toMatchObject({ state: 'done', result: { t0: 0, t9999: 9999 } });
    expect(await larger.view(outcome.planId, me)).toMatchObject({ counts: { done: 10_001 } });
  }, 30_000);
});
