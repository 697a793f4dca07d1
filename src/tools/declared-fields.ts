/** Which fields of an input its JSON Schema declares, in the order of the schema, and whether it permits others. */

import { readPointer } from '../base/json-pointer.ts';

/** What the schemas that apply to one object say of its fields. */
export interface DeclaredFields {
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
export function schemasOf(schema: unknown): Schemas {
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

/** The schemas of an element of an array. */
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

const wholes = ['allOf', 'anyOf', 'oneOf'];
const parts = ['if', 'then', 'else'];

/** The schemas with all that they refer to and are made of, each once. */
function applied(schemas: Schemas, root: unknown): readonly Keywords[] {
  const seen = new Set<unknown>(schemas);
  for (const schema of seen) { // grows while it is walked
    const keywords = asKeywords(schema);
    const { $ref, dependentSchemas } = keywords;
    if (typeof $ref === 'string' && $ref.startsWith('#')) seen.add(readPointer(root, decode($ref.slice(1))));
    for (const name of wholes) if (Array.isArray(keywords[name])) { for (const one of keywords[name]) seen.add(one); }
    for (const name of parts) seen.add(keywords[name]);
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
