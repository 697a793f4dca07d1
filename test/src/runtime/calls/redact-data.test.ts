import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../../src/permission/redaction/redactor.ts';
import { redactData } from '../../../../src/permission/redaction/run-redaction.ts';

const { text } = createRedactor([
  { id: 'pin', value: '8204117593' },
  { id: 'odd', value: 'a","b":"c' },
]);

describe('redactData', () => {
  it('takes secrets out of values, of the names of fields, and of numbers', () => {
    const data = {
      'x 8204117593': [{ deep: 'is 8204117593' }],
      n: 8204117593,
      m: -18204117593.5,
      other: [1, true, null, ''],
    };
    expect(redactData(data, text)).toEqual({
      'x [secret pin]': [{ deep: 'is [secret pin]' }],
      n: '[secret pin]',
      m: '-1[secret pin].5',
      other: [1, true, null, ''],
    });
    expect(redactData('8204117593', text)).toBe('[secret pin]');
  });

  it('takes no secret for the structure of the data', () => {
    const data = { a: 'a', b: 'c' };
    expect(redactData(data, text)).toEqual(data);
    expect(redactData({ x: 'a","b":"c' }, text)).toEqual({ x: '[secret odd]' });
  });

  it('takes secrets out of what an object returns as its JSON', () => {
    expect(redactData({ at: new URL('https://example.com/8204117593') }, text)).toEqual({
      at: 'https://example.com/[secret pin]',
    });
  });

  it('returns data without secrets itself, not a copy', () => {
    const data = { a: [1, { b: 'c' }] };
    expect(redactData(data, text)).toBe(data);
  });
});
