import { describe, expect, it } from 'vitest';
import { PinnaceError } from '../../../../src/base/errors.ts';
import type { JsonSchema } from '../../../../src/base/schema.ts';
import { compileJsonSchema } from '../../../../src/tools/json-schema/json-schema.ts';

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
    [{ properties: { a: { pattern: 5 } } }, '"properties.a.pattern"'],
    [{ properties: { a: { format: 5 } } }, '"properties.a.format"'],
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

  it.each<[unknown, string, number]>([
    [{ pattern: '(?=a)a' }, '/pattern', 0],
    [{ properties: { a: { pattern: 'x(' } } }, '/properties/a/pattern', 1],
    [
      { properties: { a: { items: { patternProperties: { '(a)\\1': {} } } } } },
      '/properties/a/items/patternProperties/?a??1',
      3,
    ],
    [{ anyOf: [{}, { not: { pattern: '(?<!a)b' } }] }, '/anyOf/1/not/pattern', 0],
    [{ if: { propertyNames: { pattern: '*' } } }, '/if/propertyNames/pattern', 0],
    [{ $ref: '#/x-own', 'x-own': { pattern: '[' } }, '/$ref/pattern', 0],
    [
      { dependentSchemas: { a: { prefixItems: [{ pattern: 'a++' }] } } },
      '/dependentSchemas/a/prefixItems/0/pattern',
      2,
    ],
  ])('is refused with the place of a pattern that cannot run in linear time: %j', (schema, field, position) => {
    expect(failureOf(schema)).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining(`the pattern at "${field}" is refused at character ${position + 1}: `) as string,
      details: { reason: 'invalid_pattern', field, position },
    });
  });

  it('is refused when its patterns make machines that are too large together', () => {
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, i) => [`p${i}`, { pattern: `${i}.{0,1000}$` }]),
    );
    expect(failureOf({ properties })).toMatchObject({ details: { reason: 'invalid_pattern' } });
  });

  it('is refused when its references multiply', () => {
    const $defs = Object.fromEntries(
      Array.from({ length: 30 }, (_, i) => [`d${i}`, { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${i + 1}` })) }]),
    );
    expect(failureOf({ $ref: '#/$defs/d0', $defs: { ...$defs, d30: {} } })).toMatchObject({
      details: { reason: 'invalid_schema' },
    });
  });

  it('is not changed', () => {
    const frozen = freeze(structuredClone(trip));
    expect(compileJsonSchema(frozen)({ city: 'Oslo' })).toEqual([]);
  });

  it('may hold words that are not of JSON Schema', () => {
    expect(compileJsonSchema({ type: 'string', 'x-order': { type: 'nonsense' }, examples: [{ $ref: '#/no' }] })('a'))
      .toEqual([]);
  });
});

describe('compileJsonSchema, a value', () => {
  it.each<[unknown, string, string]>([
    [{}, '', 'does not have required property "city"'],
    [5, '', 'must be an object'],
    [{ city: 5 }, 'city', 'must be a string'],
    [{ city: 'O' }, 'city', 'String is too short (1 < 2)'],
    [{ city: 'oslo' }, 'city', 'breaks the rule "pattern"'],
    [{ city: 'Oslo', days: 1.5 }, 'days', 'must be an integer'],
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

  it('is matched by names as by rules, also where other keywords count what is left', () => {
    const check = compileJsonSchema({
      type: 'object',
      properties: { id: { type: 'string' } },
      patternProperties: { '^x-': { type: 'number' }, 'y$': { minimum: 10 } },
      additionalProperties: false,
    });
    expect(check({ 'id': 'a', 'x-1': 1, 'x-y': 12 })).toEqual([]);
    expect(check({ 'x-1': 'a' })).toContainEqual({
      path: 'x-1',
      message: 'must be a number',
    });
    expect(check({ 'x-y': 5 })).toContainEqual({ path: 'x-y', message: 'breaks the rule "minimum"' });
    expect(check({ z: 1 })).toEqual([{ path: 'z', message: 'is not known here' }]);
  });

  it('may leave to unevaluated keywords what no branch that holds has looked at', () => {
    const check = compileJsonSchema({
      allOf: [{ patternProperties: { '^a': true } }],
      anyOf: [{ properties: { b: { const: 1 } }, required: ['b'] }, { properties: { c: true } }],
      if: { properties: { d: { const: 1 } }, required: ['d'] },
      unevaluatedProperties: false,
    });
    expect(check({ a1: 1, b: 1, c: 1, d: 1 })).toEqual([]);
    expect(check({ b: 2 })).toContainEqual({ path: 'b', message: 'is not known here' });
    expect(check({ d: 2 })).toContainEqual({ path: 'd', message: 'is not known here' });
  });

  it('of 100,000 characters is checked in steps that its length bounds, for patterns and formats alike', () => {
    const long = '://a' + ':a'.repeat(50_000);
    for (
      const format of [
        'url',
        'uri',
        'uri-reference',
        'uri-template',
        'email',
        'hostname',
        'date-time',
        'duration',
        'regex',
      ]
    ) {
      expect(compileJsonSchema({ format })(`http${long} `)).not.toBe(undefined);
      expect(compileJsonSchema({ format })('a-'.repeat(50_000))).not.toBe(undefined);
    }
    expect(compileJsonSchema({ pattern: '^(a+)+$' })(`${'a'.repeat(100_000)}!`)).toEqual([
      { path: '', message: 'breaks the rule "pattern"' },
    ]);
    expect(compileJsonSchema({ format: 'url' })('https://example.com/a')).toEqual([]);
    expect(compileJsonSchema({ format: 'url' })('https://')).toHaveLength(1);
  });

  it('that takes too many steps does not fit, also where a match would be forbidden', () => {
    const text = Array.from({ length: 100_000 }, (_, i) => (i * i % 7 < 3 ? 'a' : 'b')).join('');
    const issue = { path: '', message: 'takes too many steps to check against its schema: make it smaller' };
    expect(compileJsonSchema({ pattern: '[ab]*a[ab]{4000}c' })(text)).toEqual([issue]);
    expect(compileJsonSchema({ not: { pattern: '[ab]*a[ab]{4000}c' } })(text)).toEqual([issue]);
  });

  it('is checked in steps that its own size bounds, however often the references of its schema double', () => {
    const half = (at: number) => ({ $ref: `#/$defs/d${at + 1}` });
    const doubling = Array.from({ length: 30 }, (_, at) => [`d${at}`, { allOf: [half(at), half(at)] }] as const);
    const check = compileJsonSchema({
      $defs: { ...Object.fromEntries(doubling), d30: { type: 'string', pattern: '^x$' } },
      properties: { q: { $ref: '#/$defs/d0' }, deep: { $ref: '#/$defs/d20' } },
    });
    const issue = { path: '', message: 'takes too many steps to check against its schema: make it smaller' };
    expect(check({ q: 'x' })).toEqual([issue]);
    expect(check({ deep: 'x' })).toEqual([]);
  });

  it('may be large where its schema has no more than its parts to look at', () => {
    const check = compileJsonSchema({ items: { anyOf: [{ type: 'string' }, { type: 'number' }] } });
    expect(check(Array.from({ length: 100_000 }, (_, at) => at))).toEqual([]);
  });

  it('with many items is compared for doubles in one pass', () => {
    const check = compileJsonSchema({ uniqueItems: true });
    const items = Array.from({ length: 50_000 }, (_, i) => ({ a: i, b: 1 }));
    expect(check(items)).toEqual([]);
    expect(check([...items, { b: 1, a: 7 }])).toEqual([{ path: '', message: 'breaks the rule "uniqueItems"' }]);
    expect(check([1, '1', [1], { a: 1 }, null, true])).toEqual([]);
  });
});

describe('compileJsonSchema, other drafts', () => {
  it('reads a tree whose nodes are extended by reference ($dynamicRef, $recursiveRef)', () => {
    const tree = (keyword: string, mark: object): JsonSchema => ({
      ...mark,
      type: 'object',
      properties: { name: { type: 'string' }, below: { type: 'array', items: { [keyword]: '#node' } } },
      unevaluatedProperties: false,
    });
    for (
      const schema of [
        tree('$dynamicRef', { $dynamicAnchor: 'node' }),
        JSON.parse(
          JSON.stringify(tree('$recursiveRef', { $recursiveAnchor: true })).replace('#node', '#'),
        ) as JsonSchema,
      ]
    ) {
      const check = compileJsonSchema(schema);
      expect(check({ name: 'a', below: [{ name: 'b', below: [] }] })).toEqual([]);
      expect(check({ name: 'a', below: [{ name: 7 }] })).not.toEqual([]);
      expect(check({ name: 'a', below: [{ nam: 'b' }] })).not.toEqual([]);
    }
  });

  it('refuses references that depend on the way to them, instead of letting everything pass', () => {
    const schema = {
      $id: 'https://a.example/list',
      $ref: '#/$defs/list',
      $defs: {
        list: { $id: 'list', items: { $dynamicRef: '#item' }, $defs: { any: { $dynamicAnchor: 'item' } } },
        texts: { $dynamicAnchor: 'item', type: 'string' },
      },
    };
    expect(failureOf(schema)).toMatchObject({ code: 'invalid_argument', details: { reason: 'invalid_schema' } });
  });

  it.each([
    [{ minimum: 1, exclusiveMinimum: true }, [1.1], [1]],
    [{ maximum: 9, exclusiveMaximum: true }, [8.9], [9]],
    [{ minimum: 1, exclusiveMinimum: false }, [1], [0.9]],
    [{ exclusiveMinimum: true }, [0, -1], []],
  ])('reads the bounds of draft 4: %j', (schema, good, bad) => {
    const check = compileJsonSchema(schema);
    expect(good.flatMap(check)).toEqual([]);
    expect(bad.filter((value) => check(value).length === 0)).toEqual([]);
  });
});
