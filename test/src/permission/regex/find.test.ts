import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { globTest, parseCodeQuery } from '../../../../adapters/grounding/code/query.ts';
import { findMatch } from '../../../../src/permission/regex/find.ts';
import { parseRegex } from '../../../../src/permission/regex/matcher.ts';
import { runs } from '../../../fixtures/budget.ts';

const find = (pattern: string, text: string, ignoreCase = false) =>
  findMatch(parseRegex(pattern, { ignoreCase }), text);

/** Patterns without lazy or ordered choices of different length: there the first match is the same for every engine. */
const patterns = fc.array(
  fc.constantFrom(
    'a',
    'b',
    '.',
    '[ab]',
    '[^a]',
    '\\w',
    '\\d',
    '\\s',
    'a*',
    'b+',
    '(?:ab)?',
    'a{2}',
    '(a|b)',
    '\\b',
    '[a-c]+',
    '\\.',
  ),
  { minLength: 1, maxLength: 5 },
).map((parts) => parts.join(''));

describe('findMatch', () => {
  it("finds a match exactly where the platform's own expressions do", () => {
    fc.assert(
      fc.property(
        patterns,
        fc.string({ unit: fc.constantFrom('a', 'b', 'c', '1', ' ', '.', '_') }),
        (pattern, text) => {
          const own = new RegExp(pattern).exec(text);
          const found = find(pattern, text);
          expect(found?.[0]).toBe(own?.index);
          if (own && found) expect(found[1]).toBeGreaterThanOrEqual(own.index + own[0].length);
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('matches starts, ends, words and letters of either case', () => {
    expect(find('^ab$', 'ab')).toEqual([0, 2]);
    expect(find('^ab$', 'xab')).toBeUndefined();
    expect(find('\\bcat\\b', 'a cat, concat')).toEqual([2, 5]);
    expect(find('\\Bcat', 'cat concat')).toEqual([7, 10]);
    expect(find('ÄB[c-e]', 'xäbD', true)).toEqual([1, 4]);
    expect(find('x{2,3}', 'axxxx')).toEqual([1, 4]);
    expect(find('[\\d\\-x]+', '--7x!')).toEqual([0, 4]);
  });

  it('takes time by the length of the text, whatever the pattern', () => {
    const text = 'a'.repeat(20_000);
    for (const pattern of ['(a*)*b', '(a|a)*b', '(a+)+$b', 'a*a*a*a*a*b', '(?:a?){30}b']) {
      expect(find(pattern, text), pattern).toBeUndefined();
    }
  }, 60_000);
});

describe('parseCodeQuery', () => {
  it('distinguishes words, texts, expressions and what narrows the search', () => {
    expect(parseCodeQuery('parse "exact text" path:src/*.ts lang:Go sym:Name /a\\/b/i more')).toEqual({
      words: 'parse more',
      exact: ['exact text'],
      paths: ['src/*.ts'],
      language: 'go',
      symbol: 'Name',
      regex: { pattern: 'a\\/b', ignoreCase: true },
    });
    expect(() => parseCodeQuery('x'.repeat(1_001))).toThrow('longer than');
  });
});

describe('globTest', () => {
  it('matches names, folders and what is below', () => {
    for (
      const [glob, path, matches] of [
        ['*.ts', 'src/a.ts', true],
        ['src/*.ts', 'src/a.ts', true],
        ['src/*.ts', 'src/b/a.ts', false],
        ['src/**/*.ts', 'src/b/c/a.ts', true],
        ['src/**/*.ts', 'src/a.ts', true],
        ['src/', 'src/a/b.c', true],
        ['a?c*e', 'x/abcde', true],
        ['a?c*e', 'x/abcdf', false],
      ] as const
    ) expect(globTest(glob)(path), `${glob} ${path}`).toBe(matches);
    expect(() => globTest('**/**/**/**/x')).toThrow('too many parts');
  });
});
