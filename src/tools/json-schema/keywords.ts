/** The keywords whose wrong use would make a schema accept everything, and what each must be (draft 7 and 2020-12 agree here). */

import { isRecord } from '../../base/is-record.ts';

/** Returns where a schema is not as JSON Schema defines it, as a JSON Pointer below `at`; `undefined`: it is. */
export function mistakeIn(schema: unknown, at: string): string | undefined {
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
  exclusiveMinimum: number,
  exclusiveMaximum: number,
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
