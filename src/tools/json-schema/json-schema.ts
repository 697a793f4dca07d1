/** JSON Schemas as data: whether one is a schema at all, and whether an input fits it. Interpreted, so it runs under a strict CSP. */

import { dereference, format as formats } from '@cfworker/json-schema';
import { PinnaceError } from '../../base/errors.ts';
import type { Issue } from '../../base/parse.ts';
import { createWork } from '../../permission/regex/work.ts';
import type { JsonSchema } from '../../base/schema.ts';
import { evaluate } from './evaluate.ts';
import type { Context, Failure, Result, Schema } from './findings.ts';
import { compilePatterns, type Matchers } from './patterns.ts';
import type { Tool } from '../tool.ts';

/** The keywords whose wrong use would make a schema accept everything, described as a schema (draft 7 and 2020-12 agree here). */
const metaSchema: JsonSchema = {
  $defs: {
    type: { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] },
    schemas: { type: 'array', minItems: 1, items: { $ref: '#' } },
    named: { type: 'object', additionalProperties: { $ref: '#' } },
    names: { type: 'array', items: { type: 'string' } },
    count: { type: 'integer', minimum: 0 },
  },
  type: ['object', 'boolean'],
  properties: {
    type: { anyOf: [{ $ref: '#/$defs/type' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/type' } }] },
    properties: { $ref: '#/$defs/named' },
    patternProperties: { $ref: '#/$defs/named' },
    dependentSchemas: { $ref: '#/$defs/named' },
    dependentRequired: { type: 'object', additionalProperties: { $ref: '#/$defs/names' } },
    $defs: { $ref: '#/$defs/named' },
    definitions: { $ref: '#/$defs/named' },
    additionalProperties: { $ref: '#' },
    unevaluatedProperties: { $ref: '#' },
    propertyNames: { $ref: '#' },
    items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/schemas' }] },
    prefixItems: { $ref: '#/$defs/schemas' },
    unevaluatedItems: { $ref: '#' },
    contains: { $ref: '#' },
    not: { $ref: '#' },
    if: { $ref: '#' },
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and no caller awaits this
    then: { $ref: '#' },
    else: { $ref: '#' },
    allOf: { $ref: '#/$defs/schemas' },
    anyOf: { $ref: '#/$defs/schemas' },
    oneOf: { $ref: '#/$defs/schemas' },
    required: { $ref: '#/$defs/names' },
    enum: { type: 'array' },
    minimum: { type: 'number' },
    maximum: { type: 'number' },
    exclusiveMinimum: { type: 'number' },
    exclusiveMaximum: { type: 'number' },
    multipleOf: { type: 'number', exclusiveMinimum: 0 },
    minLength: { $ref: '#/$defs/count' },
    maxLength: { $ref: '#/$defs/count' },
    minItems: { $ref: '#/$defs/count' },
    maxItems: { $ref: '#/$defs/count' },
    minProperties: { $ref: '#/$defs/count' },
    maxProperties: { $ref: '#/$defs/count' },
    pattern: { type: 'string' },
    format: { type: 'string' },
    uniqueItems: { type: 'boolean' },
    $id: { type: 'string' },
    $anchor: { type: 'string' },
    $ref: { type: 'string' },
    description: { type: 'string' },
  },
};

/**
 * Returns a function that lists what is wrong with a value; none when it fits. It never throws: what cannot be checked does not fit.
 *
 * @throws PinnaceError `invalid_argument`: `invalid_schema` for what is no schema, or refers to something outside itself;
 * `invalid_pattern` for a pattern that cannot be matched in linear time, with its `field` (a JSON Pointer) and `position`.
 */
export function compileJsonSchema(schema: JsonSchema): (value: unknown) => readonly Issue[] {
  const check = load(schema);
  return (value) => {
    try {
      const { valid, failures } = check(value);
      return valid ? [] : failures.filter(({ keyword }) => !wrappers.has(keyword)).map(toIssue);
    } catch (error) {
      return [{ path: '', message: isTooMuchWork(error) ? tooMuchText : 'must be JSON, and not nested too deep' }];
    }
  };
}

const tooMuchText = 'takes too many steps to check against its schema: make it smaller';

/** Looks at parts of values, and steps of patterns, that one check may take. */
const mostVisits = 2_000_000;
const mostPatternWork = 4_000_000;
/** Enough for every schema whose references come to an end, and for most values. */
const probeVisits = 50_000;

type Check = (value: unknown) => Result;
type BoundedCheck = (value: unknown, visits: number) => Result;

function load(schema: JsonSchema): Check {
  try {
    const { valid, failures } = checkMeta(schema, mostVisits);
    if (!valid) throw notASchema(quote(deepest(failures)));
    const root = structuredClone(schema); // the library writes into it
    const parts = dereference(root);
    if (Object.values(parts).some((part) => isUnresolved(part, parts))) throw notASchema(quote('$ref'));
    const check = checkOf(root, { parts, matchers: compilePatterns(root, parts) });
    for (const probe of [{}, [], '', 0]) check(probe, probeVisits); // a reference that leads back to itself never ends
    return (value) => checkInSteps(check, value, Object.keys(parts).length);
  } catch (error) {
    if (error instanceof PinnaceError && !isTooMuchWork(error)) throw error;
    throw notASchema('its depth, or a "$ref" or "$id" in it,');
  }
}

/**
 * Looks at each part of the value with each part of the schema at most: a schema whose references double at each level would
 * otherwise make a short value take seconds.
 */
function checkInSteps(check: BoundedCheck, value: unknown, schemaParts: number): Result {
  try {
    return check(value, probeVisits);
  } catch (error) {
    if (!isTooMuchWork(error)) throw error;
    const length = JSON.stringify(value)?.length ?? 0; // it has fewer parts
    const visits = Math.min(mostVisits, schemaParts * length);
    if (visits <= probeVisits) throw error;
    return check(value, visits);
  }
}

interface Parts {
  readonly parts: Readonly<Record<string, Schema | boolean>>;
  readonly matchers: Matchers;
}

function checkOf(root: Schema, { parts, matchers }: Parts): BoundedCheck {
  return (value, visits) => {
    const patternWork = createWork(mostPatternWork);
    const context: Context = {
      parts,
      matches: (pattern, text) => matchers.get(pattern).test(text, patternWork),
      isOfFormat,
      work: createWork(visits),
    };
    return evaluate(value, root, { at: '#', context });
  };
}

function isTooMuchWork(error: unknown): boolean {
  return error instanceof PinnaceError && error.details?.['reason'] === 'too_much_work';
}

/** Formats of the library, but for the one whose expression a text can keep busy. */
const isOfFormat: Context['isOfFormat'] = (name, text) => {
  if (name === 'url') return /^(?:https?|ftp):\/\/[^\s/]/i.test(text) && !/\s/.test(text) && URL.canParse(text);
  const test = Object.hasOwn(formats, name) ? formats[name] : undefined;
  return test === undefined || test(text);
};

let metaCheck: BoundedCheck | undefined;

/** Compiled with the first schema: an instance whose tools have valibot schemas needs none. */
function checkMeta(schema: JsonSchema, visits: number): Result {
  if (!metaCheck) {
    const parts = dereference(metaSchema);
    metaCheck = checkOf(metaSchema, { parts, matchers: compilePatterns(metaSchema, parts) });
  }
  return metaCheck(schema, visits);
}

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

/** The place that is to blame: what is around it fails only because it does. */
function deepest(errors: readonly { readonly instanceLocation: string }[]): string {
  const locations = errors.map(({ instanceLocation }) => instanceLocation);
  return pointerOf(locations.reduce((a, b) => (levels(b) > levels(a) ? b : a), '#'));
}

function levels(location: string): number {
  return location.split('/').length;
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
  const listIssues = compileJsonSchema(schema);
  return (value) => {
    const issues = listIssues(value);
    return issues.length === 0 ? { ok: true, input: value } : { ok: false, issues };
  };
}
