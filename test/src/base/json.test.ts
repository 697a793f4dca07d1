import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseJson } from '../../../src/base/json.ts';

const reserved = new Set(['__proto__', 'constructor', 'prototype']);
/** JSON that is read: no reserved keys, well-formed text, numbers that are finite. */
const data = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: 'grapheme' }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    tie('list'),
    tie('record'),
  ),
  list: fc.array(tie('any'), { maxLength: 4 }),
  record: fc.dictionary(fc.string({ unit: 'grapheme' }).filter((key) => !reserved.has(key)), tie('any'), {
    maxKeys: 4,
  }),
}));

describe('parseJson', () => {
  it('reads what JSON.stringify writes, with any text in it', () => {
    fc.assert(fc.property(data.any, (value) => {
      expect(parseJson(JSON.stringify(value, null, 1))).toEqual(JSON.parse(JSON.stringify(value)));
    }));
  });

  it.each([
    ['a key that comes twice', '{"approved":false,"approved":true}', 'duplicate_key'],
    ['a key that comes twice, once in other letters', '{"a":1,"\\u0061":1}', 'duplicate_key'],
    ['a key that comes twice far down', '[{"a":[{"b":{"c":0,"d":":{","c":0}}]}]', 'duplicate_key'],
    ['a key that reaches a prototype', '{"a":{"__proto__":{"b":1}}}', 'reserved_key'],
    ['the same in other letters', '{"\\u005f_proto__":1}', 'reserved_key'],
    ['a number that is too large', '[1e999]', 'number_out_of_range'],
    ['half of a surrogate pair', '["\\ud83d"]', 'malformed_text'],
    ['half of one in a key', '{"\\ude00":1}', 'malformed_text'],
    ['65 levels', '['.repeat(65) + ']'.repeat(65), 'json_too_deep'],
    ['more values than a million', `[${'0,'.repeat(1_048_576)}0]`, 'json_too_many_values'],
    ['more objects than a million', `[${'{},'.repeat(600_000)}{}]`, 'json_too_many_values'],
    ['two values', '{}{}', 'malformed_json'],
  ])('refuses %s', (_, text, reason) => {
    expect(() => parseJson(text)).toThrow(expect.objectContaining({ code: 'invalid_argument', details: { reason } }));
  });
});
