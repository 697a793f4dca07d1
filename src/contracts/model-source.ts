/** The port to language models. */

import type { Provider } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { AnyLanguageModel } from './ai-types.ts';

/**
 * Returns the language model for a provider whose `model` is set: a model of the AI SDK, specification v2, v3 or v4. It throws
 * `invalid_argument` for a provider that it does not serve. The secret is revealed when a request is sent, never sooner, and is in
 * no error.
 */
export interface ModelSource {
  model(provider: Provider, secret: Secret | undefined): AnyLanguageModel;
}
