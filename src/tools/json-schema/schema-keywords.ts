/** The keywords of JSON Schema for numbers, texts, arrays and objects, and what they share while a value is evaluated. */

import { canonicalJson } from '../../base/json.ts';
import type { Matcher } from '../../permission/regex/matcher.ts';
import type { Work } from '../../permission/regex/work.ts';

/** A schema as it is evaluated: {@link compileJsonSchema} has checked its keywords. */
export type Schema = Readonly<Record<string, unknown>>;

/** A keyword that a value does not fit. */
export interface Failure {
  /** A JSON Pointer into the value, as a fragment. */
  readonly instanceLocation: string;
  readonly keyword: string;
  readonly error: string;
}

/** What became of one schema and one value. */
export interface Result {
  readonly valid: boolean;
  readonly failures: readonly Failure[];
  /** The properties and items that a keyword has looked at; absent where no keyword asks for them. */
  readonly evaluated: ReadonlySet<string | number> | undefined;
}

/** An evaluation that yields at the end of its turn. Its caller continues it after other work. */
export type Evaluation<T = Result> = Generator<undefined, T, undefined>;

/** What an evaluation works with. */
export interface Context {
  /** The schema and its parts by their addresses. */
  readonly parts: Readonly<Record<string, Schema | boolean>>;
  readonly matcher: (pattern: string) => Matcher;
  readonly patternWork: Work;
  /** Whether the text is of the format; a format that is not known holds of all. */
  readonly isOfFormat: (format: string, text: string) => boolean;
  /** Whether a keyword of the schema asks what others have looked at. */
  readonly tracks: boolean;
  /**
   * Counts work: a look at a schema costs one unit, about half a microsecond. Returns whether the turn is over.
   *
   * @throws PinnaceError `too_much_work` when there is no more.
   */
  readonly spend: (units: number) => boolean;
}

/** Where a value is, and what its evaluation works with. */
export interface EvaluateOptions {
  readonly at: string;
  readonly context: Context;
}

/** Evaluates another value, or the same one by another schema. */
type Evaluate = (value: unknown, schema: unknown, options: EvaluateOptions) => Evaluation;

/** Failures beyond this number are not listed. */
const mostFailures = 200;

/** Adds failures to a list, as far as it is not full. */
export function addUpTo(list: Failure[], more: readonly Failure[]): void {
  for (let at = 0; at < more.length && list.length < mostFailures; at++) list.push(more[at]!);
}

export class Findings implements EvaluateOptions {
  readonly schema: Schema;
  readonly at: string;
  readonly context: Context;
  readonly evaluate: Evaluate;
  readonly evaluated: Set<string | number> | undefined;
  readonly failures: Failure[] = [];
  valid = true;

  constructor(schema: Schema, { at, context }: EvaluateOptions, evaluate: Evaluate) {
    this.schema = schema;
    this.at = at;
    this.context = context;
    this.evaluate = evaluate;
    this.evaluated = context.tracks ? new Set() : undefined;
  }

  /** Whether the value does not fit and no failure would be listed any more. */
  get isFull(): boolean {
    return this.failures.length >= mostFailures;
  }

  /** Records that a keyword does not hold, with what below it failed. */
  fail(keyword: string, error = '', causes: readonly Failure[] = []): void {
    this.valid = false;
    if (this.isFull) return;
    this.failures.push({ instanceLocation: this.at, keyword, error });
    addUpTo(this.failures, causes);
  }

  /** Evaluates the same value by another schema, and adds the keys that it evaluated when the value is valid. */
  *inPlace(value: unknown, schema: unknown): Evaluation {
    const result = yield* this.evaluate(value, schema, this);
    if (result.valid && this.evaluated && result.evaluated) {
      for (const key of result.evaluated) this.evaluated.add(key);
      if (this.context.spend(result.evaluated.size / 8)) yield;
    }
    return result;
  }
}

/** Evaluates a number by the keywords that are about numbers. */
export function evaluateNumber(value: number, findings: Findings): void {
  const { schema, context } = findings;
  const holds = (keyword: string, test: (bound: number) => boolean): void => {
    const bound = schema[keyword];
    if (typeof bound === 'number' && !test(bound)) findings.fail(keyword);
  };
  holds('minimum', (bound) => value >= bound);
  holds('maximum', (bound) => value <= bound);
  holds('exclusiveMinimum', (bound) => value > bound);
  holds('exclusiveMaximum', (bound) => value < bound);
  holds('multipleOf', (bound) => (context.spend(workOf(value, bound)), isMultipleOf(value, bound)));
}

/** In whole numbers: 0.3 is a multiple of 0.1, whatever the remainder of binary fractions. */
function isMultipleOf(value: number, divisor: number): boolean {
  if (!Number.isFinite(value) || divisor <= 0) return false;
  const [a, b] = [decimalOf(value), decimalOf(divisor)];
  const shift = a.exponent - b.exponent;
  if (shift >= 0) return (a.digits * 10n ** BigInt(shift)) % b.digits === 0n;
  return a.digits % (b.digits * 10n ** BigInt(-shift)) === 0n;
}

/** Whole numbers of many digits are slow. */
function workOf(value: number, divisor: number): number {
  return Math.abs(value) < 1e21 && divisor > 1e-21 ? 1 : 10;
}

function decimalOf(value: number): { readonly digits: bigint; readonly exponent: number } {
  const [coefficient = '0', exponent = '0'] = String(Math.abs(value)).split('e');
  const [whole = '0', fraction = ''] = coefficient.split('.');
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
}

/** Evaluates a text by the keywords that are about texts. */
export function* evaluateString(value: string, findings: Findings): Evaluation<void> {
  const { schema: { minLength, maxLength, pattern, format }, context } = findings;
  if (isOpen(value, minLength, maxLength)) {
    const length = yield* lengthOf(value, context.spend);
    if (typeof minLength === 'number' && length < minLength) {
      findings.fail('minLength', `String is too short (${length} < ${minLength}).`);
    }
    if (typeof maxLength === 'number' && length > maxLength) {
      findings.fail('maxLength', `String is too long (${length} > ${maxLength}).`);
    }
  }
  if (typeof pattern === 'string' && !(yield* context.matcher(pattern).search(value, context.patternWork))) {
    findings.fail('pattern');
  }
  if (typeof format !== 'string') return;
  if (context.spend(value.length / 64)) yield;
  if (!context.isOfFormat(format, value)) findings.fail('format');
}

/** Whether the characters have to be counted: there are at most as many as code units, and at least half as many. */
function isOpen({ length }: string, least: unknown, most: unknown): boolean {
  return (typeof most === 'number' && length > most) || (typeof least === 'number' && length / 2 < least);
}

/** Characters, not code units. */
function* lengthOf(text: string, spend: (units: number) => boolean): Evaluation<number> {
  let length = 0;
  for (let at = 0; at < text.length; at++) {
    if (text.codePointAt(at)! > 0xffff) at++;
    length++;
    if (length % 64 === 0 && spend(1)) yield;
  }
  return length;
}

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
    yield* apply(value[index], { key: index, schema: list[index], keyword: 'prefixItems' }, findings);
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
    if (skip?.has(index) !== true) yield* apply(value[index], { key: index, schema, keyword }, findings);
  }
}

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
    yield* apply(value[name], { key: name, schema: properties[name], keyword: 'properties' }, findings);
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
      yield* apply(value[name], { key: name, schema: schemas[pattern], keyword: 'patternProperties' }, findings);
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
    if (!known.has(name)) yield* apply(value[name], { key: name, schema, keyword }, findings);
  }
}

/** A part of a value that a keyword applies a schema to. */
interface Part {
  /** The name of the property, or the index of the item. */
  readonly key: string | number;
  readonly schema: unknown;
  readonly keyword: string;
}

function* apply(value: unknown, { key, schema, keyword }: Part, findings: Findings): Evaluation<void> {
  const { valid, failures } = yield* findings.evaluate(value, schema, below(findings, key));
  findings.evaluated?.add(key);
  if (!valid) findings.fail(keyword, '', failures);
}

function below({ at, context }: Findings, key: string | number): EvaluateOptions {
  const step = typeof key === 'string' && /[~/]/.test(key) ? key.replaceAll('~', '~0').replaceAll('/', '~1') : key;
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
