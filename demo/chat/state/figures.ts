/** What answers took: tokens, time and cost. */

import { formatMoney } from '../../kit/format.ts';
import { scriptedLabel } from '../../kit/model-name.ts';
import type { Message } from './message.ts';
import type { Usage } from './run-data.ts';

/** What the answers of a chat took together. */
export interface ChatFigures {
  readonly tokens: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  /** The part of `tokensIn` that was read from the provider's cache. */
  readonly cachedTokens: number;
  /** What discovery did not send of tool definitions. */
  readonly tokensSaved: number;
  /** Why prompts have not extended the ones before, in the order of the answers. */
  readonly breaks: readonly string[];
  readonly toolCalls: number;
  readonly durationMs: number;
  /** One amount for each currency, in words. */
  readonly costs: readonly string[];
  /** How many answers have figures. */
  readonly answers: number;
  /** How many of those have a cost. */
  readonly priced: number;
  /** Part of the tokens is an estimate. */
  readonly isEstimated: boolean;
}

/** Returns the tokens of an answer. Some providers count reasoning in the total only; others have no total. */
export function tokensOf({ totalTokens = 0, inputTokens = 0, outputTokens = 0 }: Partial<Usage> = {}): number {
  return Math.max(totalTokens, inputTokens + outputTokens);
}

/**
 * Returns the sums over the answers among these messages. Their costs are those that the runtime recorded. The scripted demo uses
 * no tokens.
 */
export function sumOf(messages: readonly Message[]): ChatFigures {
  const answers = messages.filter((message) => message.role === 'assistant');
  const usages = answers.flatMap(({ facts }) => facts.value.usage ?? []);
  const metered = answers.flatMap(({ model, facts }) => model === scriptedLabel ? [] : facts.value.usage ?? []);
  const sum = (of: (usage: Usage) => number | undefined, over = usages): number =>
    over.reduce((total, usage) => total + (of(usage) ?? 0), 0);
  const costs = usages.flatMap(({ cost }) => cost ?? []);
  const amounts = Map.groupBy(costs, ({ currency }) => currency);
  return {
    tokens: sum(tokensOf, metered),
    tokensIn: sum(({ inputTokens }) => inputTokens, metered),
    tokensOut: sum(({ outputTokens }) => outputTokens, metered),
    cachedTokens: sum(({ cachedInputTokens }) => cachedInputTokens, metered),
    tokensSaved: sum(({ toolTokensSaved }) => toolTokensSaved),
    breaks: usages.flatMap(({ cache }) => cache?.breaks.map(({ reason }) => reason) ?? []),
    toolCalls: sum(({ toolCalls }) => toolCalls),
    durationMs: sum(({ durationMs }) => durationMs),
    costs: [...amounts].map(([currency, of]) =>
      formatMoney({ currency, amount: of.reduce((total, { amount }) => total + amount, 0) })
    ),
    answers: usages.length,
    priced: costs.length,
    isEstimated: usages.some(({ estimated }) => estimated === true),
  };
}

/** Returns how much of the input was read from a cache, such as "91 % cached"; nothing where no provider says so. */
export function cachedShare(cachedTokens = 0, inputTokens = 0): string | undefined {
  if (cachedTokens === 0 || inputTokens === 0) return undefined;
  return `${Math.round(100 * Math.min(1, cachedTokens / inputTokens))} % cached`;
}
