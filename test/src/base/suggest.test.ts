import { describe, expect, it } from 'vitest';
import { suggest } from '../../../src/base/check-options.ts';

const ropes = ['halyard', 'sheet', 'painter', 'painted', 'stay'];

describe('suggest', () => {
  it('returns the nearest first, within the limit', () => {
    expect(suggest('painter', ropes)).toEqual(['painter', 'painted']);
    expect(suggest('painter', ropes, { limit: 1 })).toEqual(['painter']);
  });

  it('knows a candidate by its other names', () => {
    expect(suggest('rope', ['sheet', 'stay'], { namesOf: (name) => (name === 'stay' ? ['ropes'] : [name]) })).toEqual([
      'stay',
    ]);
  });

  it('takes bounded time for words without end', () => {
    expect(suggest('x'.repeat(1_000_000), ropes)).toEqual([]);
  });
});
