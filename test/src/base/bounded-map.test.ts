import { describe, expect, it } from 'vitest';
import { BoundedMap } from '../../../src/base/bounded-map.ts';

function filled(): BoundedMap<string, number> {
  return new BoundedMap<string, number>(2).set('a', 1).set('b', 2);
}

describe('BoundedMap', () => {
  it('evicts the least recently set entry when it is full', () => {
    expect([...filled().set('c', 3)]).toEqual([['b', 2], ['c', 3]]);
  });

  it('keeps an entry that is set again', () => {
    expect([...filled().set('a', 4).set('c', 3)]).toEqual([['a', 4], ['c', 3]]);
  });

  it('creates a value once and marks it as used', () => {
    const map = filled();
    expect(map.getOrCreate('a', () => 9)).toBe(1);
    expect(map.getOrCreate('c', () => 3)).toBe(3);
    expect([...map.keys()]).toEqual(['a', 'c']);
  });

  it('reports evicted entries, and no deleted ones', () => {
    const evicted: unknown[] = [];
    const map = new BoundedMap<string, number>(1, (value, key) => evicted.push([key, value])).set('a', 1).set('b', 2);
    map.delete('b');
    map.set('c', 3).clear();
    expect(evicted).toEqual([['a', 1]]);
  });
});
