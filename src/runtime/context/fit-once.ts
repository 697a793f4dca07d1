/** Fits the prompt of a single call, as of a plan: old outputs are shortened, nothing is summarized. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { ContextWindowOptions } from './context-options.ts';
import { createContextWindow } from './context-window.ts';
import { valueTokens } from './estimate.ts';

/** What a single call is fitted with. */
export interface FitOnceOptions extends Pick<ContextWindowOptions, 'contextTokens' | 'agentId' | 'signal'> {
  /** Their definitions take room too. */
  readonly tools: readonly object[];
}

/** Replaces messages of the prompt until it fits. @throws PinnaceError `budget_exceeded` with the reason `context_window`. */
export async function fitOnce(
  prompt: LanguageModelV4Message[],
  { tools, ...options }: FitOnceOptions,
): Promise<LanguageModelV4Message[]> {
  const toolTokens = valueTokens(tools);
  const window = createContextWindow({ ...options, runId: '', strategy: undefined, toolTokens: () => toolTokens });
  for await (const _ of window.fit(prompt)); // has chunks only of a summary
  return prompt;
}
