import { describe, expect, it } from 'vitest';
import { stem } from '../../../src/search/terms.ts';

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
