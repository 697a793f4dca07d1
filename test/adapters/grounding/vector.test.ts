import { describe, expect, it } from 'vitest';
import { hashedEmbedder, hashedVector } from '../../../adapters/grounding/hashed-embedder.ts';
import { vectorSource, type VectorSourceOptions } from '../../../adapters/grounding/vector.ts';
import { memoryStorage } from '../../../adapters/storage/memory.ts';
import type { Embedder, GroundingItem } from '../../../src/contracts/index.ts';
import { filteringGroundingContract, writableGroundingContract } from '../../contracts/index.ts';
import { itemSubject, neverAborted, writableSubject } from '../../fixtures/grounding.ts';

const withEmbedder = (options: VectorSourceOptions) => vectorSource({ ...options, embedder: hashedEmbedder() });
const ofBytes = (options: VectorSourceOptions) => vectorSource({ ...options, keep: 'int8' });

describe('vectorSource keeps the contract', () => {
  it.each(filteringGroundingContract)('$name', async ({ run }) => {
    await expect(run(itemSubject(withEmbedder, memoryStorage()))).resolves.toBeUndefined();
  });
  it.each(writableGroundingContract)('$name', async ({ run }) => {
    await expect(run(writableSubject(withEmbedder, memoryStorage()))).resolves.toBeUndefined();
  });
});

describe('vectorSource without an embedder, of bytes, keeps the contract', () => {
  it.each(filteringGroundingContract)('$name', async ({ run }) => {
    const subject = itemSubject(ofBytes, memoryStorage(), (text) => hashedVector(text, 256));
    await expect(run(subject)).resolves.toBeUndefined();
  });
});

function countingEmbedder(): Embedder & { readonly calls: string[][] } {
  const calls: string[][] = [];
  const hashed = hashedEmbedder();
  return {
    id: 'counting',
    calls,
    embed(texts, signal) {
      calls.push([...texts]);
      return hashed.embed(texts, signal);
    },
  };
}

const item = (id: string, embedding: ArrayLike<number>): GroundingItem => ({ id, text: id, embedding });

describe('vectorSource', () => {
  it('refuses vectors of zeros, of no numbers, and of another length, in items and in questions', async () => {
    const source = vectorSource({ id: 'v' });
    await source.remember({ tenant: 'local', items: [item('a', [1, 2, 3])] }, neverAborted());
    const wrong = [[0, 0, 0], [1, Number.NaN, 0], [1, Infinity, 0], [1, 2], [], Array<number>(9_000).fill(1)];
    for (const embedding of wrong) {
      const asked = source.retrieve({ tenant: 'local', embedding, topK: 1, filters: [] }, neverAborted());
      await expect(asked).rejects.toMatchObject({ code: 'invalid_argument' });
      const items = [item('b', [3, 2, 1]), item('c', embedding)];
      await expect(source.remember({ tenant: 'local', items }, neverAborted())).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    }
    expect((await source.stats('local', neverAborted())).items).toBe(1);
    const bare = source.remember({ tenant: 'local', items: [{ text: 'x' }] }, neverAborted());
    await expect(bare).rejects.toMatchObject({ details: { reason: 'no_embedding' } });
  });

  it('holds vectors of one length for each tenant, also after it was reopened', async () => {
    const storage = memoryStorage();
    await vectorSource({ id: 'v', storage }).remember(
      { tenant: 'local', items: [item('a', [1, 2, 3])] },
      neverAborted(),
    );
    const other = vectorSource({ id: 'v', storage });
    const wrong = other.remember({ tenant: 'local', items: [item('b', [1, 2])] }, neverAborted());
    await expect(wrong).rejects.toMatchObject({ details: { reason: 'wrong_dimensions' } });
    await other.remember({ tenant: 'globex', items: [item('b', [1, 2])] }, neverAborted());
    expect((await other.stats('local', neverAborted())).items).toBe(1);
  });

  it('embeds each text once, in batches, also after it was reopened', async () => {
    const storage = memoryStorage();
    const embedder = countingEmbedder();
    const items = Array.from({ length: 150 }, (_, at) => ({ id: `i${at}`, text: `Text ${at % 100}` }));
    await vectorSource({ id: 'v', storage, embedder }).remember({ tenant: 'local', items }, neverAborted());
    expect(embedder.calls.map(({ length }) => length)).toEqual([64, 36]);
    const other = vectorSource({ id: 'v', storage, embedder });
    await other.remember({ tenant: 'local', items: [{ id: 'again', text: 'Text 7' }] }, neverAborted());
    await other.retrieve({ tenant: 'local', query: 'Text 8', topK: 1, filters: [] }, neverAborted());
    expect(embedder.calls).toHaveLength(2);
    await other.remember({ tenant: 'globex', items: [{ id: 'theirs', text: 'Text 7' }] }, neverAborted());
    expect(embedder.calls).toHaveLength(3);
  });

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'vector'],
    ['too few', []],
    ['one without numbers', [[]]],
    ['one that is not a list', [7]],
    ['one with a number that is not finite', [[1, NaN, 3]]],
    ['one with words', [['a', 'b', 'c']]],
    ['one of another length than was said', [[1, 2]]],
  ])('is unavailable when its embedder gives %s, and keeps nothing of that', async (_, garbage) => {
    const storage = memoryStorage();
    let broken = false;
    const embedder: Embedder = {
      id: 'breaking',
      embed: (texts) => Promise.resolve((broken ? garbage : texts.map(() => [1, 2, 3])) as number[][]), // that is the test
    };
    const source = vectorSource({ id: 'v', storage, embedder, dimensions: 3 });
    await source.remember({ tenant: 'local', items: [{ text: 'green tea' }] }, neverAborted());
    const ask = () => source.retrieve({ tenant: 'local', query: 'tea', topK: 1, filters: [] }, neverAborted());
    broken = true;
    await expect(ask()).rejects.toMatchObject({ code: 'unavailable', details: { reason: 'invalid_embeddings' } });
    broken = false;
    expect(await ask()).toHaveLength(1);
  });

  it('keeps no vectors of texts where that is not wanted', async () => {
    const storage = memoryStorage();
    const source = vectorSource({ id: 'v', storage, embedder: hashedEmbedder(), keepEmbeddings: false });
    await source.remember({ tenant: 'local', items: [{ text: 'green tea' }] }, neverAborted());
    expect(await source.retrieve({ tenant: 'local', query: 'tea', topK: 1, filters: [] }, neverAborted())).toHaveLength(
      1,
    );
    expect(await storage.list({ prefix: ['embedding'], limit: 1 })).toEqual([]);
  });

  it('detects vectors that were changed in the storage', async () => {
    const storage = memoryStorage();
    const items = Array.from(
      { length: 100 },
      (_, at) => item(`i${at}`, Array.from({ length: 384 }, (_n, i) => Math.sin(at * i + 1))),
    );
    await vectorSource({ id: 'v', storage }).remember({ tenant: 'local', items }, neverAborted());
    const parts = await storage.list({ prefix: ['grounding', 'v', 'local', 'part'], limit: 100 });
    for (const { value } of parts) {
      const { vectors, items: held } = value as { vectors: Uint8Array; items: unknown[] };
      expect(vectors.byteLength + JSON.stringify(held).length).toBeLessThan(4_194_304);
    }
    const torn = structuredClone(parts.at(-1)!.value) as { vectors: Uint8Array };
    torn.vectors[100]! ^= 1;
    await storage.commit([{ key: parts.at(-1)!.key, value: torn }]);
    await expect(vectorSource({ id: 'v', storage }).stats('local', neverAborted())).rejects.toMatchObject({
      details: { reason: 'damaged_part' },
    });
  });
});
