import { describe, expect, it } from 'vitest';
import { stem } from '../../../src/search/terms.ts';

describe('stem', () => {
  it('leaves other scripts and short words alone', () => {
    expect(['is', 'größe', '天気', 'b2b'].map(stem)).toEqual(['is', 'größe', '天気', 'b2b']);
  });
});
