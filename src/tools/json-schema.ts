/** JSON Schemas as data: whether one is a schema at all, and whether an input fits it. Interpreted, so it runs under a strict CSP. */

import { dereference, type Schema, validate, Validator } from '@cfworker/json-schema';
import { PinnaceError } from '../errors.ts';
import type { Issue } from '../parse.ts';
import type { JsonSchema } from '../schema.ts';
import type { Tool } from './tool.ts';

/** The keywords whose wrong use would make a schema accept everything, described as a schema (draft 7 and 2020-12 agree here). */
const metaSchema: Schema = {
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
    patternProperties: { $ref: '#/$defs/named', propertyNames: { format: 'regex' } },
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
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, and nobody awaits this
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
    pattern: { type: 'string', format: 'regex' },
    uniqueItems: { type: 'boolean' },
    $id: { type: 'string' },
    $anchor: { type: 'string' },
    $ref: { type: 'string' },
    description: { type: 'string' },
  },
};

const meta = new Validator(metaSchema, '2020-12');

/**
 * Gives a function that lists what is wrong with a value; none when it fits. It never throws: what cannot be checked does not fit.
 *
 * @throws PinnaceError `invalid_argument` when the schema is none, names the place, or refers to something outside itself.
 */
export function compileJsonSchema(schema: JsonSchema): (value: unknown) => readonly Issue[] {
  const check = load(schema);
  return (value) => {
    try {
      const { valid, errors } = check(value);
      return valid ? [] : errors.filter(({ keyword }) => !wrappers.has(keyword)).map(toIssue);
    } catch {
      return [{ path: '', message: 'must be JSON, and not nested too deep' }];
    }
  };
}

type Check = (value: unknown) => ReturnType<typeof validate>;

function load(schema: JsonSchema): Check {
  try {
    const { valid, errors } = meta.validate(schema);
    if (!valid) throw notASchema(quote(deepest(errors)));
    const root: Schema = structuredClone(schema); // the library writes into it
    const parts = dereference(root);
    if (Object.values(parts).some((part) => isUnresolved(part, parts))) throw notASchema(quote('$ref'));
    const check: Check = (value) => validate(value, root, '2020-12', parts, false);
    for (const probe of [{}, [], '', 0]) check(probe); // a reference that leads back to itself never ends
    return check;
  } catch (error) {
    throw error instanceof PinnaceError ? error : notASchema('its depth, or a "$ref" or "$id" in it,');
  }
}

function isUnresolved(part: Schema | boolean, parts: Readonly<Record<string, Schema | boolean>>): boolean {
  if (typeof part === 'boolean' || part.$ref === undefined) return false;
  return parts[part['__absolute_ref__'] ?? part.$ref] === undefined;
}

/** Keywords that only say that something below them failed. */
const wrappers = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf', 'additionalProperties', 'if']);

function toIssue(
  { instanceLocation, keyword, error }: { instanceLocation: string; keyword: string; error: string },
): Issue {
  // The library's text may quote the value; for these keywords it quotes only the schema.
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
 * Gives the check of a tool whose input is described by JSON Schema alone.
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
