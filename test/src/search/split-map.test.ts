import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSplitMap } from '../../../src/search/split-map.ts';
import { runs } from '../../fixtures/budget.ts';

describe('createSplitMap', () => {
  it('gets, sets and deletes as a map does, for any text', () => {
    const change = fc.tuple(fc.string({ maxLength: 20 }), fc.option(fc.nat()));
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const [split, map] = [createSplitMap<number>(), new Map<string, number>()];
        for (const [key, value] of changes) {
          if (value === null) expect(split.delete(key)).toBe(map.delete(key));
          else {
            split.set(key, value);
            map.set(key, value);
          }
        }
        expect(split.size).toBe(map.size);
        expect([...split.values()].toSorted((a, b) => a - b)).toEqual([...map.values()].toSorted((a, b) => a - b));
        for (const [key] of changes) expect([split.get(key), split.has(key)]).toEqual([map.get(key), map.has(key)]);
      }),
      { numRuns: runs(100) },
    );
  });

  it('lets entries be deleted while its values are read', () => {
    const split = createSplitMap<string>();
    for (let at = 0; at < 1_000; at++) split.set(String(at), String(at));
    for (const key of split.values()) split.delete(key);
    expect(split.size).toBe(0);
  });
});
