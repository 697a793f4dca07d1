import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findNeedle, needleOf } from '../../../../src/tree/tree-search.ts';

describe('findNeedle', () => {
  it('finds what indexOf finds, from anywhere on', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'e', 'q', ' ', 'ß', '\0'), maxLength: 60 });
    const needle = fc.string({ unit: fc.constantFrom('a', 'e', 'q', ' ', 'ß'), minLength: 1, maxLength: 4 });
    fc.assert(fc.property(text, needle, fc.nat(60), (within, wanted, from) => {
      expect(findNeedle(within, needleOf(wanted), from)).toBe(
        within.slice(from).indexOf(wanted) < 0 ? -1 : within.indexOf(wanted, from),
      );
    }));
  });

  it('looks for the letter that is the rarest', () => {
    expect(needleOf('no such words')).toEqual({ text: 'no such words', tail: 'words', offset: 8 });
    expect(needleOf('Zürich'.toLowerCase())).toMatchObject({ tail: 'ürich', offset: 1 });
  });
});
