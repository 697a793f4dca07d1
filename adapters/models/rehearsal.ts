/** A language model in plain code, to rehearse with: no network, the same answer every time. */

import '../../src/base/platform/required-features.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { LanguageModel } from '../../src/contracts/ai-types.ts';
import { answer } from './rehearsal/answer.ts';
import type { ModelCallOptions } from './rehearsal/conversation.ts';
import { pacedStream } from './rehearsal/paced-stream.ts';
import { contentOf, partsOf } from './rehearsal/parts.ts';

/** How the model rehearses. */
export interface RehearsalOptions {
  /** Chooses among texts that are made up; 0 when absent. A call's own seed goes first. */
  readonly seed?: number;
  /**
   * The pause before each word, in milliseconds. When absent, answers come at once and only filler text ("400 words about
   * tides") is paced, with 20 ms. With 0 no timer is set.
   */
  readonly delayMs?: number;
}

const fillerDelayMs = 20;

const loadPrograms = /* @__PURE__ */ loadOnce(() => import('./rehearsal/programs.ts'));

/** Whether the model can write a program now. */
function mayWritePrograms({ tools = [], toolChoice = { type: 'auto' } }: ModelCallOptions): boolean {
  return tools.some(({ name }) => name === 'code_run') &&
    (toolChoice.type === 'auto' || toolChoice.type === 'required');
}

/**
 * Returns the model. It calls the active tools that the words of the last user message match, fills their inputs by their
 * JSON Schemas, and then reports what they returned. If asked, or without anything to do, it says that it is not an AI model.
 *
 * Where `code_run` is active, several calls of a step become one program, and a message about every item of a list a loop.
 *
 * A call that is spelled out (`call name with {json}`, `/name {json}`) is made unchanged, so that failures can be rehearsed.
 * @example
 * const model = rehearsal({ seed: 7, delayMs: 0 });
 */
export function rehearsal({ seed = 0, delayMs }: RehearsalOptions = {}): LanguageModel {
  const stream: LanguageModel['doStream'] = async (options) => {
    options.abortSignal?.throwIfAborted();
    const step = mayWritePrograms(options)
      ? (await loadPrograms()).answerWithPrograms(options, seed)
      : answer(options, seed);
    const pause = delayMs ?? (step.isFiller ? fillerDelayMs : 0);
    return { stream: pacedStream(partsOf(step, options), { delayMs: pause, signal: options.abortSignal }) };
  };
  return {
    specificationVersion: 'v4',
    provider: 'rehearsal',
    modelId: 'rehearsal',
    supportedUrls: {},
    doStream: stream,
    doGenerate: async (options) => contentOf((await stream(options)).stream),
  };
}
