import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { afterPrefix, encodeKey, encodePrefix, type Key, maxKeyBytes } from '../../../src/base/key.ts';
import { runs } from '../../fixtures/budget.ts';

const odd = fc.constantFrom(
  '',
  '\0',
  '\0\0',
  'a',
  'a\0',
  'a\u0001',
  'ab',
  'ÿ',
  '\uFFFD',
  '\uFFFF',
  '\u{10000}',
  '😀',
  '\u{10FFFF}',
);
const text = fc.oneof(odd, fc.string({ unit: 'binary', maxLength: 8 }), fc.string({ unit: 'grapheme', maxLength: 4 }));
const number = fc.oneof(
  fc.constantFrom(-1e300, -2, -1.5, -1, -0, 0, 5e-324, 0.1, 1, 1.5, 2, 10, 255, 256, 2 ** 53, 1e300),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
);
const part = fc.oneof(text, number);
const key: fc.Arbitrary<Key> = fc.array(part, { minLength: 1, maxLength: 5 });

/** The order that the port promises, said in another way than the code does. */
function compareKeys(a: Key, b: Key): number {
  for (const [at, left] of a.entries()) {
    const right = b[at];
    if (right === undefined) return 1;
    const order = compareParts(left, right);
    if (order !== 0) return order;
  }
  return a.length < b.length ? -1 : 0;
}

function compareParts(a: string | number, b: string | number): number {
  if (typeof a === 'number') return typeof b === 'number' ? Math.sign(a - b) : -1;
  return typeof b === 'number' ? 1 : compareText(Array.from(a, codePoint), Array.from(b, codePoint));
}

function compareText(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((point, index) => point !== b[index]);
  if (at === -1) return a.length < b.length ? -1 : 0;
  return (a[at] ?? 0) < (b[at] ?? -1) ? -1 : 1;
}

function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}

function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const at = a.findIndex((byte, index) => byte !== b[index]);
  if (at === -1) return a.length < b.length ? -1 : 0;
  return (a[at] ?? 0) < (b[at] ?? -1) ? -1 : 1;
}

describe('encodeKey', () => {
  it('returns bytes that sort as the keys do', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(compareBytes(encodeKey(a), encodeKey(b))).toBe(compareKeys(a, b));
      }),
      { numRuns: runs(2000) },
    );
  });

  it('sorts a whole list as comparing its keys does', () => {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 30 }), (keys) => {
        const byBytes = keys.toSorted((a, b) => compareBytes(encodeKey(a), encodeKey(b)));
        expect(byBytes).toEqual(keys.toSorted(compareKeys));
      }),
    );
  });

  it('returns the same bytes for the same key only', () => {
    fc.assert(
      fc.property(key, key, (a, b) => {
        expect(encodeKey(a).join() === encodeKey(b).join()).toBe(compareKeys(a, b) === 0);
      }),
      { numRuns: runs(1000) },
    );
  });

  it('distinguishes a number from the text that spells it', () => {
    fc.assert(fc.property(number, (n) => {
      expect(encodeKey([n])).not.toEqual(encodeKey([String(n)]));
    }));
  });

  it('takes negative zero for zero', () => {
    expect(encodeKey([-0])).toEqual(encodeKey([0]));
  });

  it('takes keys up to the limit and refuses longer ones', () => {
    expect(encodeKey(['x'.repeat(maxKeyBytes - 2)])).toHaveLength(maxKeyBytes);
    expect(() => encodeKey(['x'.repeat(maxKeyBytes - 1)])).toThrow(/1537 bytes, 1536 are allowed/);
  });
});

describe('afterPrefix', () => {
  it('bounds every key where the prefix is empty', () => {
    fc.assert(fc.property(key, (whole) => {
      expect(isWithin([], whole)).toBe(true);
    }));
  });
});

function isWithin(prefix: Key, whole: Key): boolean {
  const [start, bytes] = [encodePrefix(prefix), encodeKey(whole)];
  return compareBytes(start, bytes) <= 0 && compareBytes(bytes, afterPrefix(start)) < 0;
}
