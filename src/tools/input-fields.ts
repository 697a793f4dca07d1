/** Which fields of an input its JSON Schema declares, and what events say of an input: never a value. */

import { canonicalJson, readPointer } from '../base/json.ts';
import { invalid } from '../base/parse.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { visible } from '../base/text.ts';
import type { SummaryValue } from '../contracts/event-sink.ts';
import type { DigestOf } from '../events/input-digests.ts';

/** What the schemas that apply to one object say of its fields. */
interface DeclaredFields {
  /** The schemas of each declared field, in the order in which the fields are declared. */
  readonly fields: ReadonlyMap<string, readonly unknown[]>;
  /** The schemas of fields that are not declared, where a schema permits them explicitly. */
  readonly others: readonly unknown[] | undefined;
}

type Schemas = readonly unknown[];
type Keywords = Readonly<Record<string, unknown>>;

const known = new WeakMap<Schemas, DeclaredFields>();

/**
 * Reads what schemas of the same root declare of an object, once for each list. Alternatives count together: the validator decides
 * which of them holds. Schemas do not change.
 */
export function declaredFields(schemas: Schemas, root: unknown): DeclaredFields {
  const declared = known.get(schemas) ?? readFields(schemas, root);
  known.set(schemas, declared);
  return declared;
}

const alone = new WeakMap<object, Schemas>();

/** The list of a tool's schema alone, always the same one. */
function schemasOf(schema: unknown): Schemas {
  if (typeof schema !== 'object' || schema === null) return [schema];
  const schemas = alone.get(schema) ?? [schema];
  alone.set(schema, schemas);
  return schemas;
}

function readFields(schemas: Schemas, root: unknown): DeclaredFields {
  const fields = new Map<string, unknown[]>();
  const others: unknown[] = [];
  for (const { properties, patternProperties, ...schema } of applied(schemas, root)) {
    for (const [name, field] of Object.entries(asKeywords(properties))) {
      fields.set(name, [...fields.get(name) ?? [], field]);
    }
    others.push(...Object.values(asKeywords(patternProperties)));
    for (const more of [schema['additionalProperties'], schema['unevaluatedProperties']]) {
      if (more !== undefined && more !== false) others.push(more);
    }
  }
  return { fields, others: others.length > 0 ? others : undefined };
}

export function elementSchemas(schemas: Schemas, root: unknown, at: number): Schemas {
  return applied(schemas, root).flatMap(({ items, prefixItems, additionalItems, unevaluatedItems, contains }) => {
    const tuple = Array.isArray(prefixItems) ? prefixItems : Array.isArray(items) ? items : [];
    const rest = [Array.isArray(items) ? additionalItems : items, unevaluatedItems];
    return [...(at < tuple.length ? [tuple[at]] : rest), contains].filter((one) => one !== undefined);
  });
}

/**
 * Finds a field that no schema declares or permits; `undefined` when there is none. An object within the input whose schema names no
 * field at all is free-form data.
 */
export function undeclaredField(input: unknown, schema: unknown): readonly string[] | undefined {
  return findUndeclared(input, { schemas: schemasOf(schema), root: schema, isTop: true });
}

interface Within {
  readonly schemas: Schemas;
  readonly root: unknown;
  readonly isTop?: boolean;
}

function findUndeclared(value: unknown, { schemas, root, isTop = false }: Within): readonly string[] | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      const found = findUndeclared(item, { schemas: elementSchemas(schemas, root, at), root });
      if (found) return [String(at), ...found];
    }
    return undefined;
  }
  const { fields, others } = declaredFields(schemas, root);
  if (fields.size === 0 && !others && !isTop) return undefined;
  for (const [name, inner] of Object.entries(value)) {
    const its = fields.get(name) ?? others;
    if (!its) return [name];
    const found = findUndeclared(inner, { schemas: its, root });
    if (found) return [name, ...found];
  }
  return undefined;
}

/** Checks that each of the destinations is a place in the input. @throws PinnaceError `invalid_argument` that names the field. */
export function requireDestinations<T extends Pick<ToolDefinition, 'id' | 'paramsSchema' | 'destinations'>>(
  tool: T,
): T {
  for (const [at, pointer] of tool.destinations?.entries() ?? []) {
    if (!isDeclared(pointer.split('/').slice(1), tool.paramsSchema)) {
      const message = 'must be a place in the input that "paramsSchema" declares, as "/to"';
      throw invalid(
        `the definition of tool "${tool.id}"`,
        [{ path: `destinations.${at}`, message }],
        'unknown_pointer',
      );
    }
  }
  return tool;
}

function isDeclared(parts: readonly string[], root: unknown): boolean {
  let schemas = schemasOf(root);
  for (const part of parts) {
    const { fields, others } = declaredFields(schemas, root);
    const items = /^\d{1,3}$/.test(part) ? elementSchemas(schemas, root, Number(part)) : [];
    const next = fields.get(part.replaceAll('~1', '/').replaceAll('~0', '~')) ?? others ?? items;
    if (next.length === 0) return false;
    schemas = next;
  }
  return true;
}

const wholes = ['allOf', 'anyOf', 'oneOf'];
const branches = ['if', 'then', 'else'];

/** The schemas with all that they refer to and are made of, each once. */
function applied(schemas: Schemas, root: unknown): readonly Keywords[] {
  const seen = new Set<unknown>(schemas);
  for (const schema of seen) { // grows while it is walked
    const keywords = asKeywords(schema);
    const { $ref, dependentSchemas } = keywords;
    if (typeof $ref === 'string' && $ref.startsWith('#')) seen.add(readPointer(root, decode($ref.slice(1))));
    for (const name of wholes) if (Array.isArray(keywords[name])) { for (const one of keywords[name]) seen.add(one); }
    for (const name of branches) seen.add(keywords[name]);
    for (const one of Object.values(asKeywords(dependentSchemas))) seen.add(one);
  }
  return [...seen].map(asKeywords);
}

function asKeywords(schema: unknown): Keywords {
  return typeof schema === 'object' && schema !== null && !Array.isArray(schema) ? schema as Keywords : {};
}

function decode(fragment: string): string {
  try {
    return decodeURIComponent(fragment);
  } catch {
    return fragment;
  }
}

interface InputSummaryOptions {
  /** The tool's JSON Schema. */
  readonly schema: unknown;
  readonly tenant: string;
  /** Without one there is no digest. */
  readonly digestOf: DigestOf | undefined;
}

export interface InputSummary extends Readonly<Record<string, SummaryValue>> {
  /** The length of its JSON in UTF-16 code units; absent where it is no JSON. */
  readonly input: number | undefined;
  /** Absent for an input that is longer than 16,384 or no JSON. */
  readonly digest: string | undefined;
  /** The top-level names that the schema declares, and how many others there are: `city,unit,+2 undeclared`. */
  readonly keys: string | undefined;
}

/** To hash more than this would take longer than the rest of the event. */
const maxDigestLength = 16_384;
const maxNames = 16;
const maxName = 40;
/** The names as written, so that the other facts of the event have room. */
const maxWritten = 240;
const bare = /^[\w.:$/@*-]+$/;

/** Returns the facts. Never throws, whatever the input is made of. */
export function inputSummary(input: unknown, { schema, tenant, digestOf }: InputSummaryOptions): InputSummary {
  try {
    const length = JSON.stringify(input)?.length;
    const isShort = length !== undefined && length <= maxDigestLength;
    const digest = isShort ? digestOf?.(canonicalJson(input), tenant) : undefined;
    return { input: length, digest, keys: keysOf(input, schema) };
  } catch {
    return { input: undefined, digest: undefined, keys: undefined }; // no JSON: the check of the call rejects it
  }
}

/** The model chooses names as freely as values, so only those of the schema are written. */
function keysOf(input: unknown, schema: unknown): string | undefined {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return undefined;
  const names = declaredBy(schema).names.filter((name) => Object.hasOwn(input, name));
  let text = '';
  let count = 0;
  for (const name of names.slice(0, maxNames)) {
    const next = `${text === '' ? '' : `${text},`}${escaped(name)}`;
    if (2 * next.length > maxWritten && JSON.stringify(next).length > maxWritten) break; // the summary quotes it
    text = next;
    count++;
  }
  const others = Object.keys(input).length - names.length;
  const more = names.length - count;
  const parts = [text, more > 0 ? `+${more} more` : '', others > 0 ? `+${others} undeclared` : ''];
  return parts.filter((part) => part !== '').join(',') || undefined;
}

/** A name that could be read as something else is written as JSON text. */
function escaped(name: string): string {
  const short = name.length > maxName ? `${name.slice(0, maxName - 1)}…` : name;
  return bare.test(short) ? short : visible(JSON.stringify(short));
}

/** The JSON Pointers of the top-level fields that the schema declares. */
export function declaredPlaces(schema: unknown): readonly string[] {
  return declaredBy(schema).places;
}

interface Declared {
  readonly names: readonly string[];
  readonly places: readonly string[];
}

/** By schema: each call of a tool asks for them. */
const declarations = new WeakMap<object, Declared>();

function declaredBy(schema: unknown): Declared {
  const found = typeof schema === 'object' && schema !== null ? declarations.get(schema) : undefined;
  if (found) return found;
  const names = [...declaredFields(schemasOf(schema), schema).fields.keys()];
  const places = names.map((name) => `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
  if (typeof schema === 'object' && schema !== null) declarations.set(schema, { names, places });
  return { names, places };
}
