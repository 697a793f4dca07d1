import { describe, expect, it } from 'vitest';
import { figuresOf, sumOf } from '../../../../demo/chat/state/figures.ts';
import { type AssistantMessage, createAnswer } from '../../../../demo/chat/state/message.ts';
import { readAs, Usage } from '../../../../demo/chat/state/run-data.ts';
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

describe('sumOf', () => {
  function answered(usage: object | undefined): AssistantMessage {
    const message = createAnswer({ id: 'a', model: 'm', startedAt: 0 });
    if (usage) message.facts.value = { usage: readAs(Usage, usage) };
    return message;
  }

  it('adds tokens, and costs of each currency', () => {
    const sum = sumOf([
      { role: 'user', id: 'u', text: 'Hi' },
      answered({ inputTokens: 100, outputTokens: 20, cachedInputTokens: 60, cost: { amount: 0.1, currency: 'USD' } }),
      answered({ inputTokens: 200, outputTokens: 30, toolCalls: 2, cost: { amount: 0.2, currency: 'USD' } }),
      answered({ totalTokens: 9, durationMs: 5, estimated: true, cost: { amount: 1, currency: 'EUR' } }),
      answered({ inputTokens: 0, outputTokens: 7, totalTokens: 0 }),
      answered(undefined),
    ]);
    expect(sum).toEqual({
      tokens: 366,
      tokensIn: 300,
      tokensOut: 57,
      cachedTokens: 60,
      toolCalls: 2,
      durationMs: 5,
      costs: ['0.3 USD', '1 EUR'],
      answers: 4,
      priced: 3,
      isEstimated: true,
    });
  });
});
