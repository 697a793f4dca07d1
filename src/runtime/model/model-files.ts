/** A model that is called with the files that it takes, in the places where it takes them. */

import type { LanguageModelV4, LanguageModelV4Prompt } from '@ai-sdk/provider';
import type { Provider } from '../../base/schema.ts';

/** Returns the model, to be called with files as its provider takes them. The code for that is loaded with the first file. */
export function withFileRules(
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
    doGenerate: (options) => model.doGenerate(options),
    async doStream(options) {
      if (!hasFiles(options.prompt)) return await model.doStream(options);
      const { fitPrompt, refusalOfFiles } = await import('./fit-prompt.ts');
      const prompt = fitPrompt(options.prompt, provider);
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
