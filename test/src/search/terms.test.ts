import { describe, expect, it } from 'vitest';
import { porterStem, stem } from '../../../src/search/terms.ts';
import stems from '../../fixtures/vectors/porter-stems.json' with { type: 'json' };

describe('porterStem', () => {
  // Words and stems from the paper.
  it.each(stems)('makes %s %s', (word, expected) => {
    expect(porterStem(word)).toBe(expected);
  });
});

describe('stem', () => {
  it('keeps words of another meaning and ends with one letter', () => {
    expect(['deploy', 'deployment', 'products', 'productions'].map(stem)).toEqual([
      'deploy',
      'deploy',
      'product',
      'production',
    ]);
  });

  it('leaves other scripts and short words alone', () => {
    expect(['is', 'größe', '天気', 'b2b'].map(stem)).toEqual(['is', 'größe', '天気', 'b2b']);
  });
});
