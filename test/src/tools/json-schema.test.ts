import { describe, expect, it } from 'vitest';
import { PinnaceError } from '../../../src/errors.ts';
import type { JsonSchema } from '../../../src/schema.ts';
import { compileJsonSchema } from '../../../src/tools/json-schema.ts';

const trip: JsonSchema = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 2, pattern: '^[A-Z]' },
    days: { type: 'integer', minimum: 1 },
    legs: { type: 'array', maxItems: 2, items: { $ref: '#/$defs/leg' } },
  },
  required: ['city'],
  additionalProperties: false,
  $defs: { leg: { type: 'object', properties: { by: { enum: ['sea', 'land'] } }, required: ['by'] } },
};

function nest(levels: number): JsonSchema {
  let schema: JsonSchema = {};
  for (let i = 0; i < levels; i++) schema = { items: schema };
  return schema;
}

function freeze<T extends object>(value: T): T {
  for (const part of Object.values(value)) if (typeof part === 'object' && part !== null) freeze(part);
  return Object.freeze(value);
}

function failureOf(schema: unknown): unknown {
  try {
    compileJsonSchema(schema as JsonSchema); // may be anything: it came from a registration
  } catch (error) {
    return error;
  }
  return undefined;
}

describe('compileJsonSchema, a schema', () => {
  it.each<[unknown, string]>([
    [[], 'it'],
    [null, 'it'],
    ['object', 'it'],
    [{ type: 'objekt' }, '"type"'],
    [{ type: [] }, '"type"'],
    [{ properties: { a: { type: 'text' } } }, '"properties.a.type"'],
    [{ properties: [] }, '"properties"'],
    [{ properties: { a: 'string' } }, '"properties.a"'],
    [{ items: { items: { minLength: -1 } } }, '"items.items.minLength"'],
    [{ required: 'a' }, '"required"'],
    [{ properties: { a: { type: 'string', required: true } } }, '"properties.a.required"'],
    [{ enum: 'a' }, '"enum"'],
    [{ minimum: '1' }, '"minimum"'],
    [{ multipleOf: 0 }, '"multipleOf"'],
    [{ uniqueItems: 'yes' }, '"uniqueItems"'],
    [{ allOf: [] }, '"allOf"'],
    [{ anyOf: [{ type: 'none' }] }, '"anyOf.0.type"'],
    [{ dependentRequired: { a: 5 } }, '"dependentRequired.a"'],
    [{ dependentSchemas: { a: { type: 5 } } }, '"dependentSchemas.a.type"'],
    [{ properties: { a: { pattern: '(' } } }, '"properties.a.pattern"'],
    [{ properties: { a: { patternProperties: { '(': {} } } } }, '"properties.a.patternProperties.?"'],
    [{ $ref: '#/$defs/gone' }, '"$ref"'],
    [{ properties: { a: { items: { $ref: '#/$defs/gone' } } } }, '"$ref"'],
    [{ properties: { a: { $ref: 'https://schemas.example/a.json' } } }, '"$ref"'],
  ])('is refused when it is %j', (schema, place) => {
    const failure = failureOf(schema);
    expect(failure).toBeInstanceOf(PinnaceError);
    expect(failure).toMatchObject({
      code: 'invalid_argument',
      message: `Cannot use the JSON Schema: ${place} is not as JSON Schema defines it`,
      details: { reason: 'invalid_schema' },
    });
  });

  it.each<[string, unknown]>([
    ['refers to itself without end', { $ref: '#' }],
    ['has a reference that is no URL', { properties: { a: { $ref: 'http://[' } } }],
    ['has an id that is no URL', { $id: 'http://[' }],
    ['has two ids that are the same', { $id: 'https://a.example/', properties: { a: { $id: 'https://a.example/' } } }],
    ['is nested without measure', nest(20_000)],
    ['holds a function', { default: () => 1 }],
  ])('is refused when it %s', (_, schema) => {
    expect(failureOf(schema)).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_schema' } });
  });

  it('is not changed', () => {
    const frozen = freeze(structuredClone(trip));
    expect(compileJsonSchema(frozen)({ city: 'Oslo' })).toEqual([]);
  });

  it('can be compiled twice, and as a part of another', () => {
    for (const schema of [trip, trip]) expect(compileJsonSchema(schema)({ city: 'Oslo' })).toEqual([]);
    const leg = { $id: 'https://a.example/leg', $ref: '#/$defs/text', $defs: { text: { type: 'string' } } };
    expect(compileJsonSchema(leg)('sea')).toEqual([]);
    expect(compileJsonSchema({ items: { ...leg } })([5])).not.toEqual([]);
  });

  it('may refer to itself where values end', () => {
    const list: JsonSchema = { type: 'object', properties: { value: { type: 'number' }, next: { $ref: '#' } } };
    const check = compileJsonSchema(list);
    expect(check({ value: 1, next: { value: 2, next: {} } })).toEqual([]);
    expect(check({ value: 1, next: { value: 'x' } })).toMatchObject([{ path: 'next.value' }]);
  });

  it('may hold words that are not of JSON Schema', () => {
    expect(compileJsonSchema({ type: 'string', 'x-order': { type: 'nonsense' }, examples: [{ $ref: '#/no' }] })('a'))
      .toEqual([]);
  });
});

describe('compileJsonSchema, a value', () => {
  it.each([
    { city: 'Oslo' },
    { city: 'Oslo', days: 3, legs: [{ by: 'sea' }, { by: 'land' }] },
  ])('fits: %j', (value) => {
    expect(compileJsonSchema(trip)(value)).toEqual([]);
  });

  it.each<[unknown, string, string]>([
    [{}, '', 'does not have required property "city"'],
    [5, '', 'type "number" is invalid. Expected "object"'],
    [{ city: 5 }, 'city', 'type "number" is invalid. Expected "string"'],
    [{ city: 'O' }, 'city', 'String is too short (1 < 2)'],
    [{ city: 'oslo' }, 'city', 'breaks the rule "pattern"'],
    [{ city: 'Oslo', days: 1.5 }, 'days', 'type "number" is invalid. Expected "integer"'],
    [{ city: 'Oslo', days: 0 }, 'days', 'breaks the rule "minimum"'],
    [{ city: 'Oslo', legs: [{ by: 'sea' }, { by: 'air' }] }, 'legs.1.by', 'breaks the rule "enum"'],
    [{ city: 'Oslo', legs: [{}] }, 'legs.0', 'does not have required property "by"'],
    [{ city: 'Oslo', fuel: 1 }, 'fuel', 'is not known here'],
  ])('does not fit: %j', (value, path, message) => {
    expect(compileJsonSchema(trip)(value)).toContainEqual({ path, message });
  });

  it('that is not JSON does not fit', () => {
    const check = compileJsonSchema({ type: 'object' });
    for (const value of [undefined, 1n, Symbol('s'), () => 1]) {
      expect(check(value)).toEqual([{ path: '', message: 'must be JSON, and not nested too deep' }]);
    }
  });

  it('that leads around a reference without end does not fit', () => {
    const check = compileJsonSchema({ properties: { a: { $ref: '#/properties/a' } } });
    expect(check({ a: 1 })).toEqual([{ path: '', message: 'must be JSON, and not nested too deep' }]);
  });

  it('that has keys of a prototype is checked like any other', () => {
    const check = compileJsonSchema({
      type: 'object',
      required: ['toString'],
      additionalProperties: { type: 'string' },
    });
    expect(check({})).toMatchObject([{ message: 'does not have required property "toString"' }]);
    expect(check(JSON.parse('{"toString":"a","__proto__":5}'))).toMatchObject([{ path: '__proto__' }]);
  });

  it('is not repeated in the issues', () => {
    const check = compileJsonSchema({
      type: 'object',
      properties: {
        a: { const: 1 },
        b: { enum: ['x'] },
        c: { pattern: '^x' },
        d: { format: 'email' },
        e: { maxLength: 2 },
        f: { type: 'number' },
        g: { not: { type: 'string' } },
        h: { type: 'array', uniqueItems: true },
        i: { anyOf: [{ const: 1 }, { const: 2 }] },
      },
      propertyNames: { maxLength: 1 },
    });
    const text = 'hunter2';
    const value = { a: text, b: text, c: text, d: text, e: text, f: text, g: text, h: [text, text], i: text };
    const issues = check({ ...value, 'the <b>key</b>\n': 1 });
    expect(issues.length).toBeGreaterThan(9);
    expect(JSON.stringify(issues)).not.toMatch(/hunter2|<b>/);
  });
});
