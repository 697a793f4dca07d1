import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSequences } from '../../../adapters/grounding/text/sequences.ts';
import { runs } from '../../fixtures/budget.ts';

describe('createSequences', () => {
  it('returns each list as it was added', () => {
    const list = fc.array(fc.integer({ min: -2, max: 2 ** 31 - 1 }), { maxLength: 50 });
    fc.assert(
      fc.property(fc.array(list, { maxLength: 100 }), (lists) => {
        const sequences = createSequences();
        for (const one of lists) expect([...sequences.push(one)]).toEqual(one);
        for (const [number, one] of lists.entries()) expect([...sequences.at(number)]).toEqual(one);
      }),
      { numRuns: runs(100) },
    );
  });

  it('stores lists of any length, also longer ones than a block', () => {
    const sequences = createSequences();
    const lengths = [3, 65_530, 10, 200_000, 0, 70_000, 5];
    for (const length of lengths) sequences.push(new Int32Array(length).fill(length));
    for (const [number, length] of lengths.entries()) {
      expect(sequences.at(number)).toEqual(new Int32Array(length).fill(length));
    }
  });
});
