import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { expectedText, parse } from '../../../src/base/parse.ts';

describe('expectedText', () => {
  it.each([
    [v.object({}), 'an object'],
    [v.array(v.string()), 'an array'],
    [v.string(), 'a string'],
    [v.boolean(), 'a boolean'],
    [v.picklist(['eco', 'boost', 'off']), '"eco" or "boost" or "off"'],
    [v.union([v.string(), v.object({}), v.null()]), 'a string or an object or null'],
    [v.optional(v.number()), 'a number'],
  ])('puts what a schema expects into words (%#)', (schema, words) => {
    const read = () => parse(v.strictObject({ field: schema }), { field: 10n }, { what: 'it' });
    expect(read).toThrow(`Cannot read it: "field" must be ${words}`);
  });

  it('keeps what it does not know', () => {
    expect(expectedText('/^a$/u')).toBe('/^a$/u');
  });
});
