import { describe, expect, it, vi } from 'vitest';
import { answerText, type AssistantMessage, createAnswer, type ToolCall } from '../../../../demo/chat/state/message.ts';
import { describeProblem } from '../../../../demo/chat/state/problem.ts';
import {
  codeOf,
  notListed,
  type ProgramCall,
  programOf,
  resultOf,
  summaryOf,
  wordsOfCall,
} from '../../../../demo/chat/state/program.ts';
import { startRun, stopWithinMs, type Transport } from '../../../../demo/chat/state/run.ts';
import { errorCodes } from '../../../../src/base/errors.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { fakeTransport } from '../../../fixtures/page/fake-transport.ts';

function start(transport: Transport): { run: ReturnType<typeof startRun>; answer: AssistantMessage } {
  const answer = createAnswer({ id: 'a', model: 'rehearsal', startedAt: 0 });
  const messages = [{ id: 'q', role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }];
  const run = startRun({ transport, chatId: 'chat', agentId: 'mate', messages, answer, now: () => 7 });
  return { run, answer };
}

const opening: UIMessageChunk = { type: 'data-run', id: 'run_1', data: { runId: 'run_1' } };

describe('startRun', () => {
  it('reads on behind the last chunk that was taken in', async () => {
    const transport = fakeTransport();
    const { run, answer } = start(transport);
    run.leave(); // which run it is has not been said yet
    transport.write(opening, { type: 'text-delta', id: 't', delta: 'Good ' });
    await vi.waitFor(() => expect(answerText(answer)).toBe('Good'));
    run.leave();
    expect(run.reading.value).toEqual({ isLeft: true, leftAt: [2] });
    expect(answer.outcome.value.type).toBe('running');
    run.readOn();
    await vi.waitFor(() => expect(transport.resumed).toMatchObject([{ runId: 'run_1', after: 2 }]));
    transport.write({ type: 'text-delta', id: 't', delta: 'day' }, { type: 'finish', finishReason: 'stop' });
    transport.close();
    await run.ended;
    expect(answerText(answer)).toBe('Good day');
    expect(run.reading.value).toEqual({ isLeft: false, leftAt: [2] });
  });

  it('ends in time when the runtime does not answer to the stop', async () => {
    vi.useFakeTimers();
    try {
      const { run, answer } = start(fakeTransport({ isDeaf: true }));
      run.stop();
      await vi.advanceTimersByTimeAsync(stopWithinMs);
      await run.ended;
      expect(answer.outcome.value).toMatchObject({ type: 'stopped', by: 'person' });
    } finally {
      vi.useRealTimers();
    }
  });

  it('hides the message of a foreign error', async () => {
    const transport = fakeTransport();
    const { run, answer } = start(transport);
    await vi.waitFor(() => expect(transport.sent).toHaveLength(1));
    transport.fail(new Error('secret'));
    await run.ended;
    expect(answer.outcome.value).toMatchObject({ type: 'failed', error: { code: 'internal' } });
    expect(JSON.stringify(answer.outcome.value)).not.toContain('secret');
  });
});

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

describe('describeProblem', () => {
  it.each(errorCodes.filter((code) => code !== 'internal'))('has words of its own for %s', (code) => {
    const { title, remedies } = describeProblem({ code, message: '', retryable: false });
    expect(title).not.toBe('Something went wrong');
    expect(remedies.length).toBeGreaterThan(0);
  });

  it('opens the settings for a key that was refused', () => {
    const problem = describeProblem({
      code: 'unavailable',
      message: '',
      retryable: false,
      details: { reason: 'provider_auth' },
    });
    expect(problem).toMatchObject({ title: 'The model server refused the key', remedies: ['settings', 'retry'] });
  });

  it.each(['internal', 'from_the_future', 'constructor', '__proto__'])('takes the blame for %s', (code) => {
    expect(describeProblem({ code, message: '', retryable: false, details: { reason: 'toString' } })).toMatchObject({
      title: 'Something went wrong',
      remedies: ['retry', 'reload'],
    });
  });

  it.each([[100, 'a second'], [2500, '3 seconds'], [600_000, '10 minutes']])(
    'says how long to wait: %i ms',
    (retryAfterMs, words) => {
      expect(describeProblem({ code: 'rate_limited', message: '', retryable: true, retryAfterMs }).advice).toContain(
        words,
      );
    },
  );
});

const error = (details: Record<string, unknown>) =>
  describeProblem({ code: 'budget_exceeded', message: 'm', retryable: false, retryAfterMs: 43_200_000, details });

describe('the problem of a budget of a period', () => {
  it.each([
    ['subject', 'day', 'Your day’s budget is used'],
    ['tenant', 'month', 'Your team’s budget for this month is used'],
    ['agent', 'hour', 'This agent’s budget for this hour is used'],
  ])('says whose it is and when it starts again: of a %s', (of, every, title) => {
    const problem = error({ reason: 'period_tokens', budget: 'b', of, every, resetsAt: '2026-11-28T12:00:00.000Z' });
    expect(problem.title).toBe(title);
    expect(problem.advice).toMatch(/^It starts again at .*2026.*\./);
    expect(problem.advice).not.toContain('minutes');
  });

  it('says so without facts too, and leaves other limits as they are', () => {
    expect(error({ reason: 'period_runs' })).toMatchObject({
      title: 'Your period’s budget is used',
      advice: expect.stringContaining('with the next one'),
    });
    expect(error({ reason: 'steps' }).title).toBe('The run reached its limit');
  });
});
