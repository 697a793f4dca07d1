import { describe, expect, it } from 'vitest';
import { createSplitMap } from '../../../src/search/split-map.ts';

describe('createSplitMap', () => {
  it('lets entries be deleted while its values are read', () => {
    const split = createSplitMap<string>();
    for (let at = 0; at < 1_000; at++) split.set(String(at), String(at));
    for (const key of split.values()) split.delete(key);
    expect(split.size).toBe(0);
  });
});
