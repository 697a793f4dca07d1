import { describe, expect, it } from 'vitest';
import { vectorSource, type VectorSourceOptions } from '../../adapters/grounding/vector.ts';
import { hashedEmbedder } from '../../adapters/grounding/hashed-embedder.ts';
import { filteringGroundingContract, writableGroundingContract } from '../contracts/index.ts';
import { itemSubject, writableSubject } from '../fixtures/grounding.ts';
import { freshPath, open } from './deno-kv-fixture.ts';

const create = (options: VectorSourceOptions) => vectorSource({ ...options, embedder: hashedEmbedder() });

describe('vectorSource over Deno KV keeps the contract', () => {
  it.each(filteringGroundingContract)('$name', async ({ run }) => {
    await expect(run(itemSubject(create, open({ path: freshPath() })))).resolves.toBeUndefined();
  });
  it.each(writableGroundingContract)('$name', async ({ run }) => {
    await expect(run(writableSubject(create, open({ path: freshPath() })))).resolves.toBeUndefined();
  });
});
