/** What a reader may answer: a JSON Schema that says all of it. */

import { PinnaceError } from '../base/errors.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { pointerKeys } from '../base/json.ts';
import type { JsonSchema } from '../base/schema.ts';
import { requireOutputSchema } from '../tools/json-schema/json-schema.ts';

const maxDepth = 4;
const maxFields = 64;
const maxText = 2_000;
const maxItems = 100;
/** A value of at most so many is the operator's, no matter who has chosen it. */
const maxNarrow = 64;

const plainKeywords = ['type', 'enum', 'description', 'minimum', 'maximum', 'required'] as const;

/**
 * Returns the schema with all objects closed, and all texts and lists bounded.
 *
 * @throws PinnaceError `invalid_argument` (`reader_schema`) for one that is no object or list, or larger than a reader may answer.
 */
export function readerSchema(literal: unknown): JsonSchema {
  const isWhole = isRecord(literal) && (literal['type'] === 'object' || literal['type'] === 'array');
  if (!isWhole) throw unfit('it must be an object or an array');
  const left = { fields: maxFields };
  const schema = closed(literal, maxDepth, left);
  requireOutputSchema(schema);
  return schema;
}

function closed(given: unknown, depth: number, left: { fields: number }): JsonSchema {
  if (depth === 0) throw unfit(`it is deeper than ${maxDepth}`);
  if (!isRecord(given)) throw unfit('each part must be an object');
  const { type, properties, items, maxLength, maxItems: most } = given;
  const types: readonly unknown[] = Array.isArray(type) ? type : [type];
  if (type === undefined && given['enum'] === undefined) throw unfit('each part needs a "type" or an "enum"');
  const schema: Record<string, unknown> = Object.fromEntries(
    plainKeywords.flatMap((key) => given[key] === undefined ? [] : [[key, given[key]]]),
  );
  if (types.includes('object')) {
    if (!isRecord(properties)) throw unfit('an object needs "properties"');
    if ((left.fields -= Object.keys(properties).length) < 0) throw unfit(`it has more than ${maxFields} fields`);
    schema['properties'] = Object.fromEntries(
      Object.entries(properties).map(([key, value]) => [key, closed(value, depth - 1, left)]),
    );
    schema['required'] ??= Object.keys(properties);
    schema['additionalProperties'] = false;
  }
  if (types.includes('array')) {
    schema['items'] = closed(items, depth - 1, left);
    schema['maxItems'] = Math.min(typeof most === 'number' ? most : maxItems, maxItems);
  }
  if (types.includes('string')) schema['maxLength'] = typeof maxLength === 'number' ? maxLength : maxText;
  return schema;
}

/** Whether the value at a path is one of a few that the program has named. */
export function isNarrow(schema: JsonSchema, path: string): boolean {
  let part: unknown = schema;
  for (const key of pointerKeys(path)) {
    const { properties, items } = asRecord(part);
    if (properties && items) return false; // an object or a list: which of them it is, a stranger has chosen
    if (items) part = /^\d+$/.test(key) ? items : undefined; // a length is any number
    else part = Object.hasOwn(asRecord(properties), key) ? asRecord(properties)[key] : undefined;
  }
  const { type, enum: values } = asRecord(part);
  return type === 'boolean' || (Array.isArray(values) && values.length <= maxNarrow);
}

function unfit(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read by this schema: ${why}`, {
    details: { reason: 'reader_schema' },
  });
}
