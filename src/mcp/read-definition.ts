/**
 * Reads the raw definition of a tool as its server meant it: `null` is absent, a schema without a type is one of an object, and a
 * pattern that cannot run in linear time is left to the server. The pin keeps the raw definition; models and checks get this one.
 */

import { PinnaceError } from '../base/errors.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { createMatcher } from '../permission/regex/matcher.ts';
import { below, type Remark, warning } from './checks/finding.ts';

/** What was read, and what was not as it should be. */
export interface ReadDefinition {
  readonly definition: Readonly<Record<string, unknown>>;
  readonly remarks: readonly Remark[];
}

/** Reads it. It was checked to be JSON of a bounded depth. */
export function readDefinition(raw: unknown): ReadDefinition {
  const remarks: Remark[] = [];
  const definition = withoutNulls(asRecord(raw), '', remarks);
  const { inputSchema, outputSchema, annotations } = definition;
  if (isRecord(annotations)) definition['annotations'] = withoutNulls(annotations, '/annotations', remarks);
  if (isRecord(inputSchema)) {
    definition['inputSchema'] = asObject(readSchema(inputSchema, '/inputSchema', remarks), remarks);
  }
  if (isRecord(outputSchema)) definition['outputSchema'] = readSchema(outputSchema, '/outputSchema', remarks);
  return { definition, remarks };
}

function withoutNulls(
  record: Readonly<Record<string, unknown>>,
  path: string,
  remarks: Remark[],
): Record<string, unknown> {
  const entries = Object.entries(record).filter(([key, value]) => {
    if (value !== null) return true;
    remarks.push(warning('null_field', 'is null, and counts as absent', below(path, key)));
    return false;
  });
  return Object.fromEntries(entries);
}

function asObject(schema: Record<string, unknown>, remarks: Remark[]): Record<string, unknown> {
  if ('type' in schema) return schema;
  remarks.push(warning('schema_root', 'has no type, and counts as one of an object', '/inputSchema'));
  return { type: 'object', ...schema };
}

const keywordsWithNames = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Their values are data, not schemas. */
const keywordsWithData = new Set([
  'enum',
  'const',
  'default',
  'examples',
  'example',
  'type',
  'required',
  'dependentRequired',
]);

function readSchema(
  schema: Readonly<Record<string, unknown>>,
  path: string,
  remarks: Remark[],
): Record<string, unknown> {
  const read: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    const place = below(path, key);
    if (value === null && !(key === 'const' || key === 'default' || key === 'example')) {
      remarks.push(warning('null_field', 'is null, and counts as absent', place));
    } else if (keywordsWithData.has(key)) read[key] = value;
    else if (key === 'pattern') {
      if (typeof value !== 'string' || isCheckable(value, place, remarks)) read[key] = value;
    } else if (keywordsWithNames.has(key) && isRecord(value)) {
      read[key] = Object.fromEntries(
        Object.entries(value).map(([name, part]) => [name, part ?? {}] as const).map(
          ([name, part]) => [name, readPart(part, below(place, name), remarks)],
        ),
      );
    } else read[key] = readPart(value, place, remarks);
  }
  return withoutUncheckable(read, path, remarks);
}

function readPart(part: unknown, path: string, remarks: Remark[]): unknown {
  if (Array.isArray(part)) return part.map((item, i) => readPart(item, below(path, i), remarks));
  return isRecord(part) ? readSchema(part, path, remarks) : part;
}

/** What such a pattern allows is unknown here, so the properties that no name covers are the server's to refuse as well. */
function withoutUncheckable(schema: Record<string, unknown>, path: string, remarks: Remark[]): Record<string, unknown> {
  const { patternProperties: patterns } = schema;
  if (!isRecord(patterns)) return schema;
  const kept = Object.entries(patterns).filter(([pattern]) =>
    isCheckable(pattern, below(below(path, 'patternProperties'), pattern), remarks)
  );
  if (kept.length === Object.keys(patterns).length) return schema;
  const { additionalProperties: _, unevaluatedProperties: __, ...rest } = schema;
  return { ...rest, patternProperties: Object.fromEntries(kept) };
}

function isCheckable(pattern: string, path: string, remarks: Remark[]): boolean {
  try {
    createMatcher(pattern);
    return true;
  } catch (cause) {
    const { position, why } = cause instanceof PinnaceError ? cause.details ?? {} : {};
    const message = `is checked by the server alone: at character ${Number(position) + 1}, ${String(why)}`;
    remarks.push(warning('schema_pattern', message, path));
    return false;
  }
}
