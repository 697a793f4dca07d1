import { describe, expect, it } from 'vitest';
import { createPlanner } from '../../../src/index.ts';
import type { RunAgent, StepOutcome } from '../../../src/planner/index.ts';
import { done, me, testPlanner } from '../../fixtures/plan.ts';

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
