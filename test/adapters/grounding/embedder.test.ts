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
