/** The keywords of JSON Schema for arrays. */

import { canonicalJson } from '../../base/json.ts';
import type { EvaluateOptions, Evaluation, Findings } from './findings.ts';

/** Evaluates an array by the keywords that are about arrays. */
export function* evaluateArray(value: readonly unknown[], findings: Findings): Evaluation<void> {
  checkSize(value, findings);
  if (findings.schema['uniqueItems'] === true) yield* checkUnique(value, findings);
  yield* applyItems(value, findings);
  if (findings.schema['contains'] !== undefined) yield* applyContains(value, findings);
  yield* applyFrom(0, value, { keyword: 'unevaluatedItems', skip: findings.evaluated }, findings);
}

function checkSize(value: readonly unknown[], findings: Findings): void {
  const { minItems, maxItems } = findings.schema;
  if (typeof maxItems === 'number' && value.length > maxItems) {
    findings.fail('maxItems', `Array has too many items (${value.length} > ${maxItems}).`);
  }
  if (typeof minItems === 'number' && value.length < minItems) {
    findings.fail('minItems', `Array has too few items (${value.length} < ${minItems}).`);
  }
}

/** By their text and not pair by pair: the time grows with the array, and not with its square. */
function* checkUnique(value: readonly unknown[], findings: Findings): Evaluation<void> {
  const texts = new Set<string>();
  for (const item of value) {
    const text = canonicalJson(item);
    if (findings.context.spend(0.5 + text.length / 64)) yield;
    if (texts.has(text)) {
      findings.fail('uniqueItems');
      return;
    }
    texts.add(text);
  }
}

function* applyItems(value: readonly unknown[], findings: Findings): Evaluation<void> {
  const { prefixItems, items } = findings.schema;
  const list = [prefixItems, items].find(Array.isArray) ?? []; // a list of `items` is how draft 7 writes `prefixItems`
  for (let index = 0; index < Math.min(list.length, value.length) && !findings.isFull; index++) {
    yield* apply(value[index], { index, schema: list[index], keyword: 'prefixItems' }, findings);
  }
  const keyword = Array.isArray(items) ? 'additionalItems' : 'items';
  yield* applyFrom(list.length, value, { keyword }, findings);
}

function* applyContains(value: readonly unknown[], findings: Findings): Evaluation<void> {
  const { contains, minContains, maxContains = Infinity } = findings.schema;
  let found = 0;
  for (const [index, item] of value.entries()) {
    if (!(yield* findings.evaluate(item, contains, below(findings, index))).valid) continue;
    found++;
    findings.evaluated?.add(index);
  }
  if (found < Number(minContains ?? 1)) findings.fail(minContains === undefined ? 'contains' : 'minContains');
  if (found > Number(maxContains)) findings.fail('maxContains');
}

function* applyFrom(
  first: number,
  value: readonly unknown[],
  { keyword, skip }: { readonly keyword: string; readonly skip?: ReadonlySet<string | number> | undefined },
  findings: Findings,
): Evaluation<void> {
  const schema = findings.schema[keyword];
  if (schema === undefined) return;
  for (let index = first; index < value.length && !findings.isFull; index++) {
    if (skip?.has(index) !== true) yield* apply(value[index], { index, schema, keyword }, findings);
  }
}

interface Application {
  readonly index: number;
  readonly schema: unknown;
  readonly keyword: string;
}

function* apply(item: unknown, { index, schema, keyword }: Application, findings: Findings): Evaluation<void> {
  const { valid, failures } = yield* findings.evaluate(item, schema, below(findings, index));
  findings.evaluated?.add(index);
  if (!valid) findings.fail(keyword, '', failures);
}

function below({ at, context }: Findings, index: number): EvaluateOptions {
  return { at: `${at}/${index}`, context };
}
