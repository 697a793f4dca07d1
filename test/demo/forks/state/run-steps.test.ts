import { describe, expect, it } from 'vitest';
import { readSteps } from '../../../../demo/forks/state/run-steps.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';

const call = (toolCallId: string, input: unknown): UIMessageChunk => ({
  type: 'tool-input-available',
  toolCallId,
  toolName: 'add',
  input,
});
const text = (delta: string): UIMessageChunk => ({ type: 'text-delta', id: 't', delta });
const ended = (state: string): UIMessageChunk => ({
  type: 'data-run',
  id: 'run_1',
  data: { runId: 'run_1', traceId: 'aa', state },
});

describe('readSteps', () => {
  it('reads texts, calls and their outcomes step by step', () => {
    const run = readSteps([
      ended('running'),
      { type: 'start-step' },
      { type: 'reasoning-delta', id: 'r', delta: 'Hm' },
      call('a', { a: 1 }),
      call('b', { a: 2 }),
      call('c', { a: 3 }),
      { type: 'tool-output-available', toolCallId: 'a', output: 3 },
      { type: 'data-tool-error', data: { toolCallId: 'b', code: 'timeout', message: 'Too slow' } },
      { type: 'tool-output-error', toolCallId: 'b', errorText: 'It failed' },
      { type: 'tool-output-denied', toolCallId: 'c' },
      { type: 'finish-step' },
      { type: 'start-step' },
      text('It is '),
      text('3'),
      { type: 'finish-step' },
      ended('completed'),
    ]);
    expect(run).toMatchObject({ runId: 'run_1', traceId: 'aa', state: 'completed', fork: undefined });
    expect(run.steps.map(({ n, text: said, reasoning }) => [n, said, reasoning])).toEqual([[1, '', 'Hm'], [
      2,
      'It is 3',
      '',
    ]]);
    expect(run.steps[0]?.calls.map(({ id, outcome }) => [id, outcome])).toEqual([
      ['a', { type: 'output', output: 3 }],
      ['b', { type: 'error', code: 'timeout', message: 'Too slow' }],
      ['c', { type: 'denied' }],
    ]);
  });

  it('separates what a fork has replaced from what the original returned', () => {
    const fork = { parent: 'run_0', atStep: 2, changed: ['toolOutputs'], effects: 'dry', exact: false };
    const run = readSteps([
      ended('running'),
      { type: 'data-fork', id: 'run_1', data: fork },
      { type: 'start-step' },
      call('a', { a: 1 }),
      { type: 'tool-output-available', toolCallId: 'a', output: 3 },
      { type: 'finish-step' },
      { type: 'tool-output-available', toolCallId: 'a', output: 99 },
      { type: 'start-step' },
      text('99'),
    ]);
    expect(run.fork).toEqual(fork);
    expect(run.steps[0]?.calls[0]?.outcome).toEqual({ type: 'output', output: 3 });
    expect([...run.edited]).toEqual([['a', 99]]);
    expect(run.state).toBe('running');
  });
});
