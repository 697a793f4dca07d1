/** Whether a value fits a JSON Schema 2020-12, and where it does not. Interpreted, so it runs under a strict CSP. */

import { PinnaceError } from '../../base/errors.ts';
import { canonicalJson } from '../../base/json.ts';
import { expectedText } from '../../base/parse.ts';
import { createMatcher, type Matcher } from '../../permission/regex/matcher.ts';
import {
  addUpTo,
  evaluateArray,
  evaluateNumber,
  evaluateObject,
  type EvaluateOptions,
  evaluateString,
  type Evaluation,
  type Failure,
  Findings,
  type Result,
  type Schema,
} from './schema-keywords.ts';

const fits: Result = { valid: true, failures: [], evaluated: undefined };

/** Evaluates a value. @throws for what is no JSON, is nested too deep, or takes more work than there is. */
export function* evaluate(value: unknown, schema: unknown, options: EvaluateOptions): Evaluation {
  if (options.context.spend(1)) yield;
  if (schema === true) return fits;
  // Not a boolean below; the check of the schema requires an object.
  const findings = new Findings(schema === false ? {} : schema as Schema, options, evaluate);
  if (schema === false) findings.fail('false');
  else yield* evaluateAny(value, findings);
  return findings;
}

function* evaluateAny(value: unknown, findings: Findings): Evaluation<void> {
  const { schema } = findings;
  const type = typeOf(value);
  checkType(type, value, findings);
  checkConstants(value, findings);
  if (schema['$ref'] !== undefined || schema['$recursiveRef'] !== undefined) yield* applyReferences(value, findings);
  if (schema['not'] !== undefined) yield* applyNot(value, findings);
  for (const alternatives of allAlternatives) {
    const list = schema[alternatives.keyword];
    if (Array.isArray(list)) yield* applyAlternatives(value, list, { findings, alternatives });
  }
  if (schema['if'] !== undefined) yield* applyCondition(value, findings);
  // Safe: `typeOf` has looked.
  if (type === 'object') yield* evaluateObject(value as Readonly<Record<string, unknown>>, findings);
  else if (type === 'array') yield* evaluateArray(value as readonly unknown[], findings);
  else if (type === 'number') evaluateNumber(value as number, findings);
  else if (type === 'string') yield* evaluateString(value as string, findings);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  const type = typeof value;
  if (type === 'string' || type === 'number' || type === 'boolean' || type === 'object') return type;
  throw new TypeError(`A ${type} is no JSON`);
}

function checkType(type: string, value: unknown, findings: Findings): void {
  const { type: wanted } = findings.schema;
  if (wanted === undefined || wanted === type) return;
  const list = [wanted].flat().map(String);
  if (list.includes(type) || (list.includes('integer') && Number.isInteger(value))) return;
  findings.fail('type', `Instance must be ${expectedText(list.join(' | '))}.`);
}

function checkConstants(value: unknown, findings: Findings): void {
  const { const: only, enum: list } = findings.schema;
  if (only !== undefined && !isEqual(value, only, findings.context.spend)) findings.fail('const');
  if (Array.isArray(list) && !isIn(value, list, findings)) findings.fail('enum');
}

/** Compares by content; the order of properties does not matter. */
function isEqual(a: unknown, b: unknown, spend: (units: number) => unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const keys = Object.keys(a);
  spend(keys.length / 8);
  const [left, right] = [a as Readonly<Record<string, unknown>>, b as Readonly<Record<string, unknown>>]; // both are objects
  return keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(right, key) && isEqual(left[key], right[key], spend));
}

interface Listed {
  readonly plain: ReadonlySet<unknown>;
  /** Objects and arrays, as text. */
  readonly texts: ReadonlySet<string>;
}

const listed = new WeakMap<readonly unknown[], Listed>();

/** A look into a set, however long the list. */
function isIn(value: unknown, list: readonly unknown[], { context }: Findings): boolean {
  const known = listed.get(list) ?? {
    plain: new Set(list.filter((one) => !isNested(one))),
    texts: new Set(list.filter(isNested).map((one) => canonicalJson(one))),
  };
  listed.set(list, known);
  if (!isNested(value)) return known.plain.has(value);
  if (known.texts.size === 0) return false;
  const text = canonicalJson(value);
  context.spend(text.length / 64);
  return known.texts.has(text);
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function* applyReferences(value: unknown, findings: Findings): Evaluation<void> {
  const { schema, context: { parts } } = findings;
  for (const [keyword, absolute] of references) {
    if (schema[keyword] === undefined) continue;
    const target = parts[addressOf(schema[absolute] ?? schema[keyword])];
    if (target === undefined) throw new TypeError('A reference leads nowhere');
    const { valid, failures } = yield* findings.inPlace(value, target);
    if (!valid) findings.fail(keyword, '', failures);
  }
}

/** The address of a part that a reference names. */
export function addressOf(reference: unknown): string {
  return typeof reference === 'string' ? reference : '';
}

/** Each keyword, and the property that the library's `dereference` writes its address into. */
const references = [['$ref', '__absolute_ref__'], ['$recursiveRef', '__absolute_recursive_ref__']] as const;

function* applyNot(value: unknown, findings: Findings): Evaluation<void> {
  if ((yield* evaluate(value, findings.schema['not'], findings)).valid) findings.fail('not');
}

interface Alternatives {
  readonly keyword: 'allOf' | 'anyOf' | 'oneOf';
  readonly isEnough: (valid: number, all: number) => boolean;
  /** Whether the branches that are left cannot change the answer. */
  readonly isDecided: (valid: number) => boolean;
}

const allAlternatives: readonly Alternatives[] = [
  { keyword: 'allOf', isEnough: (valid, all) => valid === all, isDecided: () => false },
  { keyword: 'anyOf', isEnough: (valid) => valid > 0, isDecided: (valid) => valid > 0 },
  { keyword: 'oneOf', isEnough: (valid) => valid === 1, isDecided: (valid) => valid > 1 },
];

function* applyAlternatives(
  value: unknown,
  list: readonly unknown[],
  { findings, alternatives: { keyword, isEnough, isDecided } }: {
    readonly findings: Findings;
    readonly alternatives: Alternatives;
  },
): Evaluation<void> {
  const below: Failure[] = [];
  let valid = 0;
  for (const one of list) {
    const result = yield* findings.inPlace(value, one);
    if (result.valid) valid++;
    else addUpTo(below, result.failures);
    if (!findings.context.tracks && isDecided(valid)) break;
  }
  if (!isEnough(valid, list.length)) findings.fail(keyword, '', below);
}

function* applyCondition(value: unknown, findings: Findings): Evaluation<void> {
  const { schema } = findings;
  const branch = (yield* findings.inPlace(value, schema['if'])).valid ? 'then' : 'else';
  if (schema[branch] === undefined) return;
  const { valid, failures } = yield* findings.inPlace(value, schema[branch]);
  if (!valid) findings.fail('if', '', failures);
}

/** The matchers of a schema by their patterns. */
export interface Matchers {
  /** Compiles a pattern outside the known places. @throws PinnaceError `invalid_argument`. */
  get(pattern: string): Matcher;
}

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
      yield { pattern, field: pointerBelow(`${field}/patternProperties`, pattern) };
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
    ): [unknown, string] => [part, pointerBelow(`${field}/${keyword}`, name)])
  );
  const others = withSchemas.flatMap((keyword) => {
    const value = schema[keyword];
    if (!Array.isArray(value)) return [[value, `${field}/${keyword}`] satisfies [unknown, string]];
    return value.map((part, at): [unknown, string] => [part, `${field}/${keyword}/${at}`]);
  });
  // Last in, first out: a schema's own patterns come before those that a reference leads to.
  return [...named, ...others].toReversed();
}

/** A schema and all schemas in it, without following references. */
export function* subschemas(root: unknown): Generator<Record<string, unknown>> {
  const open: unknown[] = [root];
  while (open.length > 0) {
    const schema = open.pop();
    if (typeof schema !== 'object' || schema === null) continue;
    const known = schema as Record<string, unknown>; // an object, checked above
    yield known;
    for (const [part] of schemasIn(known, '')) open.push(part);
  }
}

/** The names come from a stranger's schema: only harmless characters of them are repeated. */
function pointerBelow(field: string, name: string): string {
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
