import { describe, expect, it } from 'vitest';
import { figuresOf } from '../../../../demo/chat/state/figures.ts';
import { createAnswer } from '../../../../demo/chat/state/message.ts';
import type { Provider } from '../../../../src/registry/index.ts';

describe('figuresOf', () => {
  const answer = createAnswer({ id: 'a', model: 'm', startedAt: 0, via: undefined });
  const provider = (prices?: Provider['prices']): Provider => ({
    id: 'lab',
    kind: 'openai-compatible',
    version: '0.1.0',
    state: 'active',
    revision: 1,
    ...(prices && { prices }),
  });

  it('has a cost where the provider has prices, and else tokens', () => {
    const usage = {
      inputTokens: 1000,
      outputTokens: 500,
      steps: 1,
      toolCalls: 0,
      durationMs: 40,
      toolTokens: 0,
      toolTokensSaved: 0,
    };
    answer.facts.value = { usage };
    expect(figuresOf(answer, provider())).toEqual({ tokensIn: 1000, tokensOut: 500, durationMs: 40, cost: undefined });
    expect(figuresOf(answer, provider({ input: 2, output: 8, currency: 'EUR' })).cost).toBe('0.006 EUR');
    expect(figuresOf(answer, provider({ output: 8 })).cost).toBe('0.004');
    expect(figuresOf(answer, undefined).cost).toBeUndefined();
    answer.facts.value = {};
    expect(figuresOf(answer, provider({ input: 2 })).cost).toBeUndefined();
  });
});
