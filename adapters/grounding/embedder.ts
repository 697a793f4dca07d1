/** Embeddings of any model of the AI SDK: as many calls as its limits need, a few of them at once. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Embedder } from '../../src/contracts/grounding-source.ts';
import { withModelRetries } from '../../src/runtime/model-error.ts';

export type { Embedder } from '../../src/contracts/grounding-source.ts';

/** How a model is called. */
export interface EmbedderOptions {
  /** How often a call that failed is repeated; 2 when absent. */
  readonly maxRetries?: number;
  /** The length of the vectors, for models that leave the choice. */
  readonly dimensions?: number;
}

/** The most calls at once, of a model that takes several. */
const mostParallel = 8;

/** Creates an embedder of a model. What the provider says of a failure may quote the texts: it is the `cause`, which no caller receives. */
export function createEmbedder(
  model: EmbeddingModelV4,
  options: EmbedderOptions = {},
): Embedder {
  checkNames('create the embedder', options, optional('maxRetries', 'dimensions'));
  const { maxRetries: retries = 2, dimensions } = options;
  const terms = dimensions === undefined ? {} : { dimensions };
  const call = (values: string[], signal: AbortSignal): Promise<number[][]> =>
    withModelRetries(async () => {
      const { embeddings } = await model.doEmbed({ values, abortSignal: signal, ...terms });
      if (embeddings.length === values.length) return embeddings;
      throw new Error(`The model returned ${embeddings.length} embeddings for ${values.length} texts`);
    }, { retries, signal });
  return {
    id: `${model.provider}/${model.modelId}${dimensions === undefined ? '' : `/${dimensions}`}`,
    async embed(texts, signal) {
      try {
        const batches = await batchesFor(model, texts);
        const width = await model.supportsParallelCalls ? mostParallel : 1;
        const vectors: number[][] = [];
        for (let at = 0; at < batches.length; at += width) {
          signal.throwIfAborted();
          const wave = batches.slice(at, at + width).map((batch) => call(batch, signal));
          vectors.push(...(await Promise.all(wave)).flat());
        }
        return vectors;
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

/** Where a model of the AI SDK says how many bytes a call takes. */
const byteLimit = Symbol.for('vercel.ai.embeddingModel.maxInputBytesPerCall');

/** The texts in their order, in batches within the limits of the model. A text above its limit of bytes is a batch of its own. */
async function batchesFor(model: EmbeddingModelV4, texts: readonly string[]): Promise<string[][]> {
  const most = await model.maxEmbeddingsPerCall ?? Infinity;
  const limit: unknown = await Reflect.get(model, byteLimit);
  const mostBytes = typeof limit === 'number' ? limit : Infinity;
  const batches: string[][] = [];
  let bytes = 0;
  for (const text of texts) {
    const length = mostBytes === Infinity ? 0 : new TextEncoder().encode(text).length;
    const last = batches.at(-1);
    bytes += length;
    if (last !== undefined && last.length < most && bytes <= mostBytes) last.push(text);
    else [bytes] = [length, batches.push([text])];
  }
  return batches;
}
