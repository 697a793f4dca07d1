/** Embeddings of any model of the AI SDK. */

import { embedMany } from 'ai';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Embedder } from '../../src/contracts/grounding-source.ts';

export type { Embedder } from '../../src/contracts/grounding-source.ts';

/** How a model is called. */
export interface EmbedderOptions {
  /** How often a call that failed is repeated; 2 when absent. */
  readonly maxRetries?: number;
  /** The length of the vectors, for models that leave the choice. */
  readonly dimensions?: number;
}

/** Creates an embedder of a model. What the provider says of a failure may quote the texts: it is the `cause`, which no caller receives. */
export function createEmbedder(
  model: EmbeddingModelV4,
  { maxRetries = 2, dimensions }: EmbedderOptions = {},
): Embedder {
  return {
    id: `${model.provider}/${model.modelId}${dimensions === undefined ? '' : `/${dimensions}`}`,
    async embed(texts, signal) {
      try {
        const values = [...texts];
        const { embeddings } = await embedMany({
          model,
          values,
          maxRetries,
          abortSignal: signal,
          ...(dimensions !== undefined && { dimensions }),
        });
        return embeddings;
      } catch (cause) {
        if (signal.aborted) throw new PinnaceError('cancelled', 'The embedding was stopped', { cause });
        throw new PinnaceError('unavailable', 'Cannot embed: the model did not answer', {
          cause,
          details: { reason: 'embedder_failed' },
        });
      }
    },
  };
}
