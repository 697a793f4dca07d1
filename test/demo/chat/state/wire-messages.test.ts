import { describe, expect, it } from 'vitest';
import {
  createAnswer,
  createTextPart,
  createToolPart,
  type Part,
  type ToolCall,
} from '../../../../demo/chat/state/message.ts';
import { toWireMessages } from '../../../../demo/chat/state/wire-messages.ts';

function wireParts(...parts: readonly Part[]): readonly unknown[] {
  const answer = createAnswer({ id: 'a', model: 'm', startedAt: 0 });
  answer.parts.value = parts;
  return toWireMessages([answer])[0]?.parts ?? [];
}

function tool(call: Partial<ToolCall>): Part {
  return createToolPart('c', { name: 'add', dynamic: true, state: 'result', startedAt: 0, input: { a: 1 }, ...call });
}

describe('toWireMessages', () => {
  it('sends what the person wrote while the agent worked at the place where the agent read it', () => {
    expect(wireParts({ type: 'step' }, { type: 'steering', id: 's', text: 'In metres' }, { type: 'step' })).toEqual([
      { type: 'step-start' },
      { type: 'steering-message', id: 's', parts: [{ type: 'text', text: 'In metres' }] },
      { type: 'step-start' },
    ]);
  });

  it('sends a summary of earlier messages back, also where its answer says nothing', () => {
    const data = { throughMessageId: 'm', summary: 'So far', tokensBefore: 9, tokensAfter: 2 };
    expect(wireParts({ type: 'compaction', id: 'c', ...data })).toEqual([{ type: 'data-compaction', id: 'c', data }]);
  });

  it.each<[string, Partial<ToolCall>, object]>([
    ['a result', { output: 2 }, { type: 'dynamic-tool', toolName: 'add', state: 'output-available', output: 2 }],
    ['an empty result', {}, { state: 'output-available', output: null }],
    ['a call of a tool that is not dynamic', { dynamic: false, output: 2 }, {
      type: 'tool-add',
      state: 'output-available',
    }],
    ['a failure', { state: 'error', errorText: 'no' }, { state: 'output-error', errorText: 'no' }],
    ['a denial', { state: 'denied' }, { state: 'output-error', errorText: 'The call was denied' }],
    ['a call that was stopped', { state: 'stopped' }, {
      state: 'output-error',
      errorText: expect.stringContaining('outcome of this call is unknown'),
    }],
  ])('reports %s', (_, call, part) => {
    expect(wireParts(tool(call))).toMatchObject([{ toolCallId: 'c', input: { a: 1 }, ...part }]);
  });

  it('leaves out what has nothing to say', () => {
    const answer = createAnswer({ id: 'a', model: 'm', startedAt: 0 });
    answer.parts.value = [
      { type: 'step' },
      createTextPart('text', { text: ' ' }),
      tool({ input: undefined, state: 'stopped' }),
      tool({ state: 'waiting' }),
    ];
    expect(toWireMessages([answer])).toEqual([]);
  });

  it('sends what an answer may cite, so that the numbers continue', () => {
    const source = {
      n: 3,
      dataSourceId: 'knowledge',
      id: 'a.md#1',
      uri: 'a.md',
      version: '1',
      confidence: 0.9,
      contentHash: 'abc',
    };
    const part: Part = { type: 'citations', toolCallId: 'c', sources: [source] };
    expect(wireParts(part, createTextPart('text', { text: 'It is so [3].' }))).toEqual([
      { type: 'data-sources', id: 'c', data: { toolCallId: 'c', sources: [source] } },
      { type: 'text', text: 'It is so [3].', state: 'done' },
    ]);
    expect(wireParts(part)).toEqual([]);
  });
});
