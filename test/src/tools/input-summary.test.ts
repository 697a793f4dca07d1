import { describe, expect, it } from 'vitest';
import { hmacSha256Sync } from '../../../src/base/hash.ts';
import { inputSummary } from '../../../src/tools/input-fields.ts';

const schemaOf = (...names: string[]) => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, {}])),
});
const keysOf = (input: unknown, schema: unknown = {}) =>
  inputSummary(input, { schema, tenant: 't', digestOf: undefined }).keys;
const inputOf = (...names: string[]) => Object.fromEntries(names.map((name) => [name, 1]));

describe('inputSummary', () => {
  it('writes at most 16 names of at most 40 characters each', () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`);
    expect(keysOf(inputOf(...names), schemaOf(...names))).toBe(`${names.slice(0, 16).join(',')},+4 more`);
    const long = 'x'.repeat(90);
    expect(keysOf(inputOf(long), schemaOf(long))).toBe(`"${'x'.repeat(39)}…"`);
    const wide = names.map((name) => name.padEnd(40, '_'));
    expect(keysOf(inputOf(...wide), schemaOf(...wide))).toMatch(/^(n\d_+,){5}\+15 more$/);
  });

  it('escapes names that could be read as something else', () => {
    const names = ['a,b', '+2 undeclared', 'line\nbreak', '\u202Eabc'];
    expect(keysOf(inputOf(...names), schemaOf(...names)))
      .toBe('"a,b","+2 undeclared","line\\nbreak","\\u202eabc"');
  });

  it('counts every name where nothing is declared, also those of prototypes', () => {
    expect(keysOf(JSON.parse('{"__proto__":1,"constructor":2}'))).toBe('+2 undeclared');
    expect(keysOf(JSON.parse('{"a":1}'), schemaOf('toString', 'constructor'))).toBe('+1 undeclared');
  });

  it('never throws, whatever the input is made of', () => {
    const cycle: { self?: unknown } = {};
    cycle.self = cycle;
    const none = { input: undefined, digest: undefined, keys: undefined };
    for (const input of [cycle, 1n, undefined]) {
      expect(inputSummary(input, { schema: {}, tenant: 't', digestOf: () => 'd' })).toEqual(none);
    }
    for (const input of [null, 'text', [1]]) expect(keysOf(input)).toBeUndefined();
  });
});

describe('hmacSha256Sync', () => {
  it('computes what the platform computes', async () => {
    for (const keyLength of [32, 63, 64]) {
      const key = crypto.getRandomValues(new Uint8Array(keyLength));
      const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
      for (const text of ['', 'é', 'a'.repeat(55), 'a'.repeat(56), 'a'.repeat(64), 'b'.repeat(1000)]) {
        const signed = await crypto.subtle.sign('HMAC', imported, new TextEncoder().encode(text));
        expect(hmacSha256Sync(key)(text)).toBe(
          [...new Uint8Array(signed)].map((byte) => byte.toString(16).padStart(2, '0')).join(''),
        );
      }
    }
  });
});
