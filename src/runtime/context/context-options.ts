/** What the context window of a run is made of, and how much of it a prompt may fill. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { ContextStrategy } from '../../contracts/context-strategy.ts';

/** The context window of a model of which neither its provider's record nor the agent's says more. */
export const defaultContextTokens = 128_000;

/** How many tokens a prompt may have: the rest of the window is for the answer, and for what the estimate misses. */
export function roomOf(contextTokens: number): number {
  return contextTokens * 0.8;
}

/** What a context window is made of. */
export interface ContextWindowOptions {
  readonly contextTokens: number;
  /** About how many tokens the definitions of the next step's tools take. */
  readonly toolTokens: () => number;
  readonly strategy: ContextStrategy | undefined;
  readonly agentId: string;
  readonly runId: string;
  readonly signal: AbortSignal;
  /** The highest number of a source that the chat has cited. */
  readonly citations?: number;
  /** Summarizes messages as a step of the run; absent where there is none. */
  readonly summarize?: Summarize;
  /** Is called when messages were shortened or left out. */
  readonly onTrimmed?: (facts: Trimmed) => void;
}

/**
 * Returns the summary of these messages, of which `mostTokens` fit into one call; rejects when the model returns none. `undefined` when
 * the run has no step left for it.
 */
export type Summarize = (
  messages: readonly LanguageModelV4Message[],
  options: { readonly mostTokens: number },
) => Promise<string | undefined>;

/**
 * Replaces messages of the prompt until it fits a window of so many tokens, without a model. It stays as it is when it cannot fit.
 *
 * @throws PinnaceError `budget_exceeded` with the reason `context_window`.
 */
export type FitPrompt = (prompt: LanguageModelV4Message[], contextTokens: number) => Promise<void>;

/** How much was trimmed without a model. */
export interface Trimmed extends Readonly<Record<string, number>> {
  /** Messages whose tool outputs or reasoning were left out. */
  readonly shortened: number;
  /** Messages that were left out. */
  readonly dropped: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
}

/** What a prompt is fitted with. */
export interface FitOptions extends ContextWindowOptions {
  /** About how many tokens a call with these messages has. */
  readonly tokensOf: (messages: readonly LanguageModelV4Message[]) => number;
  /** How many tokens one of an estimate is, as the model has counted. */
  readonly scale: number;
}
