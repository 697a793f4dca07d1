/** A JSON Schema as the rehearsal model reads it: what kind of value it wants, and what it says about it. Nothing in it is trusted. */

import { asRecord } from '../../../src/base/is-record.ts';
import { allStemsOf } from './words.ts';

/** The kind of a value. */
export type Kind = 'string' | 'number' | 'integer' | 'boolean' | 'array' | 'object' | 'null' | 'any';

/** What a schema says about one value. */
export interface Shape {
  readonly kind: Kind;
  /** Title and description. */
  readonly hint: string;
  /** The values of `enum` and `const` that text can name. */
  readonly choices: readonly (string | number | boolean)[];
  readonly format: string;
  readonly pattern: RegExp | undefined;
  readonly minimum: number;
  readonly maximum: number;
  readonly maxLength: number;
  readonly maxItems: number;
  readonly fallback: unknown;
  readonly examples: readonly unknown[];
  /** The properties of an object, the required ones first. Read lazily, since schemas may refer to themselves. */
  fields(): readonly Field[];
  items(): Shape;
  /** Where the schema is a union of objects: its members. */
  variants(): readonly Shape[];
}

/** One property of an object. */
export interface Field {
  readonly name: string;
  /** The stems of the name. */
  readonly words: ReadonlySet<string>;
  readonly shape: Shape;
  readonly required: boolean;
}

type Schema = Readonly<Record<string, unknown>>;

const kinds: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** Reads a schema; whatever makes no sense in it is left out. */
export function readShape(schema: unknown, root: unknown = schema): Shape {
  const all = asRecord(resolve(schema, root));
  const union = unionOf(all, root);
  const whole = union.length > 0 && union.every((member) => !('properties' in member)) ? { ...union[0], ...all } : all;
  const choices = choicesOf(whole, union);
  return {
    kind: kindOf(whole, choices),
    hint: `${asText(whole['title'])} ${asText(whole['description'])}`.trim(),
    choices,
    format: asText(whole['format']),
    pattern: asPattern(whole['pattern']),
    ...boundsOf(whole),
    fallback: whole['default'],
    examples: [...asList(whole['examples']), ...('example' in whole ? [whole['example']] : [])],
    fields: () => fieldsOf(whole, root),
    items: () => readShape(whole['items'] ?? asList(whole['prefixItems'])[0] ?? {}, root),
    variants: () => union.filter((member) => 'properties' in member).map((member) => readShape(member, root)),
  };
}

function resolve(schema: unknown, root: unknown): unknown {
  let current = schema;
  for (let hops = 0; hops < 8; hops++) {
    const { $ref: ref, ...beside } = asRecord(current);
    if (typeof ref !== 'string' || !ref.startsWith('#')) break;
    let target = root;
    for (const key of ref.slice(1).split('/').slice(1)) {
      target = own(target, key.replaceAll('~1', '/').replaceAll('~0', '~'));
    }
    current = { ...asRecord(target), ...beside };
  }
  const { allOf, ...rest } = asRecord(current);
  return Array.isArray(allOf) ? allOf.reduce<Schema>((merged, part) => merge(merged, asRecord(part)), rest) : current;
}

function merge(one: Schema, other: Schema): Schema {
  const properties = { ...asRecord(one['properties']), ...asRecord(other['properties']) };
  const required = [...asList(one['required']), ...asList(other['required'])];
  return { ...one, ...other, ...(Object.keys(properties).length > 0 && { properties, required }) };
}

function unionOf(schema: Schema, root: unknown): readonly Schema[] {
  const members = [...asList(schema['anyOf']), ...asList(schema['oneOf'])].slice(0, 50);
  return members.map((member) => asRecord(resolve(member, root))).filter((member) => member['type'] !== 'null');
}

function choicesOf(schema: Schema, union: readonly Schema[]): Shape['choices'] {
  const all = 'const' in schema ? [schema['const']] : asList(schema['enum']);
  const named = union.every((member) => 'const' in member) ? union.map((member) => member['const']) : [];
  return [...all, ...named].filter((value) => ['string', 'number', 'boolean'].includes(typeof value))
    .slice(0, 500) as Shape['choices']; // safe: filtered by type
}

function kindOf(schema: Schema, choices: Shape['choices']): Kind {
  const type = [schema['type']].flat().find((name) => name !== 'null' && kinds.includes(asText(name)));
  if (type !== undefined) return type as Kind; // safe: it is one of the list
  if ('properties' in schema || asList(schema['oneOf']).length > 0) return 'object';
  if ('items' in schema) return 'array';
  const first = typeof choices[0];
  return first === 'string' || first === 'number' || first === 'boolean' ? first : 'any';
}

function boundsOf(schema: Schema): Pick<Shape, 'minimum' | 'maximum' | 'maxLength' | 'maxItems'> {
  const step = schema['type'] === 'integer' ? 1 : 0;
  return {
    minimum: Math.max(asNumber(schema['minimum'], -Infinity), asNumber(schema['exclusiveMinimum'], -Infinity) + step),
    maximum: Math.min(asNumber(schema['maximum'], Infinity), asNumber(schema['exclusiveMaximum'], Infinity) - step),
    maxLength: asNumber(schema['maxLength'], Infinity),
    maxItems: asNumber(schema['maxItems'], 100),
  };
}

function fieldsOf(schema: Schema, root: unknown): readonly Field[] {
  const required = new Set(asList(schema['required']));
  const fields = Object.entries(asRecord(schema['properties'])).slice(0, 100).map(([name, property]) => ({
    name,
    words: allStemsOf(name),
    shape: readShape(property, root),
    required: required.has(name),
  }));
  return fields.toSorted((one, other) => Number(other.required) - Number(one.required));
}

function asPattern(value: unknown): RegExp | undefined {
  // A repeated repetition can take for ever, and the schema may be a stranger's.
  if (typeof value !== 'string' || value.length > 200 || /\([^)]*[+*}][^)]*\)[+*{]/.test(value)) return undefined;
  try {
    return new RegExp(value, 'u');
  } catch {
    return undefined;
  }
}

/** Returns an own property of whatever it is. */
export function own(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Returns the value when it is an array, else an empty one. */
export function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asNumber(value: unknown, otherwise: number): number {
  return typeof value === 'number' && !Number.isNaN(value) ? value : otherwise;
}
