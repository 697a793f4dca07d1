import { describe, expect, it } from 'vitest';
import { createPlanner } from '../../../src/index.ts';
import type { RunAgent, StepOutcome } from '../../../src/planner/index.ts';
import { done, me, next, testPlanner } from '../../fixtures/plan.ts';

const large = '漢'.repeat(100_000);
const values: readonly [string, unknown][] = [
  ['nothing', ''],
  ['60 KiB', 'x'.repeat(61_440)],
  ['1 MiB', 'x'.repeat(1_048_576)],
  ['Chinese', large],
  ['an emoji at every cut', '😀'.repeat(30_000)],
  ['what looks like a reference', { name: '1.1', length: 3, preview: 'abc' }],
  ['null', null],
  ['nested', { a: [{ b: ['c'] }] }],
];

describe('the values of a plan', () => {
  for (const [what, value] of values) {
    it(`are what agents gave: ${what}`, async () => {
      let delivered: unknown;
      const runAgent: RunAgent = async (task, context): Promise<StepOutcome> => {
        if (task.address !== '1') return done(value);
        if (task.step === 1) return { type: 'next', actions: [{ type: 'create', goal: 'g' }], memory: { kept: value } };
        expect(task.memory).toEqual({ kept: value });
        for (const item of task.inbox) {
          if (item.type === 'result' && item.ok) {
            delivered = item.result.ref ? await context.read(item.result.ref) : item.result.value;
          }
        }
        return done(value);
      };
      const { planner, storage } = testPlanner(runAgent);
      const outcome = await planner.run({ goal: 'g', context: [value] }, me);
      expect(outcome).toMatchObject({ state: 'done', result: value });
      expect(delivered).toEqual(value);
      const other = createPlanner({ storage, runAgent });
      expect(await other.outcome(outcome.planId, me)).toEqual(outcome);
    });
  }

  it('are references when they are large, with their first characters', async () => {
    const { planner } = testPlanner(async (task) => {
      if (task.address !== '1') return done(large);
      if (task.step === 1) return next({ type: 'create', key: 'a', goal: 'g' });
      return done(task.inbox.map((item) => item.type === 'result' && item.ok && item.result.ref));
    });
    const outcome = await planner.run({ goal: 'g' }, me);
    if (outcome.state !== 'done') throw new Error(outcome.state);
    const [, ref] = outcome.result as [unknown, { name: string; length: number; preview: string }];
    expect(ref).toMatchObject({ length: large.length + 2, preview: `"${large.slice(0, 199)}` });
    expect(await planner.read(outcome.planId, me, ref)).toBe(large);
    await expect(planner.read(outcome.planId, me, { ...ref, name: 'x' })).rejects.toMatchObject({ code: 'not_found' });
  });

  const bad: readonly [string, () => unknown, string][] = [
    ['that are no JSON', () => {
      const cycle: { self?: unknown } = {};
      cycle.self = cycle;
      return cycle;
    }, 'output_not_json'],
    ['with a BigInt', () => ({ big: 1n }), 'output_not_json'],
    ['that are too large', () => 'x'.repeat(2_100_000), 'output_too_large'],
  ];
  for (const [what, make, reason] of bad) {
    it(`${what} fail the agent that gave them`, async () => {
      const { planner } = testPlanner(async () => done(make()));
      expect(await planner.run({ goal: 'g' }, me)).toMatchObject({ state: 'failed', error: { details: { reason } } });
    });
  }

  it('of actions are checked: a step that asks for nonsense fails, and says why', async () => {
    const { planner } = testPlanner(async () => ({ type: 'next', actions: [{ type: 'create' } as never] }));
    expect(await planner.run({ goal: 'g' }, me)).toMatchObject({
      state: 'failed',
      error: { code: 'invalid_argument' },
    });
    const { planner: other } = testPlanner(async () => ({ type: 'output', output: 1 }));
    expect(await other.run({ goal: 'g' }, me)).toMatchObject({
      state: 'failed',
      error: { details: { reason: 'wrong_outcome' } },
    });
  });
});
