import { describe, expect, it } from 'vitest';
import { compareRuns, pairCalls } from '../../../../demo/forks/state/compare-runs.ts';
import type { RunStep, RunSteps, StepCall } from '../../../../demo/forks/state/run-steps.ts';

const callOf = (tool: string, input: unknown, output: unknown = 1): StepCall => ({
  id: JSON.stringify([tool, input]),
  tool,
  input,
  outcome: { type: 'output', output },
});
const stepOf = (n: number, text: string, calls: readonly StepCall[] = []): RunStep => ({
  n,
  text,
  reasoning: '',
  calls,
});
const runOf = (steps: readonly RunStep[], atStep?: number): RunSteps => ({
  runId: 'r',
  traceId: 't',
  state: 'completed',
  error: undefined,
  steps,
  fork: atStep === undefined ? undefined : { parent: 'p', atStep, changed: [], effects: 'dry', exact: false },
  edited: new Map(),
  usage: {},
});

describe('compareRuns', () => {
  it('has shared steps once, then a pair for each step of either run', () => {
    const shared = stepOf(1, 'shared');
    const original = runOf([shared, stepOf(2, 'a'), stepOf(3, 'only here')]);
    const { shared: before, pairs, different } = compareRuns(original, runOf([shared, stepOf(2, 'a')], 2));
    expect(before).toEqual([shared]);
    expect(pairs.map(({ n, isSame, left, right }) => [n, isSame, left?.text, right?.text])).toEqual([
      [2, true, 'a', 'a'],
      [3, false, 'only here', undefined],
    ]);
    expect(different).toBe(1);
  });

  it('counts a step as different for its text, its calls or their outcomes', () => {
    const original = runOf([stepOf(1, 'a', [callOf('x', 1)])]);
    const differs = (step: RunStep): boolean => compareRuns(original, runOf([step], 1)).different === 1;
    expect(differs(stepOf(1, 'a', [callOf('x', 1)]))).toBe(false);
    expect(differs(stepOf(1, 'b', [callOf('x', 1)]))).toBe(true);
    expect(differs(stepOf(1, 'a', [callOf('x', 2)]))).toBe(true);
    expect(differs(stepOf(1, 'a', [callOf('x', 1, 'other')]))).toBe(true);
  });
});

describe('pairCalls', () => {
  it('pairs equal calls in any order, then those of one tool, and names the rest', () => {
    const pairs = pairCalls(
      [callOf('a', { x: 1, y: 2 }), callOf('b', 1), callOf('gone', 1)],
      [callOf('b', 2), callOf('a', { y: 2, x: 1 }), callOf('new', 1)],
    );
    expect(pairs.map(({ change, left, right }) => [change, left?.tool, right?.tool])).toEqual([
      ['same', 'a', 'a'],
      ['changed', 'b', 'b'],
      ['removed', 'gone', undefined],
      ['added', undefined, 'new'],
    ]);
  });
});
