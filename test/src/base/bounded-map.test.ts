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
});
