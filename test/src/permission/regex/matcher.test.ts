import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMatcher } from '../../../../src/permission/regex/matcher.ts';
import { createWork } from '../../../../src/permission/regex/work.ts';
import { attackOf, redosPatterns } from '../../../fixtures/hostile/redos-patterns.ts';
import { runs } from '../../../fixtures/budget.ts';

const matches = (pattern: string, text: string): boolean => createMatcher(pattern).test(text, createWork(4_000_000));

function refusalOf(pattern: string): unknown {
  try {
    createMatcher(pattern);
  } catch (error) {
    return error;
  }
  return undefined;
}

const characters = [
  'a',
  'b',
  'Z',
  '0',
  '9',
  '_',
  '-',
  ' ',
  '\n',
  '\u2028',
  'é',
  'ß',
  '漢',
  '😀',
  '\u{1F1E6}',
  '\uD83D',
  '.',
  '{',
  ']',
];
const atoms = fc.constantFrom(
  'a',
  'b',
  'Z',
  '0',
  '_',
  '-',
  ' ',
  'é',
  '漢',
  '😀',
  '.',
  '\\.',
  '\\d',
  '\\D',
  '\\w',
  '\\W',
  '\\s',
  '\\S',
  '\\n',
  '\\x61',
  '\\u0061',
  '\\u{1F600}',
  '\\uD83D\\uDE00',
  '\\uD83D',
  '\\cJ',
  '\\0',
  '\\p{L}',
  '\\P{L}',
  '\\p{Lu}',
  '\\p{Script=Han}',
  '\\p{Emoji}',
  '[ab]',
  '[^ab]',
  '[a-z]',
  '[^\\d]',
  '[\\w-]',
  '[\\s\\S]',
  '[^\\n]',
  '[\\b]',
  '[]',
  '[^]',
  '[a\\-z]',
  '[😀-😄]',
  '[\\u{1F600}-\\u{1F610}é]',
  '[\\x00-\\x7f]',
  '[\\p{L}\\d_-]',
  '[.]',
  '[(|)]',
  '\\/',
  '\\{',
  '\\]',
);
const quantifiers = fc.constantFrom(
  '',
  '',
  '',
  '*',
  '+',
  '?',
  '*?',
  '+?',
  '??',
  '{2}',
  '{1,3}',
  '{2,}',
  '{0}',
  '{0,2}?',
  '{3,}?',
);
const assertions = fc.constantFrom('^', '$', '\\b', '\\B');

/** Patterns of everything that is supported. */
const patterns = fc.letrec<{ any: string; all: string; one: string }>((tie) => ({
  any: fc.array(tie('all'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('|')),
  all: fc.array(tie('one'), { maxLength: 4 }).map((parts) => parts.join('')),
  one: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.tuple(atoms, quantifiers).map(([atom, quantifier]) => atom + quantifier),
    assertions,
    fc.tuple(fc.constantFrom('(', '(?:', '(?<n>'), tie('any'), quantifiers).map(([open, inside, quantifier]) =>
      `${open}${inside})${quantifier}`
    ),
  ),
})).any;

const texts = fc.array(fc.constantFrom(...characters), { maxLength: 12 }).map((parts) => parts.join(''));

/** V8 answers `/[^]{3,}?b^|/u` wrongly for most texts (its empty alternative always matches), but rightly with the flag `v`. */
function contradictsItself(own: RegExp, text: string): boolean {
  try {
    return new RegExp(own.source, 'v').test(text) !== own.test(text);
  } catch {
    return false; // a class that the flag `v` refuses
  }
}

describe('createMatcher', () => {
  it('takes the last character before the pairs for one', () => {
    expect([matches('^\uffffb$', '\uffffb'), matches('^.b$', '\uffffb'), matches('^.b$', '😀b')]).toEqual([
      true,
      true,
      true,
    ]);
  });

  it("answers as the platform's own expressions do with the flag u", () => {
    fc.assert(
      fc.property(patterns, fc.array(texts, { minLength: 1, maxLength: 8 }), (pattern, many) => {
        let own: RegExp;
        try {
          own = new RegExp(pattern, 'u');
        } catch {
          return fc.pre(false); // two groups of one name
        }
        const matcher = createMatcher(pattern);
        for (const text of many) {
          if (contradictsItself(own, text)) continue;
          if (/\\B|\$/.test(pattern) && /[\u{10000}-\u{10FFFF}]/u.test(text)) continue; // V8 looks between the halves of a pair, and answers /[^\d]$/u wrongly behind one
          expect({ pattern, text, found: matcher.test(text, createWork(4_000_000)) })
            .toEqual({ pattern, text, found: own.test(text) });
        }
      }),
      { numRuns: runs(1_000), endOnFailure: true },
    );
  });

  it('takes work by the length of the text, whatever the pattern', () => {
    expect(redosPatterns.length).toBeGreaterThanOrEqual(500);
    const workOf = (pattern: string, text: string): number => {
      const work = createWork(4_000_000);
      createMatcher(pattern).test(text, work);
      return work.spent();
    };
    for (const one of redosPatterns) {
      const [short, long] = [attackOf(one, 2_000), attackOf(one, 20_000)];
      const [few, many] = [workOf(one.pattern, short), workOf(one.pattern, long)];
      // Whatever states there are to be made are made early on; then a character costs a sixteenth.
      expect(many - few, one.pattern).toBeLessThanOrEqual((long.length - short.length) / 16 + 1);
    }
  });

  it("answers short attacks as the platform's own expressions do", () => {
    for (const one of redosPatterns) {
      for (const text of [attackOf(one, 1), attackOf(one, 8), one.start, one.start + one.pump.repeat(3), one.end]) {
        expect(`${one.pattern} ${JSON.stringify(text)} ${matches(one.pattern, text)}`)
          .toBe(`${one.pattern} ${JSON.stringify(text)} ${nativeOf(one.pattern).test(text)}`);
      }
    }
  });

  it('ends when a pattern needs more states than there is work for', () => {
    const pattern = '[ab]*a[ab]{4000}c';
    const text = Array.from({ length: 100_000 }, (_, i) => (i * i % 7 < 3 ? 'a' : 'b')).join('');
    expect(() => matches(pattern, text)).toThrow('needs too many steps');
  });

  it('stays usable after a text that made many states', () => {
    const matcher = createMatcher('^(?:a|b)*a(?:a|b){12}$');
    const random = Array.from({ length: 20_000 }, (_, i) => ((i * 7919) % 13 < 6 ? 'a' : 'b')).join('');
    const own = /^(?:a|b)*a(?:a|b){12}$/u;
    for (const text of [random, random.slice(3), 'a'.repeat(13), 'b'.repeat(13)]) {
      expect(matcher.test(text, createWork(4_000_000))).toBe(own.test(text));
    }
  });

  it.each<[pattern: string, position: number, why: string]>([
    ['(?=a)b', 0, 'it looks around'],
    ['ab(?!c)', 2, 'it looks around'],
    ['(?<=a)b', 0, 'it looks around'],
    ['(?<!a)b', 0, 'it looks around'],
    ['(a)\\1', 3, 'it refers back'],
    ['(?<x>a)\\k<x>', 7, 'it refers back'],
    ['(?i:a)', 0, 'unknown "(?"'],
    ['a(b', 1, 'a "(" is not closed'],
    ['ab)', 2, 'a ")" closes nothing'],
    ['x[ab', 1, 'a "[" is not closed'],
    ['[b-a]', 1, 'a range goes backwards'],
    ['a**', 2, 'it repeats a repetition'],
    ['*a', 0, 'a "*" repeats nothing'],
    ['a{3,1}', 1, 'in the wrong order'],
    ['a{1,5000}', 1, 'it repeats more than 4096 times; bound the length with "maxLength"'],
    ['a{,3}', 1, 'write "{0,n}"'],
    ['(?:(?:a{100}){100}){100}', 0, 'it is too large'],
    ['a\\q', 1, 'the escape "\\q" does not exist'],
    ['\\p{Nope}', 0, 'it names no Unicode property'],
    ['\\u{110000}', 0, 'it names no character'],
    ['^+', 1, 'repeats a position'],
    ['a\\', 1, 'it ends with a backslash'],
    ['a'.repeat(2_001), 2_000, 'more than 2000 characters'],
    [`${'('.repeat(51)}${')'.repeat(51)}`, 50, 'nested deeper than 50'],
  ])('refuses %j at character %i', (pattern, position, why) => {
    expect(refusalOf(pattern)).toMatchObject({
      code: 'invalid_argument',
      details: { reason: 'invalid_regex', position, why: expect.stringContaining(why) as string },
    });
  });

  it('takes what authors write for other engines where it can only mean one thing', () => {
    expect(matches('^[\\w\\-.]+\\@x\\_$', 'a-b.c@x_')).toBe(true);
    expect(matches('^{id}]$', '{id}]')).toBe(true);
    expect(matches('^[\\w-x]$', '-')).toBe(true);
  });
});

function nativeOf(pattern: string): RegExp {
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern); // a brace or an escape that only the flag refuses
  }
}
