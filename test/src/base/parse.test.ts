import { describe, expect, it } from 'vitest';
import { expectedText } from '../../../src/base/parse.ts';

describe('expectedText', () => {
  it('keeps what it does not know', () => {
    expect(expectedText('/^a$/u')).toBe('/^a$/u');
  });
});
