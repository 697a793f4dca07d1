/** The parameters of a tool as a table; a JSON Schema that says more than a table can is left to be written as JSON. */

import type { JsonSchema } from '../../../src/registry/index.ts';

export interface Param {
  readonly name: string;
  readonly type: string;
  readonly description: string;
  readonly isRequired: boolean;
}

export const paramTypes = ['string', 'number', 'integer', 'boolean'] as const;

const simple: ReadonlySet<string> = new Set(['type', 'description']);
const plain: ReadonlySet<string> = new Set(['type', 'properties', 'required', 'additionalProperties']);

/** Returns the table; `undefined`: the schema says more. */
export function readParams(schema: JsonSchema): readonly Param[] | undefined {
  if (schema['type'] !== 'object' || !Object.keys(schema).every((key) => plain.has(key))) return undefined;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>); // checked below
  const isSimple = properties.every(([, property]) =>
    typeof property === 'object' && property !== null && Object.keys(property).every((key) => simple.has(key)) &&
    paramTypes.some((type) => type === property['type'])
  );
  if (!isSimple) return undefined;
  return properties.map(([name, { type, description }]) => ({
    name,
    type: String(type),
    description: typeof description === 'string' ? description : '',
    isRequired: required.includes(name),
  }));
}

export function writeParams(params: readonly Param[]): JsonSchema {
  const required = params.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  return {
    type: 'object',
    properties: Object.fromEntries(
      params.map(({ name, type, description }) => [name, { type, ...(description !== '' && { description }) }]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/**
 * Returns the table after the placeholders of a template have changed. A new placeholder gets a row, and an empty row is removed
 * with its placeholder.
 */
export function followPlaces(
  params: readonly Param[],
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
): readonly Param[] {
  const isLeft = ({ name, type, description, isRequired }: Param): boolean =>
    before.includes(name) && !after.includes(name) && type === 'string' && description === '' && isRequired;
  const stored = params.filter((param) => !isLeft(param));
  const added = after.filter((place) => !before.includes(place) && !stored.some(({ name }) => name === place));
  return [...stored, ...added.map(paramOf)];
}

/** Returns an empty row. */
export function paramOf(name: string): Param {
  return { name, type: 'string', description: '', isRequired: true };
}

/** Returns a sample input for a schema: its examples, else a value of its type. */
export function sampleOf(schema: JsonSchema, depth = 0): unknown {
  const { default: preset, examples, enum: options, const: only, type, anyOf, oneOf } = schema;
  if (preset !== undefined) return preset;
  if (only !== undefined) return only;
  for (const given of [examples, options]) if (Array.isArray(given) && given.length > 0) return given[0] as unknown;
  const [choice] = [anyOf, oneOf].filter(Array.isArray).flat() as readonly JsonSchema[]; // schemas, where the registry takes them
  if (choice) return sampleOf(choice, depth);
  return ofType(Array.isArray(type) ? type[0] : type, { schema, depth });
}

const deepest = 4;

function ofType(type: unknown, { schema, depth }: { readonly schema: JsonSchema; readonly depth: number }): unknown {
  if (type === 'string') return schema['format'] === 'date' ? '2026-01-31' : 'text';
  if (type === 'number' || type === 'integer') return typeof schema['minimum'] === 'number' ? schema['minimum'] : 1;
  if (type === 'boolean') return true;
  if (type === 'null') return null;
  if (depth >= deepest) return type === 'array' ? [] : {};
  if (type === 'array') {
    const { items } = schema;
    return typeof items === 'object' && items !== null ? [sampleOf(items as JsonSchema, depth + 1)] : []; // as above
  }
  const properties = Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>); // as above
  return Object.fromEntries(properties.map(([name, property]) => [name, sampleOf(property, depth + 1)]));
}
