/** Whether a value fits a JSON Schema 2020-12, and where it does not. Interpreted, so it runs under a strict CSP. */

import { canonicalJson } from '../../base/json.ts';
import { expectedText } from '../../base/parse.ts';
import { evaluateArray } from './arrays.ts';
import {
  addUpTo,
  type EvaluateOptions,
  type Evaluation,
  type Failure,
  Findings,
  type Result,
  type Schema,
} from './findings.ts';
import { evaluateObject } from './objects.ts';
import { evaluateNumber, evaluateString } from './scalars.ts';

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
