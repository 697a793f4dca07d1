import { describe, expect, it } from 'vitest';
import { cutOff, fromStored, toStored } from '../../../../demo/chat/store/stored-message.ts';
import { type AssistantMessage, type ToolPart } from '../../../../demo/chat/state/message.ts';
import { createReceiver } from '../../../../demo/chat/state/receive.ts';
import type { Approval } from '../../../../demo/chat/state/run-data.ts';
import type { UIMessageChunk } from '../../../../src/contracts/ai-types.ts';
import { receive } from '../../../fixtures/page/receive.ts';

const toolCallId = 'c';
const input = { type: 'tool-input-available', toolCallId, toolName: 'add', input: { a: 1 } };
const request = { type: 'tool-approval-request', approvalId: 'p', toolCallId, reason: 'Call add\na: 1' };

function waiting(): AssistantMessage {
  return receive(
    { type: 'data-run', data: { runId: 'run-1', state: 'running' } },
    { type: 'text-delta', id: 't', delta: 'Shall I?' },
    input,
    request,
    { type: 'data-usage', data: { inputTokens: 10, steps: 1, toolCalls: 0, durationMs: 100 } },
    { type: 'data-run', data: { runId: 'run-1', state: 'awaiting_approval' } },
    { type: 'finish', finishReason: 'tool-calls' },
  );
}

function toolOf(message: AssistantMessage): ToolPart {
  const part = message.parts.value.find(({ type }) => type === 'tool');
  if (part?.type !== 'tool') throw new Error('There is no tool part');
  return part;
}

/** Goes on with the answer after this decision. */
function goOn(message: AssistantMessage, decision: Approval['decision'], ...chunks: readonly object[]): void {
  const { call } = toolOf(message);
  call.value = { ...call.value, approval: { id: 'p', runId: 'run-1', decision } };
  message.outcome.value = { type: 'running' };
  const receiver = createReceiver(message, { now: () => 500 });
  for (const chunk of chunks) receiver.receive(chunk as UIMessageChunk); // safe: as the runtime writes them
}

describe('createReceiver, approvals', () => {
  it('is cut off by a reload without losing the question', () => {
    const message = waiting();
    goOn(message, { approved: true });
    const stored = fromStored(structuredClone(toStored(message)));
    if (stored?.role !== 'assistant') throw new Error('It was not kept');
    cutOff(stored);
    expect(stored.outcome.value).toMatchObject({ type: 'stopped', by: 'page' });
    expect(toolOf(stored).call.value).toMatchObject({ state: 'waiting', approval: { decision: { approved: true } } });
  });
});
