import { describe, expect, it, vi } from 'vitest';
import { answerText, type AssistantMessage, createAnswer } from '../../../../demo/chat/state/message.ts';
import { type Run, startRun, stopWithinMs, type Transport } from '../../../../demo/chat/state/run.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { fakeTransport } from '../../../fixtures/page/fake-transport.ts';

function start(transport: Transport): { run: Run; answer: AssistantMessage } {
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
