import { describe, expect, it } from 'vitest';
import type { ToolCall } from '../../../../demo/chat/state/message.ts';
import {
  codeOf,
  notListed,
  type ProgramCall,
  programOf,
  resultOf,
  summaryOf,
  wordsOfCall,
} from '../../../../demo/chat/state/program.ts';

const counts = { state: 'completed', calls: 3, sideEffects: 1, replayed: 0 };

function callOf(program: unknown, more: Partial<ToolCall> = {}): ToolCall {
  return { name: 'code_run', dynamic: false, state: 'result', startedAt: 0, program, ...more };
}

describe('a program in a chat', () => {
  it('says how many calls it made, which were changes, and which wait', () => {
    const list = [{ n: 1, tool: 'a', state: 'waiting' }];
    const [done, waiting] = [counts, { ...counts, state: 'suspended', calls: 1, sideEffects: 0, list }].map((data) =>
      programOf(callOf(data))
    );
    expect(done && summaryOf(done)).toBe('3 calls, 1 change');
    expect(done && notListed(done)).toBe(3);
    expect(waiting && summaryOf(waiting)).toBe('1 call, 1 waiting');
  });

  it('is unknown before it starts, and where its data cannot be read', () => {
    expect(programOf(callOf(undefined))).toBeUndefined();
    expect(programOf(callOf({ state: 'sailing' }))).toBeUndefined();
  });

  it('has code once its input is complete, and a result once it is completed', () => {
    expect(codeOf(callOf(counts))).toBeUndefined();
    expect(codeOf(callOf(counts, { input: { code: 'return 1' } }))).toBe('return 1');
    expect(resultOf(callOf(counts, { output: 1 }))).toEqual({ value: 1 });
    expect(resultOf(callOf({ ...counts, state: 'suspended' }, { output: { $suspended: true } }))).toBeUndefined();
  });

  it.each<[Partial<ProgramCall>, string]>([
    [{ state: 'running' }, 'running'],
    [{ state: 'done', ms: 3 }, 'done in 3 ms'],
    [{ state: 'failed', code: 'timeout', ms: 20 }, 'failed with timeout after 20 ms'],
    [{ state: 'denied', code: 'forbidden' }, 'denied by you'],
    [{ state: 'waiting' }, 'waiting for your decision below'],
    [{ state: 'replayed' }, 'done before the program paused'],
    [{ state: 'replayed', code: 'timeout' }, 'failed with timeout before the program paused'],
  ])('says of a call %j: %s', (call, words) => {
    expect(wordsOfCall({ n: 1, tool: 'a', state: 'done', ...call })).toBe(words);
  });
});
