/** Fits the prompt of a single call, as of a plan: old outputs are shortened, nothing is summarized. */

import type { ContextWindowOptions, FitPrompt } from './context-options.ts';
import { createContextWindow } from './context-window.ts';
import { valueTokens } from './estimate.ts';

/** What a single call is fitted with. */
export interface FitOnceOptions extends Pick<ContextWindowOptions, 'agentId' | 'signal'> {
  /** Their definitions take room too. */
  readonly tools: readonly object[];
}

/** Creates the function that fits the prompt of a call. */
export function fitOnce({ tools, ...options }: FitOnceOptions): FitPrompt {
  const tokens = valueTokens(tools);
  const facts = { ...options, runId: '', strategy: undefined, toolTokens: () => tokens };
  return (prompt, contextTokens) => createContextWindow({ ...facts, contextTokens }).fitTo(prompt, contextTokens);
}
