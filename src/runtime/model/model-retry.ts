/** What readers of a run learn about a model call that is tried again. */

import type { PinnaceDataParts } from '../messages/ui-message.ts';
import { toModelError } from './model-error.ts';

/** A try that follows a failure. */
export type ModelRetry = Omit<PinnaceDataParts['retry'], 'retryAt'>;

/** Describes the try that follows the error: codes and configuration, and nothing that the provider wrote. */
export function modelRetry(
  error: unknown,
  { model: { provider, model }, ...next }: Pick<ModelRetry, 'attempt' | 'of' | 'delayMs' | 'isFallback'> & {
    readonly model: { readonly provider: { readonly id: string }; readonly model: { readonly modelId: string } };
  },
): ModelRetry {
  const { code, details } = toModelError(error);
  const reason = details?.['reason'];
  const known = { code, ...(typeof reason === 'string' && { reason }) };
  return { ...next, delayMs: Math.round(next.delayMs), providerId: provider.id, modelId: model.modelId, ...known };
}
