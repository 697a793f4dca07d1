import { describe, expect, it } from 'vitest';
import { decodeStructured, encodeStructured } from '../../../adapters/storage/structured-codec.ts';

const copyOf = (value: unknown) => decodeStructured(encodeStructured(structuredClone(value)));

describe('the codec of structured values', () => {
  it('decodes what structuredClone copies', () => {
    const sparse = [1, , 3]; // eslint-disable-line no-sparse-arrays
    const shared = new Uint8Array([1, 2, 3, 4]);
    const values = [
      { text: '漢字 \uD800', list: [1, [true, null]], none: undefined },
      Object.assign([1], { extra: 'x' }),
      [Object(1), Object('a'), Object(false)],
      new Map<unknown, unknown>([[{ a: 1 }, new Set([undefined, -0])]]),
      [shared.subarray(1, 3), new DataView(shared.buffer, 2)],
      new TypeError('wrong', { cause: { code: 7 } }),
    ];
    for (const value of values) expect(copyOf(value)).toStrictEqual(structuredClone(value));
    expect(Object.keys(copyOf(sparse) as unknown[])).toEqual(['0', '2']);
    expect((copyOf(sparse) as unknown[]).length).toBe(3);
  });

  it('keeps a field named __proto__ a field', () => {
    const value: unknown = JSON.parse('{"__proto__": {"admin": true}, "at": 0}');
    for (const whole of [value, { value, none: undefined }]) {
      const copy = copyOf(whole) as Record<string, unknown>;
      const read = ('value' in copy ? copy['value'] : copy) as Record<string, unknown>;
      expect([Object.keys(read), 'admin' in read]).toEqual([['__proto__', 'at'], false]);
    }
  });

  it('writes JSON as JSON, and rejects a host object', () => {
    expect(new TextDecoder().decode(encodeStructured({ a: [1] }).subarray(4))).toBe('{"json":{"a":[1]}}');
    expect(() => encodeStructured([new Blob(['x'])])).toThrow('this store does not keep');
  });
});
