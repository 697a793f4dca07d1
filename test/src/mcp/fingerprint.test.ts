import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from '../../../src/mcp/pins.ts';
import { rawTool } from '../../fixtures/mcp.ts';

/** The same data with the keys of every object in another order. */
function reordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reordered);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).toReversed().map(([key, item]) => [key, reordered(item)]));
}

describe('fingerprintOf', () => {
  it('is SHA-256 over the version of the scheme and the canonical JSON of the definition', async () => {
    const bytes = new TextEncoder().encode('mcp-tool/v1\n{"a":[1,null],"b":"x"}');
    const expected = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex();
    expect(await fingerprintOf({ b: 'x', a: [1, null] })).toBe(expected);
  });

  it('does not depend on the order of keys, at any depth', async () => {
    await fc.assert(fc.asyncProperty(fc.object({ maxDepth: 4 }), async (definition) => {
      const data: unknown = JSON.parse(JSON.stringify(definition));
      expect(await fingerprintOf(reordered(data))).toBe(await fingerprintOf(data));
    }));
  });

  it('differs with one field more, and with one value changed', async () => {
    const records = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 }));
    await fc.assert(fc.asyncProperty(records, fc.string(), fc.jsonValue(), async (definition, key, value) => {
      const changed = { ...definition, [`${key}+`]: [definition[`${key}+`] ?? value] };
      expect(await fingerprintOf(changed)).not.toBe(await fingerprintOf(definition));
    }));
  });

  it.each([
    ['one more space', { description: 'Searches the handbook ' }],
    ['another order of a list', { icons: [{ src: 'b' }, { src: 'a' }] }],
    ['an unknown field', { 'x-new': null }],
    ['a hint that says what its absence says', { annotations: { readOnlyHint: true, destructiveHint: true } }],
  ])('differs after %s', async (_, change) => {
    expect(await fingerprintOf(rawTool(change))).not.toBe(await fingerprintOf(rawTool()));
  });
});
