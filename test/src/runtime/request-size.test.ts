import { describe, expect, it } from 'vitest';
import { defaultLimits, type UIMessage } from '../../../src/index.ts';
import { parseRunRequest } from '../../../src/runtime/run-request.ts';
import { runRequest, userMessage } from '../../fixtures/runtime.ts';

const chatOf = (count: number): UIMessage[] =>
  Array.from({ length: count }, (_, i) => userMessage(`message ${i}`, `m${i}`));
const parse = (messages: readonly UIMessage[], limits = {}) =>
  parseRunRequest(runRequest({ chat: { id: 'c', messages } }), { ...defaultLimits, ...limits });
const refused = (reason: string) => expect.objectContaining({ code: 'invalid_argument', details: { reason } });

describe('a run request', () => {
  it('does not count messages that a compaction covers, up to ten times as many', () => {
    const data = { throughMessageId: 'm7', summary: 'So far' };
    const answer: UIMessage = { id: 'a', role: 'assistant', parts: [{ type: 'data-compaction', data }] };
    expect(() => parse([...chatOf(8), answer, userMessage('go on', 'n')], { messages: 2 })).not.toThrow();
    expect(() => parse([...chatOf(8), answer, userMessage('go on', 'n')], { messages: 1 })).toThrow(
      refused('too_many_messages'),
    );
    expect(() => parse([...chatOf(20), answer], { messages: 2 })).toThrow(refused('too_many_messages'));
  });

  it('with more parts than any chat has is refused before they are read', () => {
    const parts = Array.from({ length: 101 }, () => 0) as unknown as UIMessage['parts'];
    expect(() => parse([{ id: 'm', role: 'user', parts }], { messages: 2 })).toThrow(refused('too_many_parts'));
  });

  it('may have 16 MiB, in parts of 64 KiB', () => {
    const long = Array.from({ length: 257 }, (_, i) => userMessage('x'.repeat(65_500), `m${i}`));
    expect(() => parse(long.slice(0, 256))).not.toThrow();
    expect(() => parse(long)).toThrow(refused('request_too_large'));
    expect(() => parse([userMessage('x'.repeat(65_536))])).toThrow(refused('part_too_large'));
  });
});
