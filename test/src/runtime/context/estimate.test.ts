import type { LanguageModelV4Message } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { messageTokens } from '../../../../src/runtime/estimate-prompt.ts';

type Content = Extract<LanguageModelV4Message, { role: 'user' }>['content'];

const user = (...content: Content): LanguageModelV4Message => ({ role: 'user', content });
const tokensOf = (...content: Content): number => messageTokens(user(...content));
const file = (mediaType: string, length: number): Content[number] => ({
  type: 'file',
  mediaType,
  data: { type: 'data', data: 'A'.repeat(length) },
});

describe('messageTokens', () => {
  it('is about the length of the JSON divided by 4', () => {
    const message = user({ type: 'text', text: 'The quick brown fox jumps over the lazy dog. '.repeat(20) });
    const exact = JSON.stringify(message).length / 4;
    expect(Math.abs(messageTokens(message) / exact - 1)).toBeLessThan(0.1);
  });

  it('counts about a token for each character of scripts such as Chinese', () => {
    expect(tokensOf({ type: 'text', text: '今天天气很好。'.repeat(100) })).toBeGreaterThan(600);
  });

  it('counts 1,500 for an image of any size, and a page of other files for each 64 KiB', () => {
    const [small, large] = [tokensOf(file('image/png', 100)), tokensOf(file('image/png', 4_000_000))];
    expect([small, large].every((tokens) => tokens >= 1_500 && tokens < 1_600)).toBe(true);
    expect(tokensOf(file('application/pdf', 4 * 65_536))).toBeGreaterThan(4_000);
  });

  it('counts data that only looks like a file as data', () => {
    const output = { type: 'json' as const, value: { type: 'file', mediaType: 5, data: null } };
    const result = { type: 'tool-result' as const, toolCallId: 'c', toolName: 't', output };
    expect(messageTokens({ role: 'tool', content: [result] })).toBeLessThan(100);
  });
});
