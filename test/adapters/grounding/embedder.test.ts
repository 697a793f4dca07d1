import type { EmbeddingModelV4 } from '@ai-sdk/provider';
import { describe, expect, it } from 'vitest';
import { createEmbedder } from '../../../adapters/grounding/embedder.ts';
import { neverAborted } from '../../fixtures/grounding.ts';

function modelOf(doEmbed: EmbeddingModelV4['doEmbed']): EmbeddingModelV4 {
  return {
    specificationVersion: 'v4',
    provider: 'test',
    modelId: 'lengths',
    maxEmbeddingsPerCall: 2,
    supportsParallelCalls: false,
    doEmbed,
  };
}

describe('createEmbedder', () => {
  it("gives the model's vectors in the order of the texts, in as many calls as the model needs", async () => {
    const calls: number[] = [];
    const model = modelOf(({ values }) => {
      calls.push(values.length);
      return Promise.resolve({ embeddings: values.map((value) => [value.length, 1]), warnings: [] });
    });
    const embedder = createEmbedder(model);
    expect(embedder.id).toBe('test/lengths');
    expect(await embedder.embed(['a', 'bbb', 'cc'], neverAborted())).toEqual([[1, 1], [3, 1], [2, 1]]);
    expect(calls).toEqual([2, 1]);
  });

  it('embeds several batches at once where the model takes them, at most eight', async () => {
    let [running, most] = [0, 0];
    const model = modelOf(async ({ values }) => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      return { embeddings: values.map((value) => [Number(value)]), warnings: [] };
    });
    const texts = Array.from({ length: 39 }, (_, at) => String(at));
    const embedder = createEmbedder({ ...model, supportsParallelCalls: true });
    expect(await embedder.embed(texts, neverAborted())).toEqual(texts.map((text) => [Number(text)]));
    expect(most).toBe(8);
  });

  it('embeds no text without a call, and keeps to the limit of bytes that a model has', async () => {
    const calls: string[][] = [];
    const model = modelOf(({ values }) => {
      calls.push(values);
      return Promise.resolve({ embeddings: values.map(() => [1]), warnings: [] });
    });
    const limit = { [Symbol.for('vercel.ai.embeddingModel.maxInputBytesPerCall')]: Promise.resolve(4) };
    const embedder = createEmbedder({ ...model, ...limit, maxEmbeddingsPerCall: undefined });
    expect(await embedder.embed([], neverAborted())).toEqual([]);
    await embedder.embed(['ab', 'cd', 'é', 'longer', 'x'], neverAborted());
    expect(calls).toEqual([['ab', 'cd'], ['é'], ['longer'], ['x']]);
  });

  it('repeats a call that may succeed later, and says so where a model returns too few vectors', async () => {
    const busy = {
      name: 'AI_APICallError',
      statusCode: 503,
      isRetryable: true,
      responseHeaders: { 'retry-after-ms': '1' },
    };
    let calls = 0;
    const model = modelOf(({ values }) => {
      if (++calls === 1) return Promise.reject(Object.assign(new Error('Busy'), busy));
      return Promise.resolve({ embeddings: values.slice(1).map(() => [1]), warnings: [] });
    });
    const embedding = createEmbedder(model, { maxRetries: 1 }).embed(['a', 'b'], neverAborted());
    await expect(embedding).rejects.toMatchObject({
      details: { reason: 'embedder_failed' },
      cause: { message: 'The model returned 1 embeddings for 2 texts' },
    });
    expect(calls).toBe(2);
  });

  it('says that the model did not answer, and nothing of what it said', async () => {
    const embedder = createEmbedder(modelOf(() => Promise.reject(new Error('bad text: my secret'))), { maxRetries: 0 });
    const error = await embedder.embed(['my secret'], neverAborted()).catch((cause: unknown) => cause);
    expect(error).toMatchObject({ code: 'unavailable', details: { reason: 'embedder_failed' } });
    expect(String(error)).not.toContain('secret');
  });

  it('is cancelled with its signal', async () => {
    const abort = new AbortController();
    const model = modelOf(() => {
      abort.abort();
      return Promise.reject(new DOMException('stopped', 'AbortError'));
    });
    await expect(createEmbedder(model).embed(['a'], abort.signal)).rejects.toMatchObject({ code: 'cancelled' });
  });
});
