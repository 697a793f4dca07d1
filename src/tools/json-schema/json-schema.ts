/** JSON Schemas as data: whether one is a schema at all, and whether an input fits it. Interpreted, so it runs under a strict CSP. */

import { dereference, format as formats } from '@cfworker/json-schema';
import { PinnaceError } from '../../base/errors.ts';
import { isRecord } from '../../base/is-record.ts';
import type { Issue } from '../../base/parse.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { yieldTurn } from '../../base/turns.ts';
import { createWork, tooMuchWork } from '../../permission/regex/work.ts';
import type { InputCheck, Tool } from '../tool.ts';
import { addressOf, compilePatterns, evaluate, type Matchers, subschemas } from './evaluate-schema.ts';
import type { Context, Evaluation, Failure, Result, Schema } from './schema-keywords.ts';

/** A check of values by one schema. It never throws: what cannot be checked does not fit. */
interface SchemaCheck {
  /** Lists what is wrong with a value, none when it fits. Holds the thread until then: for values of the composition. */
  (value: unknown): readonly Issue[];
  /** Lists the same, and lets others have their turn every few milliseconds: for what a caller, a model or a server sends. */
  readonly inTurns: (value: unknown) => readonly Issue[] | Promise<readonly Issue[]>;
}

/**
 * Returns the check of a schema.
 *
 * @throws PinnaceError `invalid_argument`: `invalid_schema` for what is no schema, or refers to something outside itself;
 * `invalid_pattern` for a pattern that cannot be matched in linear time, with its `field` (a JSON Pointer) and `position`.
 */
export function compileJsonSchema(schema: JsonSchema): SchemaCheck {
  const open = load(schema);
  const check = (value: unknown): readonly Issue[] => {
    try {
      return issuesOf(drain(open(value)));
    } catch (error) {
      return issuesOfError(error);
    }
  };
  return Object.assign(check, {
    inTurns(value: unknown) {
      const run = open(value);
      try {
        const { done, value: result } = run.evaluation.next();
        return done ? issuesOf(result) : finish(run).then(issuesOf, issuesOfError);
      } catch (error) {
        return issuesOfError(error);
      }
    },
  });
}

function issuesOf({ valid, failures }: Result): readonly Issue[] {
  return valid ? [] : failures.filter(({ keyword }) => !wrappers.has(keyword)).map(toIssue);
}

function issuesOfError(error: unknown): readonly Issue[] {
  return [{ path: '', message: isTooMuchWork(error) ? tooMuchText : 'must be JSON, and not nested too deep' }];
}

const tooMuchText = 'takes too many steps to check against its schema: make it smaller';

/** Looks at parts of values, and steps of patterns, that one check may take. */
const mostVisits = 1_000_000;
const mostPatternWork = 4_000_000;
/** Enough for every schema whose references come to an end, and for most values. */
const leastVisits = 50_000;
/** Visits of one turn: a few milliseconds. */
const visitsOfTurn = 2_000;

/** A check under way. */
interface Run {
  readonly evaluation: Evaluation;
  readonly startTurn: () => void;
}

function drain({ evaluation, startTurn }: Run): Result {
  for (;;) {
    const { done, value } = evaluation.next();
    if (done) return value;
    startTurn();
  }
}

async function finish({ evaluation, startTurn }: Run): Promise<Result> {
  for (;;) {
    await yieldTurn();
    startTurn();
    const { done, value } = evaluation.next();
    if (done) return value;
  }
}

function load(schema: JsonSchema): (value: unknown) => Run {
  try {
    const mistake = mistakeIn(schema, '#');
    if (mistake !== undefined) throw notASchema(quote(pointerOf(mistake)));
    const root = structuredClone(schema); // the library writes into it
    modernize(root);
    const parts = dereference(root);
    if (Object.values(parts).some((part) => isUnresolved(part, parts))) throw notASchema(quote('$ref'));
    const open = opener(root, { parts, matchers: compilePatterns(root, parts) });
    if (visitsInPlace(root, parts, new Map()) > leastVisits) throw tooMuchWork(); // a reference that leads back to itself never ends
    return open;
  } catch (error) {
    if (error instanceof PinnaceError && !isTooMuchWork(error)) throw error;
    throw notASchema('its depth, or a "$ref" or "$id" in it,');
  }
}

/**
 * Writes in place what drafts say in other ways. `$dynamicRef` and `$recursiveRef` become `$ref`: what they mean where each anchor is
 * there once. Several of one name, in resources of their own, would make them depend on the way to them; such a schema is refused. In
 * draft 4 `exclusiveMinimum: true` is about `minimum`.
 */
function modernize(root: JsonSchema): void {
  const anchors = new Set<unknown>();
  for (const schema of subschemas(root)) {
    const { $dynamicAnchor: anchor, $recursiveAnchor: isAnchor } = schema;
    for (const name of [anchor, isAnchor === true ? '' : undefined]) {
      if (name === undefined) continue;
      if (anchors.has(name)) throw notASchema('a "$dynamicAnchor" or "$recursiveAnchor" that is there twice');
      anchors.add(name);
    }
    if (anchor !== undefined) schema['$anchor'] ??= anchor;
    if (schema['$dynamicRef'] !== undefined) {
      const others: unknown = schema['allOf'];
      schema['allOf'] = [...Array.isArray(others) ? others as unknown[] : [], { $ref: schema['$dynamicRef'] }];
      delete schema['$dynamicRef'];
    }
    for (const [exclusive, bound] of [['exclusiveMinimum', 'minimum'], ['exclusiveMaximum', 'maximum']] as const) {
      if (typeof schema[exclusive] !== 'boolean') continue;
      if (schema[exclusive] && schema[bound] !== undefined) {
        schema[exclusive] = schema[bound];
        delete schema[bound];
      } else delete schema[exclusive];
    }
  }
}

interface Parts {
  readonly parts: Readonly<Record<string, Schema | boolean>>;
  readonly matchers: Matchers;
}

/** How many looks one value takes at a schema and the parts that every value is held against. Each part is walked once. */
function visitsInPlace(
  schema: unknown,
  parts: Parts['parts'],
  known: Map<unknown, number>,
): number {
  if (typeof schema !== 'object' || schema === null) return 1;
  const found = known.get(schema);
  if (found !== undefined) return found;
  known.set(schema, Infinity); // where it leads back to itself
  const { $ref, __absolute_ref__: absolute = $ref, allOf, anyOf, oneOf, not, if: condition } = schema as Schema; // an object
  const others = [allOf, anyOf, oneOf, not, condition, $ref !== undefined && parts[addressOf(absolute)]].flat();
  let visits = 1;
  for (const other of others) if (other) visits += visitsInPlace(other, parts, known);
  known.set(schema, visits);
  return visits;
}

/** Returns what starts a check. */
function opener(root: Schema, { parts, matchers }: Parts): (value: unknown) => Run {
  const all = Object.values(parts);
  const tracks = all.some((part) =>
    typeof part === 'object' && (part['unevaluatedItems'] !== undefined || part['unevaluatedProperties'] !== undefined)
  );
  return (value) => {
    let [spent, turnEnd, most] = [0, visitsOfTurn, leastVisits];
    const context: Context = {
      parts,
      matcher: (pattern) => matchers.get(pattern),
      patternWork: createWork(mostPatternWork),
      isOfFormat,
      tracks,
      spend(units) {
        spent += units;
        if (spent > most && most === leastVisits) most = mostVisitsFor(value, all.length);
        if (spent > most) throw tooMuchWork();
        return spent >= turnEnd;
      },
    };
    const startTurn = (): void => void (turnEnd = spent + visitsOfTurn);
    return { evaluation: evaluate(value, root, { at: '#', context }), startTurn };
  };
}

/**
 * Each part of the value is looked at with each part of the schema at most: a schema whose references double at each level would
 * otherwise make a short value take seconds.
 */
function mostVisitsFor(value: unknown, schemaParts: number): number {
  const length = JSON.stringify(value)?.length ?? 0; // it has fewer parts
  return Math.max(leastVisits + 1, Math.min(mostVisits, schemaParts * length));
}

function isTooMuchWork(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'too_much_work';
}

/** Longer texts are of every format: the expressions look at each character several times. */
const longestOfFormat = 1_048_576;

/** Formats of the library, but for the one whose expression a text can keep busy. */
const isOfFormat: Context['isOfFormat'] = (name, text) => {
  if (text.length > longestOfFormat) return true;
  if (name === 'url') return /^(?:https?|ftp):\/\/[^\s/]/i.test(text) && !/\s/.test(text) && URL.canParse(text);
  const test = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return test === undefined || test(text);
};

function isUnresolved(part: Schema | boolean, parts: Parts['parts']): boolean {
  if (typeof part === 'boolean' || part['$ref'] === undefined) return false;
  const address = part['__absolute_ref__'] ?? part['$ref'];
  return typeof address !== 'string' || parts[address] === undefined;
}

/** Keywords that only say that something below them failed. */
const wrappers = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf', 'additionalProperties', 'if']);

function toIssue({ instanceLocation, keyword, error }: Failure): Issue {
  // The text of these keywords quotes only the schema.
  const path = pointerOf(instanceLocation);
  if (keyword === 'false') return { path, message: 'is not known here' };
  if (!plain.has(keyword)) return { path, message: `breaks the rule "${keyword}"` };
  return { path, message: error.replace(/\.$/, '').replace(/^Instance /, '') };
}

const plain = new Set(['type', 'required', 'minLength', 'maxLength', 'minItems', 'maxItems']);

/** The names in a path may come from the value: only harmless characters of them are repeated. */
function pointerOf(location = '#'): string {
  return location.replace(/^#\/?/, '').replaceAll('/', '.').replace(/[^\w.$~-]/g, '?').slice(0, 200);
}

function quote(place: string): string {
  return place === '' ? 'it' : `"${place}"`;
}

function notASchema(where: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot use the JSON Schema: ${where} is not as JSON Schema defines it`,
    { details: { reason: 'invalid_schema' } },
  );
}

/**
 * Returns the check of a tool whose input is described by JSON Schema alone.
 *
 * @throws PinnaceError `invalid_argument` as {@link compileJsonSchema} does.
 */
export function checkBy(schema: JsonSchema): Tool['check'] {
  const { inTurns } = compileJsonSchema(schema);
  return (value) => {
    const issues = inTurns(value);
    return issues instanceof Promise ? issues.then((all) => toCheck(value, all)) : toCheck(value, issues);
  };
}

function toCheck(input: unknown, issues: readonly Issue[]): InputCheck {
  return issues.length === 0 ? { ok: true, input } : { ok: false, issues };
}

/** Returns the check of a schema that others have written; `undefined` for one that cannot be checked. */
export function checkOf(schema: JsonSchema): SchemaCheck | undefined {
  try {
    return compileJsonSchema(schema);
  } catch {
    return undefined;
  }
}

/** The longest schema of an answer, as JSON. */
const mostOfOutput = 65_536;

/**
 * Checks a schema; a pattern that is refused is named by its place in the record.
 *
 * @throws PinnaceError `invalid_argument` as `compileJsonSchema` does.
 */
export function requireSchema(schema: JsonSchema, path: string): void {
  try {
    compileJsonSchema(schema);
  } catch (error) {
    if (!(error instanceof PinnaceError) || error.details?.['reason'] !== 'invalid_pattern') throw error;
    const { code, message, details } = error;
    const field = `/${path.replaceAll('.', '/')}${String(details['field'])}`;
    const issue = { path, field, reason: 'invalid_pattern', message: message.replace(/^[^:]*: /, 'is refused: ') };
    throw new PinnaceError(code, message, { details: { ...details, field, issues: [issue] }, cause: error });
  }
}

/** Checks the schema of an answer, which is sent with every model call. @throws PinnaceError as `requireSchema`, `schema_too_large`. */
export function requireOutputSchema(schema: JsonSchema): void {
  if ('~standard' in schema || 'def' in schema) { // of Valibot, ArkType and others; of Zod, whose copy has lost the sign
    throw new PinnaceError(
      'invalid_argument',
      'Cannot use the schema of a library for the answer: "output.schema" takes a JSON Schema, such as z.toJSONSchema(schema)',
      { details: { reason: 'invalid_schema' } },
    );
  }
  const { length } = JSON.stringify(schema);
  if (length > mostOfOutput) {
    throw new PinnaceError(
      'invalid_argument',
      `Cannot use the JSON Schema of the answer: it is ${length} long, ${mostOfOutput} is allowed`,
      { details: { reason: 'schema_too_large' } },
    );
  }
  requireSchema(schema, 'output.schema');
}

/** Returns where a schema is not as JSON Schema defines it, as a JSON Pointer below `at`; `undefined`: it is. */
function mistakeIn(schema: unknown, at: string): string | undefined {
  if (typeof schema === 'boolean') return undefined;
  if (!isRecord(schema)) return at;
  for (const [keyword, value] of Object.entries(schema)) {
    const find = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    const mistake = find?.(value, `${at}/${keyword}`);
    if (mistake !== undefined) return mistake;
  }
  return undefined;
}

/** Returns where a value is not as it must be. */
type Find = (value: unknown, at: string) => string | undefined;

function must(holds: (value: unknown) => boolean): Find {
  return (value, at) => holds(value) ? undefined : at;
}

const number = must((value) => typeof value === 'number');
const bound = must((value) => typeof value === 'number' || typeof value === 'boolean');
const count = must((value) => typeof value === 'number' && Number.isInteger(value) && value >= 0);
const text = must((value) => typeof value === 'string');
const names = each(text);

function each(find: Find, least = 0): Find {
  return (value, at) => {
    if (!Array.isArray(value) || value.length < least) return at;
    for (let index = 0; index < value.length; index++) {
      const mistake = find(value[index], `${at}/${index}`);
      if (mistake !== undefined) return mistake;
    }
    return undefined;
  };
}

function named(find: Find): Find {
  return (value, at) => {
    if (!isRecord(value)) return at;
    for (const [name, part] of Object.entries(value)) {
      const mistake = find(part, `${at}/${name}`);
      if (mistake !== undefined) return mistake;
    }
    return undefined;
  };
}

const schemas = each(mistakeIn, 1);
const namedSchemas = named(mistakeIn);
const types: ReadonlySet<unknown> = new Set(['array', 'boolean', 'integer', 'null', 'number', 'object', 'string']);
const type = must((value) => types.has(value));

const keywords: Readonly<Record<string, Find>> = {
  type: (value, at) => Array.isArray(value) ? each(type, 1)(value, at) : type(value, at),
  properties: namedSchemas,
  patternProperties: namedSchemas,
  dependentSchemas: namedSchemas,
  dependentRequired: named(names),
  $defs: namedSchemas,
  definitions: namedSchemas,
  additionalProperties: mistakeIn,
  unevaluatedProperties: mistakeIn,
  propertyNames: mistakeIn,
  items: (value, at) => Array.isArray(value) ? schemas(value, at) : mistakeIn(value, at),
  prefixItems: schemas,
  unevaluatedItems: mistakeIn,
  contains: mistakeIn,
  not: mistakeIn,
  if: mistakeIn,
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and no caller awaits this
  then: mistakeIn,
  else: mistakeIn,
  allOf: schemas,
  anyOf: schemas,
  oneOf: schemas,
  required: names,
  enum: must(Array.isArray),
  minimum: number,
  maximum: number,
  exclusiveMinimum: bound,
  exclusiveMaximum: bound,
  multipleOf: must((value) => typeof value === 'number' && value > 0),
  minLength: count,
  maxLength: count,
  minItems: count,
  maxItems: count,
  minProperties: count,
  maxProperties: count,
  pattern: text,
  format: text,
  uniqueItems: must((value) => typeof value === 'boolean'),
  $id: text,
  $anchor: text,
  $ref: text,
  description: text,
};
