/** The port to language models. */

import type { Provider } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import type { LanguageModel } from './ai-types.ts';

/**
 * Gives the language model for a provider whose `model` is set. A provider that it does not serve is `invalid_argument`. The
 * secret is revealed when a request is sent, never sooner, and stands in no error.
 */
export interface ModelSource {
  model(provider: Provider, secret: Secret | undefined): LanguageModel;
}
