import { describe, expect, it } from 'vitest';
import { diffWords, type Piece } from '../../../../demo/forks/state/word-diff.ts';

const marked = (pieces: readonly Piece[]): string =>
  pieces.map(({ text, isDifferent }) => isDifferent ? `[${text}]` : text).join('');

describe('diffWords', () => {
  it('marks the words that only one text has', () => {
    const { left, right } = diffWords('The sum is 42, exactly.', 'The total sum is 99, exactly.');
    expect(marked(left)).toBe('The sum is [42], exactly.');
    expect(marked(right)).toBe('The [total ]sum is [99], exactly.');
  });

  it('marks nothing in equal texts, and all of a text beside none', () => {
    expect(marked(diffWords('Same text', 'Same text').left)).toBe('Same text');
    expect(diffWords('', 'All new')).toEqual({ left: [], right: [{ text: 'All new', isDifferent: true }] });
  });

  it('loses no character of either text', () => {
    const words = (seed: number): string =>
      Array.from({ length: 400 }, (_, i) => ((i * seed) % 7 === 0 ? 'ahoy\n' : `w${(i * seed) % 11} `)).join('');
    const [a, b] = [words(3), words(5)];
    const { left, right } = diffWords(a, b);
    expect(left.map(({ text }) => text).join('')).toBe(a);
    expect(right.map(({ text }) => text).join('')).toBe(b);
  });

  it('shows very long texts as one difference instead of comparing each word', () => {
    const long = (word: string): string => `Start ${`${word} `.repeat(5000)}end`;
    const { left, right } = diffWords(long('a'), long('b'));
    expect(left.filter(({ isDifferent }) => isDifferent)).toHaveLength(1);
    expect(right.at(-1)).toEqual({ text: ' end', isDifferent: false });
  });
});
