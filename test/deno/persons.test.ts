import { describe, expect, it } from 'vitest';
import { interleave } from '../fixtures/persons/interleavings.ts';
import { freshPath, open } from './deno-kv-fixture.ts';

describe('two persons with equal chat ids, keys and bytes reach their own records alone', () => {
  it.each([['in memory', () => ':memory:'], ['in a file', freshPath]])('in Deno KV %s', async (_, path) => {
    const storage = open({ path: path() });
    for (let seed = 1000; seed < 1005; seed++) expect(await interleave(storage, { seed, actions: 20 })).toEqual([]);
  });
});
