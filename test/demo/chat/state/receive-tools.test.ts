import { describe, expect, it } from 'vitest';
import type { AssistantMessage, ToolCall, ToolPart } from '../../../../demo/chat/state/message.ts';
import { maxLogLines } from '../../../../demo/chat/state/tool-calls.ts';
import { receive } from '../../../fixtures/page/receive.ts';

function toolOf(message: AssistantMessage, at = 0): ToolPart {
  const part = message.parts.value.filter(({ type }) => type === 'tool')[at];
  if (part?.type !== 'tool') throw new Error('There is no tool part');
  return part;
}

function callAfter(...chunks: readonly object[]): ToolCall {
  return toolOf(receive(...chunks)).call.value;
}

const toolCallId = 'c';
const start = { type: 'tool-input-start', toolCallId, toolName: 'add', title: 'Add', dynamic: true };
const input = { type: 'tool-input-available', toolCallId, toolName: 'add', input: { a: 1 } };
const output = { type: 'tool-output-available', toolCallId, output: 2 };
const failure = {
  toolCallId,
  tool: 'add',
  code: 'rate_limited',
  message: 'Slow down',
  retryable: true,
  attempt: 2,
  traceId: 'x',
};

describe('createReceiver, tools', () => {
  it.each<[string, readonly object[], Partial<ToolCall>]>([
    ['starts with its name', [start], { state: 'starting', name: 'add', title: 'Add', dynamic: true }],
    ['shows that its input is being written', [start, { type: 'tool-input-delta', toolCallId, inputTextDelta: '{' }], {
      state: 'input',
    }],
    ['runs when its input is there', [start, input], { state: 'running', input: { a: 1 } }],
    ['has a result', [start, input, output], { state: 'result', output: 2, endedAt: 102 }],
    ['runs on while its output is preliminary', [input, { ...output, preliminary: true }], {
      state: 'running',
      output: 2,
    }],
    ['fails', [input, { type: 'tool-output-error', toolCallId, errorText: 'no' }], { state: 'error', errorText: 'no' }],
    ['is denied', [input, { type: 'tool-output-denied', toolCallId }], { state: 'denied' }],
    [
      'fails before it runs when its input is no input',
      [{ type: 'tool-input-error', toolCallId, toolName: 'add', input: 'x', errorText: 'not JSON' }],
      { state: 'error', name: 'add', errorText: 'not JSON' },
    ],
    ['waits for an approval', [input, { type: 'tool-approval-request', approvalId: 'p', toolCallId }], {
      state: 'waiting',
    }],
    [
      'runs after its approval',
      [
        input,
        { type: 'tool-approval-request', approvalId: 'p', toolCallId },
        { type: 'tool-approval-response', approvalId: 'p', approved: true },
      ],
      { state: 'running' },
    ],
  ])('a call %s', (_, chunks, expected) => {
    expect(callAfter(...chunks)).toMatchObject(expected);
  });

  it('takes an outcome that comes before its call', () => {
    expect(callAfter(output, input, start)).toMatchObject({ state: 'result', output: 2, input: { a: 1 }, name: 'add' });
  });

  it('names a call by its failure when nothing else has', () => {
    expect(callAfter({ type: 'data-tool-error', data: failure })).toMatchObject({ name: 'add', state: 'starting' });
  });

  it('keeps the latest log lines', () => {
    const lines = Array.from({ length: maxLogLines + 5 }, (_, i) => ({
      type: 'data-tool-log',
      data: { toolCallId, level: 'info', text: `line ${i}` },
    }));
    const { logs } = toolOf(receive(start, ...lines));
    expect(logs.value).toHaveLength(maxLogLines);
    expect(logs.value.at(-1)?.text).toBe(`line ${maxLogLines + 4}`);
  });

  it('stops the calls that have no outcome when the answer ends', () => {
    const answer = receive(
      input,
      { ...input, toolCallId: 'd' },
      { ...output, toolCallId: 'd' },
      { type: 'data-tool-error', data: { ...failure, toolCallId: 'e' } },
      { type: 'abort', reason: 'x' },
    );
    expect([0, 1, 2].map((at) => toolOf(answer, at).call.value.state)).toEqual(['stopped', 'result', 'error']);
  });
});
