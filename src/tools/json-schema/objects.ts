/** The keywords of JSON Schema for objects. */

import { applyInPlace, type EvaluateOptions, type Findings } from './findings.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Evaluates an object by the keywords that are about objects. */
export function evaluateObject(value: JsonObject, findings: Findings): void {
  checkNames(value, findings);
  applyDependencies(value, findings);
  const own = new Set<string>();
  applyProperties(value, own, findings);
  applyPatterns(value, own, findings);
  applyRest(value, { keyword: 'additionalProperties', known: own }, findings);
  applyRest(value, { keyword: 'unevaluatedProperties', known: findings.evaluated }, findings);
}

function checkNames(value: JsonObject, findings: Findings): void {
  const { schema, fail } = findings;
  const { required, minProperties, maxProperties, propertyNames } = schema;
  for (const name of asNames(required)) {
    if (!Object.hasOwn(value, name)) fail('required', `Instance does not have required property "${name}".`);
  }
  const names = Object.keys(value);
  if (typeof minProperties === 'number' && names.length < minProperties) fail('minProperties');
  if (typeof maxProperties === 'number' && names.length > maxProperties) fail('maxProperties');
  if (propertyNames === undefined) return;
  for (const name of names) {
    const { valid, failures } = findings.evaluate(name, propertyNames, below(findings, name));
    if (!valid) fail('propertyNames', '', failures);
  }
}

function applyDependencies(value: JsonObject, findings: Findings): void {
  const { schema, fail } = findings;
  for (const keyword of ['dependentRequired', 'dependentSchemas', 'dependencies']) {
    for (const [name, needed] of Object.entries(asObject(schema[keyword]))) {
      if (!Object.hasOwn(value, name)) continue;
      if (Array.isArray(needed)) {
        if (asNames(needed).some((other) => !Object.hasOwn(value, other))) fail(keyword);
        continue;
      }
      const { valid, failures } = applyInPlace(value, needed, findings);
      if (!valid) fail(keyword, '', failures);
    }
  }
}

function applyProperties(value: JsonObject, own: Set<string>, findings: Findings): void {
  for (const [name, schema] of Object.entries(asObject(findings.schema['properties']))) {
    if (!Object.hasOwn(value, name)) continue;
    own.add(name);
    apply(value, { name, schema, keyword: 'properties' }, findings);
  }
}

function applyPatterns(value: JsonObject, own: Set<string>, findings: Findings): void {
  const patterns = Object.entries(asObject(findings.schema['patternProperties']));
  if (patterns.length === 0) return;
  for (const name of Object.keys(value)) {
    for (const [pattern, schema] of patterns) {
      findings.context.work.spend(1);
      if (!findings.context.matches(pattern, name)) continue;
      own.add(name);
      apply(value, { name, schema, keyword: 'patternProperties' }, findings);
    }
  }
}

function applyRest(
  value: JsonObject,
  { keyword, known }: { readonly keyword: string; readonly known: ReadonlySet<string | number> },
  findings: Findings,
): void {
  const schema = findings.schema[keyword];
  if (schema === undefined) return;
  for (const name of Object.keys(value)) if (!known.has(name)) apply(value, { name, schema, keyword }, findings);
}

interface Application {
  readonly name: string;
  readonly schema: unknown;
  readonly keyword: string;
}

function apply(value: JsonObject, { name, schema, keyword }: Application, findings: Findings): void {
  const { valid, failures } = findings.evaluate(value[name], schema, below(findings, name));
  findings.evaluated.add(name);
  if (!valid) findings.fail(keyword, '', failures);
}

function below({ at, context }: Findings, name: string): EvaluateOptions {
  return { at: `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, context };
}

function asObject(value: unknown): JsonObject {
  return typeof value === 'object' && value !== null ? value as JsonObject : {}; // safe: just looked
}

function asNames(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];
}
