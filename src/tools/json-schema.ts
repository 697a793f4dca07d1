/** JSON Schemas as data: whether one is a schema at all, and whether an input fits it. Interpreted, so it runs under a strict CSP. */

import { type Schema, Validator } from '@cfworker/json-schema';
import { PinnaceError } from '../errors.ts';
import type { Issue } from '../parse.ts';
import type { JsonSchema } from '../schema.ts';

/** The keywords whose wrong use would make a schema accept everything, described as a schema (draft 7 and 2020-12 agree here). */
const metaSchema: Schema = {
  $defs: {
    type: { enum: ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'] },
    schemas: { type: 'array', minItems: 1, items: { $ref: '#' } },
    named: { type: 'object', additionalProperties: { $ref: '#' } },
    count: { type: 'integer', minimum: 0 },
  },
  type: ['object', 'boolean'],
  properties: {
    type: { anyOf: [{ $ref: '#/$defs/type' }, { type: 'array', minItems: 1, items: { $ref: '#/$defs/type' } }] },
    properties: { $ref: '#/$defs/named' },
    patternProperties: { $ref: '#/$defs/named' },
    $defs: { $ref: '#/$defs/named' },
    definitions: { $ref: '#/$defs/named' },
    additionalProperties: { $ref: '#' },
    propertyNames: { $ref: '#' },
    items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/schemas' }] },
    prefixItems: { $ref: '#/$defs/schemas' },
    contains: { $ref: '#' },
    not: { $ref: '#' },
    if: { $ref: '#' },
    then: { $ref: '#' },
    else: { $ref: '#' },
    allOf: { $ref: '#/$defs/schemas' },
    anyOf: { $ref: '#/$defs/schemas' },
    oneOf: { $ref: '#/$defs/schemas' },
    required: { type: 'array', items: { type: 'string' } },
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
    $ref: { type: 'string' },
    description: { type: 'string' },
  },
};

const meta = new Validator(metaSchema, '2020-12');

/**
 * Gives a function that lists what is wrong with a value; none when it fits.
 *
 * @throws PinnaceError `invalid_argument` when the schema is none, names the place, or refers to something outside itself.
 */
export function compileJsonSchema(schema: JsonSchema): (value: unknown) => readonly Issue[] {
  const wrong = meta.validate(schema);
  if (!wrong.valid) throw notASchema(pointerOf(wrong.errors.at(-1)?.instanceLocation));
  const validator = new Validator(schema, '2020-12', false);
  probe(validator);
  return (value) => {
    const { valid, errors } = validator.validate(value);
    return valid ? [] : errors.filter(({ keyword }) => !wrappers.has(keyword)).map(toIssue);
  };
}

/** Keywords that only say that something below them failed. */
const wrappers = new Set(['properties', 'items', 'prefixItems', '$ref', 'allOf', 'additionalProperties', 'if']);

/** An unresolved `$ref` or a bad `pattern` shows itself at the first use: use it once here. */
function probe(validator: Validator): void {
  try {
    for (const value of [{}, [], '', 0]) validator.validate(value);
  } catch {
    throw notASchema('a reference or a pattern');
  }
}

function toIssue(
  { instanceLocation, keyword, error }: { instanceLocation: string; keyword: string; error: string },
): Issue {
  // The library's text may quote the value; for these keywords it quotes only the schema.
  const message = plain.has(keyword)
    ? error.replace(/\.$/, '').replace(/^Instance /, '')
    : `breaks the rule "${keyword}"`;
  return { path: pointerOf(instanceLocation), message };
}

const plain = new Set(['type', 'required', 'minLength', 'maxLength', 'minItems', 'maxItems']);

function pointerOf(location = '#'): string {
  return location.replace(/^#\/?/, '').replaceAll('/', '.').slice(0, 200);
}

function notASchema(where: string): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    `Cannot use the JSON Schema: ${where === '' ? 'it' : `"${where}"`} is not as JSON Schema defines it`,
    { details: { reason: 'invalid_schema' } },
  );
}
