/** Keeps the prompt of a run within the context window of its model. Short chats only cost an estimate. */

import type { LanguageModelV4Message } from '@ai-sdk/provider';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { type ContextWindowOptions, type FitPrompt, roomOf } from './context-options.ts';
import { promptTokens } from './estimate.ts';

/** The context window of a run. */
export interface ContextWindow {
  /**
   * Makes the prompt fit before a call of the model; replaces messages of it where it must, and yields what readers see of that.
   * Returns `undefined` when the prompt fits as it is.
   *
   * @throws PinnaceError `budget_exceeded` with the reason `context_window` when nothing is left to trim.
   */
  fit(prompt: LanguageModelV4Message[]): AsyncGenerator<readonly UIMessageChunk[], void> | undefined;
  /** Makes the prompt fit a model that takes over, and from then on the window is that of this model. */
  readonly fitTo: FitPrompt;
  /** Learns how many tokens the prompt of the last call really had. */
  learn(inputTokens: number | undefined): void;
}

/** Estimates of a run are scaled by what its model has counted, but not by any number that an endpoint may report. */
const [leastScale, mostScale] = [0.5, 4];

/** Creates the context window of a run that has not called its model. */
export function createContextWindow(options: ContextWindowOptions): ContextWindow {
  const { toolTokens } = options;
  let { contextTokens } = options;
  let scale = 1;
  let estimate = 0;
  const isFit = (prompt: LanguageModelV4Message[], room: number): boolean => {
    estimate = promptTokens(prompt) + toolTokens();
    return estimate * scale <= room;
  };
  async function* fitWith(prompt: LanguageModelV4Message[], used: ContextWindowOptions) {
    const { fitPrompt } = await import('./fit-prompt.ts'); // most chats do without
    const tokensOf = (messages: readonly LanguageModelV4Message[]): number =>
      Math.ceil((promptTokens(messages) + toolTokens()) * scale);
    yield* fitPrompt(prompt, { ...used, tokensOf, scale });
    estimate = promptTokens(prompt) + toolTokens();
  }
  return {
    fit(prompt) {
      const fits = isFit(prompt, roomOf(contextTokens)) && !options.strategy;
      return fits ? undefined : fitWith(prompt, { ...options, contextTokens });
    },
    async fitTo(prompt, otherTokens) {
      scale = Math.max(1, scale); // another model may count more
      const fitted = [...prompt];
      if (!isFit(fitted, roomOf(otherTokens))) {
        const { strategy: _strategy, summarize: _summarize, ...rules } = options; // a summary could fail as the last call did
        for await (const _ of fitWith(fitted, { ...rules, strategy: undefined, contextTokens: otherTokens }));
        prompt.splice(0, prompt.length, ...fitted);
      }
      contextTokens = otherTokens;
    },
    learn(inputTokens) {
      if (!inputTokens || estimate === 0) return;
      scale = Math.min(mostScale, Math.max(leastScale, inputTokens / estimate));
    },
  };
}
