import { describe, expect, it } from 'vitest';
import { porterStem, stem } from '../../../src/search/terms.ts';

describe('porterStem', () => {
  // Words and stems from the paper.
  it.each([
    ['caresses', 'caress'],
    ['ponies', 'poni'],
    ['cats', 'cat'],
    ['feed', 'feed'],
    ['agreed', 'agre'],
    ['plastered', 'plaster'],
    ['motoring', 'motor'],
    ['sing', 'sing'],
    ['conflated', 'conflat'],
    ['hopping', 'hop'],
    ['falling', 'fall'],
    ['filing', 'file'],
    ['happy', 'happi'],
    ['sky', 'sky'],
    ['relational', 'relat'],
    ['conditional', 'condit'],
    ['digitizer', 'digit'],
    ['operator', 'oper'],
    ['triplicate', 'triplic'],
    ['electrical', 'electr'],
    ['hopefulness', 'hope'],
    ['revival', 'reviv'],
    ['adjustment', 'adjust'],
    ['adoption', 'adopt'],
    ['probate', 'probat'],
    ['rate', 'rate'],
    ['cease', 'ceas'],
    ['controll', 'control'],
    ['roll', 'roll'],
    ['generalizations', 'gener'],
    ['oscillators', 'oscil'],
    ['yes', 'ye'],
  ])('makes %s %s', (word, expected) => {
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
