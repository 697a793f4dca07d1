import { stepsOf } from '../tools/steps.ts'; // before the code that it counts
import { describe, expect, it, vi } from 'vitest';
import type { JsonSchema } from '../../src/base/schema.ts';
import { compileJsonSchema } from '../../src/tools/json-schema/json-schema.ts';
import { budget, share } from '../fixtures/budget.ts';
import { randomNumbers } from '../fixtures/chance/random.ts';

const list = <T>(length: number, of: (at: number) => T): T[] => Array.from({ length }, (_, at) => of(at));
const record = <T>(length: number, name: string, of: (at: number) => T): Record<string, T> =>
  Object.fromEntries(list(length, (at) => [`${name}${at}`, of(at)]));

/** Schemas of a few kilobytes whose keywords multiply with the parts of a value. */
const hostile: readonly [string, JsonSchema, unknown][] = [
  ['many constants for many items', { items: { anyOf: list(500, (at) => ({ const: at })) } }, list(4_000, () => -1)],
  [
    'many patterns for many names',
    { patternProperties: record(300, '^a', () => ({})) },
    record(4_000, 'k', () => 1),
  ],
  ['a long list of values', { items: { enum: list(5000, (at) => `v${at}`) } }, list(4_000, (at) => `v${at % 5000}`)],
  [
    'a long list of objects',
    { items: { enum: list(1000, (a) => ({ a })) } },
    list(4_000, (at) => ({ a: at % 1000 })),
  ],
  ['unique items, again and again', { allOf: list(200, () => ({ uniqueItems: true })) }, list(4_000, (at) => at)],
  ['many required names', { items: { required: list(3000, (at) => `r${at}`) } }, list(2000, () => ({}))],
  [
    'lengths of a long text',
    { allOf: list(2000, (at) => ({ minLength: 150_000 + at })) },
    'x'.repeat(250_000),
  ],
  ['formats of a long text', { allOf: list(1000, () => ({ format: 'uri-reference' })) }, 'a/'.repeat(60_000)],
  ['names from a list', { propertyNames: { enum: list(5000, (at) => `v${at}`) } }, record(4_000, 'k', () => 1)],
  ['contains', { contains: { anyOf: list(500, (at) => ({ const: at })) } }, list(4_000, () => -1)],
  [
    'dependent names',
    { items: { dependentRequired: record(2000, 'k', () => ['x']) } },
    list(5000, () => ({ a: 1 })),
  ],
  ['many properties', { items: { properties: record(3000, 'p', () => ({})) } }, list(3000, () => ({ a: 1 }))],
  [
    'multiples of tiny numbers',
    { items: { allOf: list(300, () => ({ multipleOf: 1e-300 })) } },
    list(5000, () => 1e300),
  ],
  [
    'what is left over',
    { allOf: list(300, () => ({ additionalProperties: true })), unevaluatedProperties: false },
    record(5000, 'k', () => 1),
  ],
];

/** What one check may do in all, and before others have their turn: a second, and a few milliseconds. */
const mostSteps = 80_000_000;
const mostStepsOfTurn = 200_000;

describe('compileJsonSchema', () => {
  it.each(share(hostile, 3))('lets others have their turn while it checks %s, and ends', async (_, schema, value) => {
    const { inTurns } = compileJsonSchema(schema);
    const { steps, stepsOfTurn } = await observed(() => inTurns(value));
    expect(steps).toBeLessThan(mostSteps);
    expect(stepsOfTurn).toBeLessThan(mostStepsOfTurn);
  });

  it('says of a value that it takes too many steps, in turns as at once', async () => {
    const schema = { contains: { anyOf: list(500, (at) => ({ const: at })) } };
    const value = list(5_000, () => -1);
    const check = compileJsonSchema(schema);
    const issue = { path: '', message: 'takes too many steps to check against its schema: make it smaller' };
    expect(check(value)).toEqual([issue]);
    expect(await check.inTurns(value)).toEqual([issue]);
  });

  it('finds the same in turns as at once, for generated schemas and values', async () => {
    const random = randomNumbers(7);
    for (let round = 0; round < 300; round++) {
      const check = compileJsonSchema(schemaOf(random, 4));
      const value = valueOf(random, 4);
      expect(await check.inTurns(value)).toEqual(check(value));
    }
  });

  it('bounds the work of generated schemas for large values', async () => {
    const random = randomNumbers(11);
    for (let round = 0; round < budget({ short: 10, long: 60 }); round++) {
      const check = compileJsonSchema({ items: schemaOf(random, 3), patternProperties: { a: schemaOf(random, 3) } });
      const part = valueOf(random, 3);
      const value = random() < 0.5 ? list(4_000, () => part) : record(4_000, 'a', () => part);
      const { steps, stepsOfTurn } = await observed(() => check.inTurns(value));
      expect(steps).toBeLessThan(mostSteps);
      expect(stepsOfTurn).toBeLessThan(mostStepsOfTurn);
    }
  });
});

/** The steps of the work, and of one of its turns. */
async function observed(work: () => unknown): Promise<{ steps: number; stepsOfTurn: number }> {
  const turns = vi.spyOn(globalThis, 'setImmediate');
  const steps = await stepsOf(work);
  const count = 1 + turns.mock.calls.length;
  turns.mockRestore();
  return { steps, stepsOfTurn: steps / count };
}

type Random = () => number;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[Math.floor(random() * from.length)]!;
}

function schemaOf(random: Random, depth: number): JsonSchema {
  const below = (): JsonSchema | boolean => depth <= 0 ? random() < 0.8 : schemaOf(random, depth - 1);
  const few = (): (JsonSchema | boolean)[] => list(1 + Math.floor(random() * 3), below);
  const keywords: readonly (() => JsonSchema)[] = [
    () => ({ type: pick(random, ['string', 'number', 'object', 'array', 'integer']) }),
    () => ({ anyOf: few() }),
    () => ({ oneOf: few() }),
    () => ({ allOf: few() }),
    () => ({ not: below() }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
    () => ({ if: below(), then: below(), else: below() }),
    () => ({ properties: { a: below(), b: below() }, additionalProperties: below() }),
    () => ({ patternProperties: { '^[ab]$': below() }, unevaluatedProperties: below() }),
    () => ({ items: below(), uniqueItems: random() < 0.5 }),
    () => ({ prefixItems: few(), unevaluatedItems: below() }),
    () => ({ contains: below(), minContains: Math.floor(random() * 3) }),
    () => ({ enum: [1, 'a', { a: 1 }, [1], null] }),
    () => ({ const: valueOf(random, 1) }),
    () => ({ required: ['a'], propertyNames: below() }),
    () => ({ minLength: 1, maxLength: 2, minimum: 0, multipleOf: 0.5 }),
    () => ({ dependentSchemas: { a: below() }, dependentRequired: { b: ['a'] } }),
  ];
  return Object.assign({}, ...list(1 + Math.floor(random() * 3), () => pick(random, keywords)()));
}

function valueOf(random: Random, depth: number): unknown {
  const kind = Math.floor(random() * (depth <= 0 ? 4 : 6));
  if (kind === 0) return pick(random, ['', 'a', 'ab', 'abc']);
  if (kind === 1) return pick(random, [0, 1, 1.5, -1]);
  if (kind === 2) return random() < 0.5;
  if (kind === 3) return null;
  const parts = list(Math.floor(random() * 4), () => valueOf(random, depth - 1));
  return kind === 4 ? parts : Object.fromEntries(parts.map((part, at) => ['abcd'[at], part]));
}
