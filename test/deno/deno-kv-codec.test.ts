import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byteString } from '../../adapters/storage/changes.ts';
import { packKey } from '../../adapters/storage/deno-kv-key.ts';
import { decodeValue, encodeValue } from '../../adapters/storage/value-codec.ts';
import { runs } from '../fixtures/budget.ts';

function compare(left: string, right: string): number {
  return left < right ? -1 : Number(left > right);
}

describe('encodeValue', () => {
  it('keeps views on one buffer together, and gives each buffer its own size', () => {
    const buffer = new Uint8Array([1, 2, 3, 4]).buffer;
    const value = [new Uint8Array(buffer), new DataView(buffer, 1, 2), new Uint8Array([9])];
    const [bytes, view, alone] = decodeValue(encodeValue(value)) as [Uint8Array, DataView, Uint8Array]; // safe: as encoded
    expect(bytes.buffer).toBe(view.buffer);
    expect([bytes.buffer.byteLength, view.byteOffset, view.getUint8(0), alone.buffer.byteLength]).toEqual([4, 1, 2, 1]);
  });
});

describe('packKey', () => {
  const bytes = fc.uint8Array({ maxLength: 40 });

  it('gives bytes without zeros that sort as the unpacked ones do', () => {
    fc.assert(
      fc.property(bytes, bytes, fc.nat(40), (a, rest, length) => {
        const b = new Uint8Array([...a.slice(0, length), ...rest]);
        expect(compare(byteString(packKey(a)), byteString(packKey(b)))).toBe(compare(byteString(a), byteString(b)));
        expect(packKey(a).every((byte) => byte >= 1 && byte <= 128)).toBe(true);
      }),
      { numRuns: runs(2000) },
    );
  });
});
