/** The keywords of JSON Schema for objects. */

import type { EvaluateOptions, Evaluation, Findings } from './findings.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Evaluates an object by the keywords that are about objects. */
export function* evaluateObject(value: JsonObject, findings: Findings): Evaluation<void> {
  const { schema } = findings;
  yield* checkNames(value, findings);
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    if (schema[keyword] !== undefined) yield* applyDependencies(value, keyword, findings);
  }
  const own = new Set<string>();
  yield* applyProperties(value, own, findings);
  yield* applyPatterns(value, own, findings);
  yield* applyRest(value, { keyword: 'additionalProperties', known: own }, findings);
  yield* applyRest(value, { keyword: 'unevaluatedProperties', known: findings.evaluated ?? own }, findings);
}

function* checkNames(value: JsonObject, findings: Findings): Evaluation<void> {
  const { required, minProperties, maxProperties, propertyNames } = findings.schema;
  for (const name of asNames(required)) {
    if (findings.context.spend(1 / 16)) yield;
    if (findings.isFull) return;
    if (!Object.hasOwn(value, name)) findings.fail('required', `Instance does not have required property "${name}".`);
  }
  if (minProperties === undefined && maxProperties === undefined && propertyNames === undefined) return;
  const names = Object.keys(value);
  if (findings.context.spend(names.length / 32)) yield;
  if (typeof minProperties === 'number' && names.length < minProperties) findings.fail('minProperties');
  if (typeof maxProperties === 'number' && names.length > maxProperties) findings.fail('maxProperties');
  if (propertyNames === undefined) return;
  for (const name of names) {
    if (findings.isFull) return;
    const { valid, failures } = yield* findings.evaluate(name, propertyNames, below(findings, name));
    if (!valid) findings.fail('propertyNames', '', failures);
  }
}

function* applyDependencies(value: JsonObject, keyword: string, findings: Findings): Evaluation<void> {
  const dependencies = asObject(findings.schema[keyword]);
  for (const name of namesIn(dependencies)) {
    if (findings.context.spend(1 / 16)) yield;
    if (!Object.hasOwn(value, name)) continue;
    const needed = dependencies[name];
    if (Array.isArray(needed)) {
      findings.context.spend(needed.length / 16);
      if (asNames(needed).some((other) => !Object.hasOwn(value, other))) findings.fail(keyword);
      continue;
    }
    const { valid, failures } = yield* findings.inPlace(value, needed);
    if (!valid) findings.fail(keyword, '', failures);
  }
}

function* applyProperties(value: JsonObject, own: Set<string>, findings: Findings): Evaluation<void> {
  const properties = asObject(findings.schema['properties']);
  for (const name of namesIn(properties)) {
    if (findings.context.spend(1 / 16)) yield;
    if (!Object.hasOwn(value, name)) continue;
    if (findings.isFull) return;
    own.add(name);
    yield* apply(value, { name, schema: properties[name], keyword: 'properties' }, findings);
  }
}

function* applyPatterns(value: JsonObject, own: Set<string>, findings: Findings): Evaluation<void> {
  const { schema: { patternProperties }, context } = findings;
  const schemas = asObject(patternProperties);
  const patterns = namesIn(schemas);
  if (patterns.length === 0) return;
  for (const name of Object.keys(value)) {
    for (const pattern of patterns) {
      if (context.spend(1)) yield;
      if (findings.isFull) return;
      if (!(yield* context.matcher(pattern).search(name, context.patternWork))) continue;
      own.add(name);
      yield* apply(value, { name, schema: schemas[pattern], keyword: 'patternProperties' }, findings);
    }
  }
}

function* applyRest(
  value: JsonObject,
  { keyword, known }: { readonly keyword: string; readonly known: ReadonlySet<string | number> },
  findings: Findings,
): Evaluation<void> {
  const schema = findings.schema[keyword];
  if (schema === undefined) return;
  for (const name of Object.keys(value)) {
    if (findings.context.spend(1 / 16)) yield;
    if (findings.isFull) return;
    if (!known.has(name)) yield* apply(value, { name, schema, keyword }, findings);
  }
}

interface Application {
  readonly name: string;
  readonly schema: unknown;
  readonly keyword: string;
}

function* apply(value: JsonObject, { name, schema, keyword }: Application, findings: Findings): Evaluation<void> {
  const { valid, failures } = yield* findings.evaluate(value[name], schema, below(findings, name));
  findings.evaluated?.add(name);
  if (!valid) findings.fail(keyword, '', failures);
}

function below({ at, context }: Findings, name: string): EvaluateOptions {
  const step = /[~/]/.test(name) ? name.replaceAll('~', '~0').replaceAll('/', '~1') : name;
  return { at: `${at}/${step}`, context };
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? value as JsonObject : noEntries; // safe: just looked
}

const noEntries: JsonObject = {};
const names = new WeakMap<JsonObject, readonly string[]>();

/** The names in a part of the schema, listed once: a schema is never changed. */
function namesIn(part: JsonObject): readonly string[] {
  const known = names.get(part) ?? Object.keys(part);
  names.set(part, known);
  return known;
}

function asNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.every(isText) ? value : value.filter(isText) : [];
}

function isText(name: unknown): name is string {
  return typeof name === 'string';
}
