/** The patterns of a JSON Schema, each compiled once, or refused with its place. */

import { PinnaceError } from '../../base/errors.ts';
import { createMatcher, type Matcher } from '../../permission/regex/matcher.ts';
import type { Schema } from './findings.ts';

/** The matchers of a schema by their patterns. */
export interface Matchers {
  /** Compiles a pattern outside the known places. @throws PinnaceError `invalid_argument`. */
  get(pattern: string): Matcher;
}

/** Steps of all machines of one schema. */
const mostSteps = 20_000;

/**
 * Compiles every `pattern`, and every name in `patternProperties`.
 *
 * @throws PinnaceError `invalid_argument`, reason `invalid_pattern`, with the `field` (a JSON Pointer) and the `position` in the pattern.
 */
export function compilePatterns(root: Schema, parts: Readonly<Record<string, Schema | boolean>>): Matchers {
  const matchers = new Map<string, Matcher>();
  let steps = 0;
  const add = (pattern: string, field: string): Matcher => {
    const known = matchers.get(pattern);
    if (known) return known;
    const matcher = compileAt(pattern, field);
    steps += matcher.steps;
    if (steps > mostSteps) throw refused(field, 0, 'the patterns of the schema are too large together');
    matchers.set(pattern, matcher);
    return matcher;
  };
  for (const { pattern, field } of patternsIn(root, parts)) add(pattern, field);
  return { get: (pattern) => add(pattern, '') };
}

function compileAt(pattern: string, field: string): Matcher {
  try {
    return createMatcher(pattern);
  } catch (error) {
    if (!(error instanceof PinnaceError)) throw error;
    const { position, why } = error.details ?? {};
    throw refused(field, Number(position ?? 0), String(why));
  }
}

interface PatternSite {
  readonly pattern: string;
  readonly field: string;
}

/** Follows subschemas and references. */
function* patternsIn(root: Schema, parts: Readonly<Record<string, Schema | boolean>>): Generator<PatternSite> {
  const seen = new Set<unknown>();
  const open: [schema: unknown, field: string][] = [[root, '']];
  for (let next = open.pop(); next; next = open.pop()) {
    const [schema, field] = next;
    if (typeof schema !== 'object' || schema === null || seen.has(schema)) continue;
    seen.add(schema);
    const known = schema as Schema; // an object, checked above
    if (typeof known['pattern'] === 'string') yield { pattern: known['pattern'], field: `${field}/pattern` };
    for (const pattern of Object.keys(known['patternProperties'] ?? {})) {
      yield { pattern, field: below(`${field}/patternProperties`, pattern) };
    }
    for (const part of schemasIn(known, field)) open.push(part);
    const target = parts[String(known['__absolute_ref__'])];
    if (target !== undefined) open.push([target, `${field}/$ref`]);
  }
}

const withNames = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas', 'dependencies'];
const withSchemas = [
  'items',
  'prefixItems',
  'additionalItems',
  'unevaluatedItems',
  'contains',
  'additionalProperties',
  'unevaluatedProperties',
  'propertyNames',
  'not',
  'if',
  'then',
  'else',
  'allOf',
  'anyOf',
  'oneOf',
];

function schemasIn(schema: Schema, field: string): readonly [schema: unknown, field: string][] {
  const named = withNames.flatMap((keyword) =>
    Object.entries(schema[keyword] ?? {}).map((
      [name, part],
    ): [unknown, string] => [part, below(`${field}/${keyword}`, name)])
  );
  const others = withSchemas.flatMap((keyword) => {
    const value = schema[keyword];
    if (!Array.isArray(value)) return [[value, `${field}/${keyword}`] satisfies [unknown, string]];
    return value.map((part, at): [unknown, string] => [part, `${field}/${keyword}/${at}`]);
  });
  // Last in, first out: a schema's own patterns come before those that a reference leads to.
  return [...named, ...others].toReversed();
}

/** The names come from a stranger's schema: only harmless characters of them are repeated. */
function below(field: string, name: string): string {
  return `${field}/${name.replaceAll('~', '~0').replaceAll('/', '~1').replace(/[^\w.$~-]/g, '?').slice(0, 64)}`;
}

function refused(field: string, position: number, why: string): PinnaceError {
  const place = field.slice(0, 300);
  return new PinnaceError(
    'invalid_argument',
    `Cannot use the JSON Schema: the pattern at "${place}" is refused at character ${position + 1}: ${why}`,
    { details: { reason: 'invalid_pattern', field: place, position } },
  );
}
