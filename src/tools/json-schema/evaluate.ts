/** Whether a value fits a JSON Schema 2020-12, and where it does not. Interpreted, so it runs under a strict CSP. */

import { expectedText } from '../../base/parse.ts';
import { evaluateArray } from './arrays.ts';
import { isEqual } from './equal.ts';
import {
  applyInPlace,
  type EvaluateOptions,
  type Failure,
  type Findings,
  type Result,
  type Schema,
} from './findings.ts';
import { evaluateObject } from './objects.ts';
import { evaluateNumber, evaluateString } from './scalars.ts';

/** Failures beyond this number are not listed. */
const mostFailures = 1_000;

/** Evaluates a value. @throws for what is no JSON, is nested too deep, or takes more work than there is. */
export function evaluate(value: unknown, schema: unknown, { at, context }: EvaluateOptions): Result {
  context.work.spend(1);
  if (schema === true) return { valid: true, failures: [], evaluated: nothing };
  if (schema === false) return { valid: false, failures: [failureAt(at, 'false', '')], evaluated: nothing };
  const failures: Failure[] = [];
  let valid = true;
  const findings: Findings = {
    context,
    schema: schema as Schema, // not a boolean; the check of the schema requires an object
    at,
    evaluated: new Set(),
    evaluate,
    fail: (keyword, error = '', below = []) => {
      valid = false;
      for (const failure of [failureAt(at, keyword, error), ...below]) {
        if (failures.length < mostFailures) failures.push(failure);
      }
    },
  };
  evaluateAny(value, findings);
  return { valid, failures, evaluated: findings.evaluated };
}

const nothing: ReadonlySet<string | number> = new Set();

function failureAt(instanceLocation: string, keyword: string, error: string): Failure {
  return { instanceLocation, keyword, error };
}

function evaluateAny(value: unknown, findings: Findings): void {
  const type = typeOf(value);
  checkType(type, value, findings);
  checkConstants(value, findings);
  applyReferences(value, findings);
  applyAlternatives(value, findings);
  applyCondition(value, findings);
  // Safe: `typeOf` has looked.
  if (type === 'object') evaluateObject(value as Readonly<Record<string, unknown>>, findings);
  else if (type === 'array') evaluateArray(value as readonly unknown[], findings);
  else if (type === 'number') evaluateNumber(value as number, findings);
  else if (type === 'string') evaluateString(value as string, findings);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  if (!['boolean', 'number', 'string', 'object'].includes(typeof value)) {
    throw new TypeError(`A ${typeof value} is no JSON`);
  }
  return typeof value;
}

function checkType(type: string, value: unknown, { schema, fail }: Findings): void {
  if (schema['type'] === undefined) return;
  const wanted = [schema['type']].flat().map(String);
  if (wanted.includes(type) || (wanted.includes('integer') && Number.isInteger(value))) return;
  fail('type', `Instance must be ${expectedText(wanted.join(' | '))}.`);
}

function checkConstants(value: unknown, { schema, fail }: Findings): void {
  if (schema['const'] !== undefined && !isEqual(value, schema['const'])) fail('const');
  const list = schema['enum'];
  if (Array.isArray(list) && !list.some((one) => isEqual(value, one))) fail('enum');
}

function applyReferences(value: unknown, findings: Findings): void {
  const { schema, context: { parts }, fail } = findings;
  for (const [keyword, absolute] of references) {
    if (schema[keyword] === undefined) continue;
    const target = parts[addressOf(schema[absolute] ?? schema[keyword])];
    if (target === undefined) throw new TypeError('A reference leads nowhere');
    const { valid, failures } = applyInPlace(value, target, findings);
    if (!valid) fail(keyword, '', failures);
  }
}

function addressOf(reference: unknown): string {
  return typeof reference === 'string' ? reference : '';
}

/** Each keyword, and the property that the library's `dereference` writes its address into. */
const references = [['$ref', '__absolute_ref__'], ['$recursiveRef', '__absolute_recursive_ref__']] as const;

function applyAlternatives(value: unknown, findings: Findings): void {
  const { schema, fail } = findings;
  if (schema['not'] !== undefined && evaluate(value, schema['not'], findings).valid) fail('not');
  const apply = (keyword: string, isEnough: (valid: number, all: number) => boolean): void => {
    const list = schema[keyword];
    if (!Array.isArray(list)) return;
    const results = list.map((one) => applyInPlace(value, one, findings));
    const valid = results.filter((result) => result.valid).length;
    if (!isEnough(valid, results.length)) fail(keyword, '', results.flatMap(({ failures }) => failures));
  };
  apply('allOf', (valid, all) => valid === all);
  apply('anyOf', (valid) => valid > 0);
  apply('oneOf', (valid) => valid === 1);
}

function applyCondition(value: unknown, findings: Findings): void {
  const { schema, fail } = findings;
  if (schema['if'] === undefined) return;
  const branch = applyInPlace(value, schema['if'], findings).valid ? 'then' : 'else';
  if (schema[branch] === undefined) return;
  const { valid, failures } = applyInPlace(value, schema[branch], findings);
  if (!valid) fail('if', '', failures);
}
