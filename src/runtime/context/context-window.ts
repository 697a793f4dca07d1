/** Keeps the prompt of a run within the context window of its model. Short chats only cost an estimate. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ContextWindowOptions, roomOf } from './context-options.ts';
import { promptTokens } from './estimate.ts';

/** The context window of a run. */
export interface ContextWindow {
  /**
   * Makes the prompt fit before a call of the model; replaces messages of it where it must, and yields what readers see of that.
   *
   * @throws PinnaceError `budget_exceeded` with the reason `context_window` when nothing is left to trim.
   */
  fit(prompt: LanguageModelV4Message[]): AsyncGenerator<readonly UIMessageChunk[], void>;
  /** Learns how many tokens the prompt of the last call really had. */
  learn(inputTokens: number | undefined): void;
}

/** Estimates of a run are scaled by what its model has counted, but not by any number that an endpoint may report. */
const [leastScale, mostScale] = [0.5, 4];

/** Creates the context window of a run that has not called its model. */
export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { contextTokens, toolTokens, strategy } = options;
  let scale = 1;
  let estimate = 0;
  return {
    async *fit(prompt) {
      estimate = promptTokens(prompt) + toolTokens();
      if (!strategy && estimate * scale <= roomOf(contextTokens)) return;
      const { fitPrompt } = await import('./fit-prompt.ts'); // most chats do without
      const tokensOf = (messages: readonly LanguageModelV4Message[]): number =>
        Math.ceil((promptTokens(messages) + toolTokens()) * scale);
      yield* fitPrompt(prompt, { ...options, tokensOf, scale });
      estimate = promptTokens(prompt) + toolTokens();
    },
    learn(inputTokens) {
      if (!inputTokens || estimate === 0) return;
      scale = Math.min(mostScale, Math.max(leastScale, inputTokens / estimate));
    },
  };
}
