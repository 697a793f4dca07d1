import { describe, expect, inject, it } from 'vitest';
import { indexedDbStorage } from '../../../../adapters/storage/indexeddb.ts';
import { memoryStorage } from '../../../../adapters/storage/memory.ts';
import { budget } from '../../../fixtures/budget.ts';
import { interleave } from '../../../fixtures/persons/interleavings.ts';

/** All blocks, or three that follow each other. */
const blocks = Array.from({ length: budget({ short: 3, long: 10 }) }, (_, at) => (inject('sampleSeed') + at) % 10);

describe('two persons with equal chat ids, keys and bytes reach their own records alone', () => {
  it.each(blocks)('in 100 interleavings of block %i', async (block) => {
    for (let seed = block * 100; seed < block * 100 + 100; seed++) {
      expect(await interleave(memoryStorage(), { seed, actions: 12 })).toEqual([]);
    }
  });

  it.skipIf(!('indexedDB' in globalThis))('in IndexedDB', async () => {
    const storage = indexedDbStorage({ name: `persons-${crypto.randomUUID()}` });
    for (let seed = 4000; seed < 4005; seed++) expect(await interleave(storage, { seed, actions: 20 })).toEqual([]);
    await storage.close();
  });
});
