/** The keywords of JSON Schema for arrays. */

import { canonicalJson } from '../../base/json.ts';
import type { EvaluateOptions, Findings } from './findings.ts';

/** Evaluates an array by the keywords that are about arrays. */
export function evaluateArray(value: readonly unknown[], findings: Findings): void {
  checkSize(value, findings);
  applyItems(value, findings);
  applyContains(value, findings);
  applyFrom(0, value, { keyword: 'unevaluatedItems', skip: findings.evaluated }, findings);
}

function checkSize(value: readonly unknown[], { schema, fail }: Findings): void {
  const { minItems, maxItems, uniqueItems } = schema;
  if (typeof maxItems === 'number' && value.length > maxItems) {
    fail('maxItems', `Array has too many items (${value.length} > ${maxItems}).`);
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    fail('minItems', `Array has too few items (${value.length} < ${minItems}).`);
  }
  // By their text and not pair by pair: the time grows with the array, and not with its square.
  if (uniqueItems === true && new Set(value.map((item) => canonicalJson(item))).size < value.length) {
    fail('uniqueItems');
  }
}

function applyItems(value: readonly unknown[], findings: Findings): void {
  const { prefixItems, items } = findings.schema;
  const list = [prefixItems, items].find(Array.isArray) ?? []; // a list of `items` is how draft 7 writes `prefixItems`
  for (const [index, schema] of list.entries()) {
    if (index < value.length) apply(value[index], { index, schema, keyword: 'prefixItems' }, findings);
  }
  const keyword = Array.isArray(items) ? 'additionalItems' : 'items';
  applyFrom(list.length, value, { keyword }, findings);
}

function applyContains(value: readonly unknown[], findings: Findings): void {
  const { schema, fail, evaluated } = findings;
  const { contains, minContains = 1, maxContains = Infinity } = schema;
  if (contains === undefined) return;
  const found = value.flatMap((
    item,
    index,
  ) => (findings.evaluate(item, contains, below(findings, index)).valid ? [index] : []));
  for (const index of found) evaluated.add(index);
  if (found.length < Number(minContains)) fail(schema['minContains'] === undefined ? 'contains' : 'minContains');
  if (found.length > Number(maxContains)) fail('maxContains');
}

function applyFrom(
  first: number,
  value: readonly unknown[],
  { keyword, skip }: { readonly keyword: string; readonly skip?: ReadonlySet<string | number> },
  findings: Findings,
): void {
  const schema = findings.schema[keyword];
  if (schema === undefined) return;
  for (let index = first; index < value.length; index++) {
    if (skip?.has(index) !== true) apply(value[index], { index, schema, keyword }, findings);
  }
}

interface Application {
  readonly index: number;
  readonly schema: unknown;
  readonly keyword: string;
}

function apply(item: unknown, { index, schema, keyword }: Application, findings: Findings): void {
  const { valid, failures } = findings.evaluate(item, schema, below(findings, index));
  findings.evaluated.add(index);
  if (!valid) findings.fail(keyword, '', failures);
}

function below({ at, context }: Findings, index: number): EvaluateOptions {
  return { at: `${at}/${index}`, context };
}
