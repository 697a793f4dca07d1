import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseIdempotencyKey } from '../../../../adapters/transport/signed/caller.ts';
import vectors from '../../../fixtures/vectors/idempotency-key-cases.json' with { type: 'json' };

const malformed = { status: 400, code: 'idempotency_key_malformed' };

/** Halves of surrogate pairs too. */
const anyCharacter = fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code));

describe('parseIdempotencyKey', () => {
  it.each(vectors.cases.filter(({ valid }) => valid))('reads $header', ({ header, key }) => {
    expect(parseIdempotencyKey(header)).toBe(key);
  });

  it.each(vectors.cases.filter(({ valid }) => !valid))('refuses $header as $code', ({ header, code }) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining({ status: 400, code }));
  });

  it('gives every printable key of 16 to 255 characters back, whatever was escaped', () => {
    const printable = fc.string({
      unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
      minLength: 16,
      maxLength: 255,
    });
    fc.assert(fc.property(printable, (key) => {
      expect(parseIdempotencyKey(`"${key.replace(/["\\]/g, '\\$&')}"`)).toBe(key);
    }));
  });

  it('refuses any other text without breaking', () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 600 }), (header) => {
      fc.pre(!/^ *"/.test(header));
      expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining(malformed));
    }));
  });

  it.each([
    ['a key with parameters', '"kkkkkkkkkkkkkkkkkkkk";a=1'],
    ['a list', '("kkkkkkkkkkkkkkkkkkkk")'],
    ['a token', 'kkkkkkkkkkkkkkkkkkkk'],
    ['a number', '1234567890123456'],
    ['what is not ASCII', '"ключключключключ"'],
    ['a megabyte', `"${'k'.repeat(1_000_000)}"`],
  ])('refuses %s', (_name, header) => {
    expect(() => parseIdempotencyKey(header)).toThrow(expect.objectContaining(malformed));
  });
});
