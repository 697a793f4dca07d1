/** JSON Schemas of inputs as model providers take them: an object at the top, and nothing of older drafts. */

import { asArray, asRecord, isRecord } from './is-record.ts';
import { pointerKeys } from './json.ts';
import type { JsonSchema } from './schema.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Keywords whose value is a schema or a list of schemas, and those whose value has schemas by name. */
const parts =
  /^(?:items|prefixItems|additionalItems|unevaluatedItems|contains|additionalProperties|unevaluatedProperties|propertyNames|allOf|anyOf|oneOf|not|if|then|else)$/;
const named = /^(?:properties|patternProperties|dependentSchemas|\$defs|definitions)$/;

/** Returns the schema with a change made to each schema in it, the innermost first. What is no schema stays: values, names and texts. */
export function mapSchema(schema: unknown, change: (schema: Schema) => Schema): unknown {
  if (Array.isArray(schema)) return schema.map((one) => mapSchema(one, change));
  if (!isRecord(schema)) return schema;
  const inside = (value: unknown): unknown => mapSchema(value, change);
  return change(Object.fromEntries(
    Object.entries(schema).map(([key, value]) => [
      key,
      parts.test(key)
        ? inside(value)
        : named.test(key)
        ? Object.fromEntries(Object.entries(asRecord(value)).map(([name, one]) => [name, inside(one)]))
        : value,
    ]),
  ));
}

/** Whether a schema takes objects alone, by its type, its reference, or all of its alternatives. */
export function isObjectSchema(schema: unknown, root = schema, depth = 0): boolean {
  const { type, $ref, anyOf, oneOf, allOf } = asRecord(schema);
  if (type !== undefined || depth > deepest) return type === 'object';
  const isObject = (one: unknown): boolean => isObjectSchema(one, root, depth + 1);
  return ($ref !== undefined && isObject(targetOf($ref, root))) || asArray(allOf).some(isObject) ||
    [anyOf, oneOf].map(asArray).some((members) => members.length > 0 && members.every(isObject));
}

const deepest = 8;
const known = new WeakMap<JsonSchema, JsonSchema>();

/**
 * Returns the schema as all providers take it. They refuse alternatives at the top ("does not support oneOf, allOf, or anyOf at the
 * top level"), an object without properties, an array without items, and forms of drafts before 2020-12; inputs are checked by the
 * schema itself.
 */
export function providerSchema(schema: JsonSchema): JsonSchema {
  const made = known.get(schema) ?? withoutAlternatives(asRecord(mapSchema(schema, inNewForm)));
  known.set(schema, made);
  return made;
}

function inNewForm(given: Schema): Schema {
  const schema = withExclusive(withExclusive(given, 'minimum', 'exclusiveMinimum'), 'maximum', 'exclusiveMaximum');
  const { items, additionalItems = {}, enum: values, ...others } = schema;
  const isArray = [schema['type']].flat().includes('array');
  if (Array.isArray(items)) {
    return { ...others, ...(items.length > 0 && { prefixItems: items }), items: additionalItems };
  }
  if (isArray && items === undefined) return { ...schema, items: {} };
  return Array.isArray(values) && values.length === 0 ? others : schema;
}

/** Draft 4 says with a boolean that a bound is exclusive. */
function withExclusive(schema: Schema, name: string, exclusive: string): Schema {
  const { [name]: bound, [exclusive]: is, ...others } = schema;
  if (typeof is !== 'boolean') return schema;
  return { ...others, ...(bound !== undefined && { [is ? exclusive : name]: bound }) };
}

/** Puts the properties of alternatives and references at the top into one object, which says in words what belongs together. */
function withoutAlternatives(root: Schema): JsonSchema {
  const { $ref, allOf, anyOf, oneOf, not: _, enum: __, const: ___, ...own } = root;
  if (Object.keys(root).length === Object.keys(own).length) {
    return root['properties'] === undefined ? { type: 'object', ...root, properties: {} } : root;
  }
  const unions = [anyOf, oneOf].map(asArray).filter((members) => members.length > 0);
  const groups = unions.map((members) => members.map((one) => requiredOf(objectsOf(one, root))));
  const always = groups.map(([first = [], ...others]) =>
    first.filter((name) => others.every((names) => names.includes(name)))
  );
  const required = [
    ...requiredOf([own]),
    ...[...asArray(allOf), ...$ref === undefined ? [] : [{ $ref }]].flatMap((one) => requiredOf(objectsOf(one, root))),
    ...always.flat(),
  ];
  const said = groups.map((names) => names.map((one) => one.join(', ')).filter((text) => text !== ''))
    .filter((texts) => new Set(texts).size > 1).map((texts) => `Fields that belong together: ${texts.join('; or ')}.`);
  const description = [own['description'], ...said].filter((text) => typeof text === 'string').join(' ');
  return {
    ...own,
    type: 'object',
    ...(description !== '' && { description }),
    properties: mergedProperties(objectsOf(root, root)),
    ...(required.length > 0 && { required: [...new Set(required)] }),
  };
}

/** The schema and all that it consists of at the top. */
function objectsOf(schema: unknown, root: Schema, depth = 0): readonly Schema[] {
  if (!isRecord(schema) || depth > deepest) return [];
  const { $ref, allOf, anyOf, oneOf } = schema;
  const inside = [$ref === undefined ? [] : targetOf($ref, root), allOf, anyOf, oneOf].flat();
  return [schema, ...inside.flatMap((one) => objectsOf(one, root, depth + 1))];
}

function mergedProperties(objects: readonly Schema[]): Schema {
  const found = new Map<string, Map<string, unknown>>();
  for (const [name, schema] of objects.flatMap(({ properties }) => Object.entries(asRecord(properties)))) {
    found.set(name, (found.get(name) ?? new Map<string, unknown>()).set(JSON.stringify(schema), schema));
  }
  return Object.fromEntries(
    [...found].map((
      [name, schemas],
    ) => [name, schemas.size === 1 ? [...schemas.values()][0] : { anyOf: [...schemas.values()] }]),
  );
}

function requiredOf(objects: readonly Schema[]): readonly string[] {
  return objects.flatMap(({ required }) => asArray(required)).filter((name) => typeof name === 'string');
}

function targetOf($ref: unknown, root: unknown): unknown {
  if ($ref === '#') return root;
  if (typeof $ref !== 'string' || !$ref.startsWith('#/')) return undefined;
  return pointerKeys($ref.slice(1)).reduce<unknown>((part, name) => asRecord(part)[name], root);
}
