import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import { defineTool } from '../../../../src/index.ts';
import { declarationOf, signatureOf, typeOf } from '../../../../src/tools/declaration.ts';

describe('declarationOf', () => {
  it('prints the description and the signature of a tool', () => {
    const { definition } = defineTool({
      id: 'orders_get',
      description: 'Returns an order.\n  With its lines.',
      input: v.strictObject({ id: v.string(), limit: v.optional(v.number()) }),
      output: v.object({ id: v.string(), lines: v.array(v.object({ sku: v.string(), count: v.number() })) }),
      execute: ({ id }) => ({ id, lines: [] }),
    });
    expect(declarationOf(definition)).toBe([
      '/** Returns an order. With its lines. */',
      'orders_get(input: { id: string; limit?: number }): Promise<{ id: string; lines: { sku: string; count: number }[] }>;',
    ].join('\n'));
  });

  it('cannot be ended by a description, and quotes a name that is none of JavaScript', () => {
    const tool = { name: 'a-b', description: 'x */ evil(); /*', paramsSchema: { type: 'object' } };
    expect(declarationOf(tool)).toBe(
      '/** x * / evil(); /* */\n"a-b"(input?: Record<string, unknown>): Promise<unknown>;',
    );
  });

  it('requires an input where a part of its schema does', () => {
    const paramsSchema = { type: 'object', allOf: [{ $ref: '#/$defs/a' }], $defs: { a: { required: ['x'] } } };
    expect(signatureOf({ name: 'a', paramsSchema })).toMatch(/^a\(input: /);
  });
});

describe('typeOf', () => {
  it.each([
    [{ type: 'string' }, 'string'],
    [{ type: 'integer' }, 'number'],
    [{ type: ['string', 'null'] }, 'string | null'],
    [{ type: ['number', 'integer'] }, 'number'],
    [{ const: 'a"b' }, '"a\\"b"'],
    [{ type: 'string', enum: ['a', 'b', null] }, '"a" | "b" | null'],
    [{ enum: Array.from({ length: 65 }, (_, i) => i) }, 'number'],
    [{ enum: [{ a: 1 }] }, 'unknown'],
    [{ type: 'array', items: { type: 'string' } }, 'string[]'],
    [{ type: 'array', items: { enum: [1, 2] } }, '(1 | 2)[]'],
    [{ type: 'array' }, 'unknown[]'],
    [
      { type: 'array', prefixItems: [{ type: 'string' }, { type: 'number' }], minItems: 1, items: false },
      '[string, number?]',
    ],
    [{ type: 'array', items: [{ type: 'string' }], minItems: 1 }, '[string, ...unknown[]]'],
    [{ type: 'object' }, 'Record<string, unknown>'],
    [{ type: 'object', additionalProperties: { type: 'number' } }, 'Record<string, number>'],
    [{ type: 'object', additionalProperties: false }, '{}'],
    [{ properties: { 'a b': { type: 'string' } }, required: ['a b'] }, '{ "a b": string }'],
    [{ type: 'object', properties: { a: {} }, additionalProperties: {} }, '{ a?: unknown; [key: string]: unknown }'],
    [{ anyOf: [{ type: 'string' }, { type: 'number' }, { type: 'string' }] }, 'string | number'],
    [{ oneOf: [{ type: 'string' }, {}] }, 'unknown'],
    [{ allOf: [{ properties: { a: {} } }, { properties: { b: {} } }] }, '{ a?: unknown } & { b?: unknown }'],
    [{ allOf: [{ anyOf: [{ const: 1 }, { const: 2 }] }, { type: 'number' }] }, '(1 | 2) & number'],
    [{ $ref: '#/$defs/a~1b', $defs: { 'a/b': { type: 'boolean' } } }, 'boolean'],
    [{ $ref: 'https://example.com/other.json' }, 'unknown'],
    [{ $ref: '#/$defs/missing' }, 'unknown'],
    [true, 'unknown'],
    [false, 'never'],
    ['text', 'unknown'],
  ])('prints %j', (schema, expected) => {
    expect(typeOf(schema)).toBe(expected);
  });

  it('stays short for a schema that refers to itself in many places', () => {
    const properties = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`f${i}`, { $ref: '#' }]));
    expect(typeOf({ type: 'object', properties }).length).toBeLessThan(20_000);
  });
});
