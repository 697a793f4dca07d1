/** Rules for JSON Schemas: no external references, no unbounded expansion, no parameters that a tool should not receive. */

import { PinnaceError } from '../../base/errors.ts';
import { createMatcher } from '../../permission/regex/matcher.ts';
import { asRecord } from '../../base/is-record.ts';
import { compileJsonSchema } from '../../tools/json-schema/json-schema.ts';
import { expandedSize } from './expansion.ts';
import { below, error, type Remark, warning } from './finding.ts';

const dialects = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12\/schema|draft-0[67]\/schema)#?$/;
const maxDepth = 12;
const maxSubschemas = 500;
/** With references put in: what the library that checks inputs would go through. */
const maxExpanded = 5000;
const maxProperties = 100;
const maxEnum = 250;

/** What is wrong with the input schema of a tool. */
export function checkInputSchema(schema: unknown): readonly Remark[] {
  const path = '/inputSchema';
  if (asRecord(schema)['type'] !== 'object') return [error('schema_root', 'must be of type "object"', path)];
  return checkSchema(asRecord(schema), path);
}

/** What is wrong with any other schema of a tool. */
export function checkSchema(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  const walk: Walk = { remarks: [], subschemas: 0, headers: new Set() };
  walkSchema(schema, { path, depth: 0 }, walk);
  if (walk.subschemas > maxSubschemas) {
    walk.remarks.push(error('schema_size', `has more than ${maxSubschemas} parts`, path));
  }
  if (walk.remarks.some(({ severity }) => severity === 'error')) return walk.remarks;
  if (expandedSize(schema) > maxExpanded) {
    return [...walk.remarks, error('schema_size', 'stands for too many parts', path)];
  }
  return [...walk.remarks, ...checkCompiles(schema, path)];
}

interface Walk {
  readonly remarks: Remark[];
  subschemas: number;
  /** The names that parameters have as headers, in small letters. */
  readonly headers: Set<string>;
}

interface SchemaPath {
  readonly path: string;
  readonly depth: number;
}

const keywordsWithNames = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);
/** Their values are data, not schemas. */
const keywordsWithData = new Set(['enum', 'const', 'default', 'examples', 'required', 'type', 'dependentRequired']);

function walkSchema(schema: unknown, { path, depth }: SchemaPath, walk: Walk): void {
  if (Array.isArray(schema)) {
    for (const [i, part] of schema.entries()) walkSchema(part, { path: below(path, i), depth }, walk);
    return;
  }
  if (typeof schema !== 'object' || schema === null) return;
  if (++walk.subschemas > maxSubschemas) return;
  const record = asRecord(schema);
  if (depth > maxDepth) {
    walk.remarks.push(error('schema_depth', `is nested deeper than ${maxDepth} levels`, path));
    return;
  }
  walk.remarks.push(...checkKeywords(record, path), ...checkProperties(record, { path, depth }, walk));
  for (const [key, value] of Object.entries(record)) {
    if (keywordsWithData.has(key)) continue;
    const place = below(path, key);
    if (!keywordsWithNames.has(key)) walkSchema(value, { path: place, depth: depth + 1 }, walk);
    else {
      for (const [name, part] of Object.entries(asRecord(value))) {
        walkSchema(part, { path: below(place, name), depth: depth + 1 }, walk);
      }
    }
  }
}

/** One keyword, and what is wrong with its value. */
const keywordRules: Readonly<Record<string, (value: unknown, path: string) => Remark | undefined>> = {
  $schema: (value, path) =>
    typeof value === 'string' && dialects.test(value)
      ? undefined
      : error('schema_dialect', 'must be JSON Schema 2020-12, draft 7 or draft 6', path),
  $ref: checkReference,
  $dynamicRef: checkReference,
  $id: (_, path) => warning('schema_id', 'gives the schema an identity of its own', path),
  enum: (value, path) =>
    Array.isArray(value) && value.length <= maxEnum
      ? undefined
      : error('schema_enum', `must be a list of at most ${maxEnum} values`, path),
  pattern: checkPattern,
};

/** The judgement of the validator: what it can run, it runs in linear time. */
function checkPattern(value: unknown, path: string): Remark | undefined {
  try {
    createMatcher(String(value));
    return undefined;
  } catch (cause) {
    const { position, why } = cause instanceof PinnaceError ? cause.details ?? {} : {};
    return error('schema_pattern', `cannot be used: at character ${Number(position) + 1}, ${String(why)}`, path);
  }
}

function checkReference(value: unknown, path: string): Remark | undefined {
  return typeof value === 'string' && value.startsWith('#')
    ? undefined
    : error('schema_reference', 'must lead to a place in the same schema', path);
}

function checkKeywords(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  const found = Object.entries(keywordRules).filter(([key]) => Object.hasOwn(schema, key))
    .map(([key, rule]) => rule(schema[key], below(path, key)));
  const patterns = Object.keys(asRecord(schema['patternProperties']))
    .map((pattern) => checkPattern(pattern, below(path, 'patternProperties')));
  return [...found, ...patterns].filter((one) => one !== undefined);
}

const secretNames =
  /^(?:api_?key|(?:access_?|auth_?|bearer_?|refresh_?)?token|password|passwd|passphrase|secret|client_?secret|credentials?|private_?key|authorization|cookie)$/i;
const contextNames =
  /^(?:side_?notes?|system_?prompt|instructions_?followed|conversation(?:_?history)?|chat_?history|message_?history|history|context_?window|chain_?of_?thought|reasoning|env(?:ironment)?(?:_?variables)?)$/i;

function checkProperties(
  schema: Readonly<Record<string, unknown>>,
  { path }: SchemaPath,
  walk: Walk,
): readonly Remark[] {
  const properties = asRecord(schema['properties']);
  const names = Object.keys(properties);
  const place = below(path, 'properties');
  const { required } = schema;
  const missing = Array.isArray(required) && names.length > 0 && required.some((name) => !names.includes(String(name)));
  return [
    ...(names.length > maxProperties
      ? [error('schema_properties', `has more than ${maxProperties} properties`, place)]
      : []),
    ...(missing
      ? [warning('schema_required', 'requires a property that it does not describe', below(path, 'required'))]
      : []),
    ...names.flatMap((name) =>
      checkProperty(name, { schema: asRecord(properties[name]), path: below(place, name) }, walk)
    ),
  ];
}

function checkProperty(
  name: string,
  { schema, path }: { readonly schema: Readonly<Record<string, unknown>>; readonly path: string },
  { headers }: Walk,
): readonly Remark[] {
  const isSecret = secretNames.test(name);
  const remarks = [
    ...(/^[A-Za-z0-9_.$@:[\]-]{1,128}$/.test(name)
      ? []
      : [error('property_name', 'has odd characters in its name', path)]),
    ...(isSecret ? [warning('secret_parameter', 'asks for a secret: models have none to give', path)] : []),
    ...(contextNames.test(name) ? [warning('context_parameter', 'asks for more than a call needs', path)] : []),
  ];
  if (!Object.hasOwn(schema, 'x-mcp-header')) return remarks;
  const header = schema['x-mcp-header'];
  const isPrimitive = ['string', 'integer', 'boolean'].includes(String(schema['type']));
  const isName = typeof header === 'string' && /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/.test(header);
  const isNew = isName && !headers.has(header.toLowerCase());
  if (isName) headers.add(header.toLowerCase());
  if (isPrimitive && isNew && !isSecret) return remarks;
  return [...remarks, error('parameter_header', 'may not be sent as a header', path)];
}

function checkCompiles(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  try {
    compileJsonSchema(schema);
    return [];
  } catch {
    return [error('schema_invalid', 'is no JSON Schema', path)];
  }
}
