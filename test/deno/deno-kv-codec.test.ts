import { Serializer } from 'node:v8';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeValue, encodeValue } from '../../adapters/storage/value-codec.ts';
import { runs } from '../fixtures/budget.ts';

describe('encodeValue', () => {
  it('keeps views on one buffer together, and gives each buffer its own size', () => {
    const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
    const value = [new Uint8Array(buffer), new DataView(buffer, 1, 2), new Uint8Array([9])];
    const [bytes, view, alone] = decodeValue(encodeValue(value)) as [Uint8Array, DataView, Uint8Array]; // safe: as encoded
    expect(bytes.buffer).toBe(view.buffer);
    expect([bytes.buffer.byteLength, view.byteOffset, view.getUint8(0), alone.buffer.byteLength]).toEqual([4, 1, 2, 1]);
  });
});

describe('decodeValue', () => {
  const value = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withSparseArray: true,
    withTypedArray: true,
    withUnicodeString: true,
  }).map((any) => structuredClone(any));

  it('returns what was encoded, as JSON or not', () => {
    fc.assert(
      fc.property(value, (any) => {
        expect(decodeValue(encodeValue(any))).toStrictEqual(any);
      }),
      {
        numRuns: runs(2000),
        examples: [[-0], [NaN], [{ a: undefined }], ['\ud800'], [Object.assign([], { 1: 1 })], [
          JSON.parse('{"__proto__":{"a":1}}'),
        ], [null]],
      },
    );
  });

  it('reads what earlier versions have written', () => {
    fc.assert(
      fc.property(value, (any) => {
        const serializer = new Serializer();
        serializer.writeHeader();
        serializer.writeValue(any);
        expect(decodeValue(serializer.releaseBuffer())).toStrictEqual(any);
      }),
      { numRuns: runs(500) },
    );
  });

  it('keeps one object that is there twice, and texts that JSON makes too long', () => {
    const shared = { a: 1 };
    const [first, second] = decodeValue(encodeValue([shared, shared])) as [object, object]; // safe: as encoded
    expect(first).toBe(second);
    const text = '\u0001'.repeat(1_000_000);
    expect(decodeValue(encodeValue(text))).toBe(text);
  });
});

describe('memory outside the heap', () => {
  it('does not grow with the number of encoded values', () => {
    const before = Deno.memoryUsage().rss;
    for (let i = 0; i < 50_000; i++) encodeValue({ text: 'x'.repeat(200), list: [1, 2, i] });
    expect(Deno.memoryUsage().rss - before).toBeLessThan(60 * 1_048_576); // 160 MiB by V8's serializer
  });
});
