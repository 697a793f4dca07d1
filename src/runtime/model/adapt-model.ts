/** Language models of the AI SDK's specifications v2 and v3 as models of v4. */

import type { LanguageModelV2, LanguageModelV3, LanguageModelV4 } from '@ai-sdk/provider';
import { PinnaceError } from '../../base/errors.ts';
import { loadOnce } from '../../base/load-once.ts';
import type { AnyLanguageModel } from '../../contracts/ai-types.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./stream-older.ts'));

/**
 * Returns the model as one of specification v4.
 *
 * @throws PinnaceError `invalid_argument` with the reason `model_version` for anything else, such as the name of a model.
 */
export function adaptModel(model: AnyLanguageModel): LanguageModelV4 {
  const version: unknown = typeof model === 'object' ? model.specificationVersion : undefined;
  if (version === 'v4') return model as LanguageModelV4; // safe: just read
  if (version === 'v2' || version === 'v3') return adapted(model as LanguageModelV2 | LanguageModelV3); // safe: just read
  throw new PinnaceError(
    'invalid_argument',
    'Cannot use the model: pass a language model of the AI SDK (specification v2, v3 or v4), not its name',
    { details: { reason: 'model_version' } },
  );
}

function adapted(model: LanguageModelV2 | LanguageModelV3): LanguageModelV4 {
  const { provider, modelId } = model;
  const unsupported = (): never => {
    throw new PinnaceError('internal', 'Cannot call the model: only its stream is used');
  };
  return {
    specificationVersion: 'v4',
    provider,
    modelId,
    get supportedUrls() {
      return model.supportedUrls;
    },
    doGenerate: unsupported,
    doStream: async (options) => await (await load()).streamOlder(model, options),
  };
}
