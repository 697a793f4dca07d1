import { describe, expect, it } from 'vitest';
import { fromPortable, toPortable } from '../../../../demo/privacy/state/portable.ts';

const there = (value: unknown): unknown => JSON.parse(JSON.stringify(toPortable(value)));

describe('toPortable and fromPortable', () => {
  it.each([
    ['plain data', { a: [1, 'two', null, true, { b: -0.5 }] }],
    ['numbers that JSON lacks', [NaN, Infinity, -Infinity, 10n ** 30n]],
    ['nothing', { a: undefined, b: [undefined] }],
    ['dates', new Date(1_700_000_000_000)],
    ['maps and sets', new Map<unknown, unknown>([['a', new Set([1, { b: 2 }])], [3, new Map()]])],
    ['bytes', new Uint8Array([0, 127, 128, 255])],
    ['many bytes', new Uint8Array(100_000).map((_, i) => i)],
    ['part of a buffer', new Uint8Array([1, 2, 3, 4]).subarray(1, 3)],
    ['floats', new Float32Array([0.5, -1e30, NaN])],
    ['wide integers', new BigInt64Array([-1n, 2n ** 62n])],
    ['what looks like a word of its own', { $: 'date', value: [1, { $: 'x' }] }],
    ['a field with a dangerous name', JSON.parse('{"__proto__": {"polluted": true}}')],
  ])('take %s there and back', (_, value) => {
    expect(fromPortable(there(value))).toEqual(value);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it('keep a buffer', () => {
    expect(new Uint8Array(fromPortable(there(new Uint8Array([1, 2]).buffer)) as ArrayBuffer)).toEqual(
      new Uint8Array([1, 2]),
    );
  });

  it.each([[{ $: 'function' }], [{ $: 'array', type: 'constructor', value: '' }], [{ $: 'map', value: 'x' }], [{
    $: 'buffer',
    value: 1,
  }]])('refuse %j', (value) => {
    expect(() => fromPortable(value)).toThrow(TypeError);
  });
});
