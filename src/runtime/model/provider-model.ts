/** A model that is called with what its provider takes: history in its form, and files of its kinds in their places. */

import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Provider } from '../../base/schema.ts';
import { fitHistory } from './fit-history.ts';

/** Returns the model, to be called with any history. The code for files is loaded with the first file. */
export function withProviderRules(
  model: LanguageModelV4,
  provider: Pick<Provider, 'inputs' | 'toolContent'>,
): LanguageModelV4 {
  return {
    specificationVersion: 'v4',
    provider: model.provider,
    modelId: model.modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate: (options) => model.doGenerate({ ...options, prompt: fitHistory(options.prompt, model) }),
    async doStream(options) {
      const history = fitHistory(options.prompt, model);
      if (!hasFiles(history)) return await model.doStream({ ...options, prompt: history });
      const { fitPrompt, refusalOfFiles } = await import('./fit-prompt.ts');
      const prompt = fitPrompt(history, provider);
      try {
        return await model.doStream({ ...options, prompt });
      } catch (error) {
        throw refusalOfFiles(error, prompt) ?? error;
      }
    },
  };
}

function hasFiles(prompt: LanguageModelV4Prompt): boolean {
  return prompt.some(({ role, content }) =>
    role !== 'system' &&
    content.some((part) => part.type === 'file' || (part.type === 'tool-result' && part.output.type === 'content'))
  );
}
