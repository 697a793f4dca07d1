import { describe, expect, it } from 'vitest';
import { createAnswer } from '../../../../demo/chat/state/message.ts';
import { createReceiver } from '../../../../demo/chat/state/receive.ts';
import { toStored } from '../../../../demo/chat/store/stored-message.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';

const data = { attempt: 2, of: 3, delayMs: 4000, retryAt: 14_000, providerId: 'p', modelId: 'm', code: 'rate_limited' };

function receive(now: number, ...chunks: readonly object[]) {
  const answer = createAnswer({ id: 'a', model: 'm', startedAt: 0 });
  const receiver = createReceiver(answer, { now: () => now });
  for (const chunk of chunks) receiver.receive(chunk as UIMessageChunk); // safe: malformed ones must do no harm
  return { answer, receiver };
}

describe('data-retry', () => {
  it.each([
    ['at once', 10_000, 14_000],
    ['in the middle of the wait', 13_000, 14_000],
    ['after the wait, or with a clock that is ahead', 90_000, 90_000],
    ['with a clock that is behind', 1000, 5000],
  ])('that is received %s is due no later than its delay', (_name, now, dueAt) => {
    const { answer } = receive(now, { type: 'data-retry', data, transient: true });
    expect(answer.retry.value).toMatchObject({ attempt: 2, of: 3, dueAt });
  });

  it('ends with an answer that ends otherwise', () => {
    const { answer, receiver } = receive(10_000, { type: 'data-retry', data });
    receiver.end({ type: 'stopped', by: 'page', endedAt: 1 });
    expect(answer.retry.value).toBeUndefined();
  });

  it('is not stored, and changes nothing when it is malformed', () => {
    expect(JSON.stringify(toStored(receive(10_000, { type: 'data-retry', data }).answer))).not.toContain('4000');
    expect(receive(10_000, { type: 'data-retry', data: { attempt: 'x' } }).answer.retry.value).toBeUndefined();
  });
});
