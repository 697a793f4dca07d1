import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parsePartialJson, withoutFence } from '../../../../src/runtime/output/json-text.ts';

describe('parsePartialJson', () => {
  it.each([
    ['', undefined],
    ['{', {}],
    ['{"a', {}],
    ['{"a"', {}],
    ['{"a":', {}],
    ['{"a":tr', {}],
    ['{"a":"x', { a: 'x' }],
    ['{"a":"x\\', { a: 'x' }],
    ['{"a":"x\\u00', { a: 'x' }],
    ['{"a":"{[,', { a: '{[,' }],
    ['{"a":[1,', { a: [1] }],
    ['{"a":[{"b":"c"},{"d":-', { a: [{ b: 'c' }, {}] }],
    ['{"a":{"b":1},"c', { a: { b: 1 } }],
    ['"tex', 'tex'],
    ['```json\n{"a":1', { a: 1 }],
    ['no JSON', undefined],
  ])('reads %j', (text, value) => {
    expect(parsePartialJson(text)).toEqual(value);
  });

  it('reads every beginning of JSON, and all of it whole', () => {
    const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => typeof value === 'object' && value !== null);
    fc.assert(fc.property(json, (value) => {
      const text = JSON.stringify(value);
      for (let end = 1; end < text.length; end++) {
        expect(parsePartialJson(text.slice(0, end))).toBeTypeOf('object');
      }
      expect(JSON.stringify(parsePartialJson(text))).toBe(text);
    }));
  });
});

describe('withoutFence', () => {
  it('leaves what is in a code fence, closed or not, and any other text as it is', () => {
    expect(withoutFence('```json\n[1]\n```')).toBe('[1]');
    expect(withoutFence(' ```\n[1]')).toBe('[1]');
    expect(withoutFence('[1] ')).toBe('[1]');
  });
});
