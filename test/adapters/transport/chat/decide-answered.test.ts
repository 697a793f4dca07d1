import { describe, expect, it } from 'vitest';
import { decideAnswered } from '../../../../adapters/transport/chat/chat-request.ts';
import type { UIMessage } from '../../../../src/contracts/ai-types.ts';
import { PinnaceError } from '../../../../src/index.ts';

const answered = {
  type: 'tool-wipe',
  toolCallId: 'call-1',
  state: 'approval-responded',
  input: {},
  approval: { id: 'apr-1', approved: false, reason: 'not today' },
};
const waiting = { type: 'data-run', data: { runId: 'run-1', state: 'awaiting_approval' } };

async function decisionsOn(...parts: readonly object[]): Promise<readonly unknown[]> {
  const decisions: unknown[] = [];
  const message = { id: 'm1', role: 'assistant', parts } as unknown as UIMessage; // parts as a client stores them
  await decideAnswered([message], (...decision) => Promise.resolve(void decisions.push(decision)));
  return decisions;
}

describe('decideAnswered', () => {
  it('decides on the calls of the last message that a person has answered, at the run that asked', async () => {
    expect(await decisionsOn(waiting, answered)).toEqual([['run-1', 'apr-1', {
      approved: false,
      reason: 'not today',
    }]]);
  });

  it('leaves a message without the state of its run to a sender who has decided already', async () => {
    expect(await decisionsOn(answered)).toEqual([]);
  });

  it('takes a call that was decided on before as decided, and passes other errors on', async () => {
    const message = { id: 'm1', role: 'assistant', parts: [waiting, answered] } as unknown as UIMessage; // as above
    const decided = new PinnaceError('conflict', 'Decided', { details: { reason: 'already_decided' } });
    await expect(decideAnswered([message], () => Promise.reject(decided))).resolves.toBeUndefined();
    const missing = new PinnaceError('not_found', 'No such run');
    await expect(decideAnswered([message], () => Promise.reject(missing))).rejects.toBe(missing);
  });
});
