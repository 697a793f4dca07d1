/** Rules for JSON Schemas: no external references, no unbounded expansion, no parameters that a tool should not receive. */

import { asRecord } from '../../base/is-record.ts';
import { compileJsonSchema } from '../../tools/json-schema/json-schema.ts';
import { expandedSize } from './expansion.ts';
import { below, error, type Remark, warning } from './finding.ts';

const dialects = /^https?:\/\/json-schema\.org\/(?:draft\/2020-12\/schema|draft-0[67]\/schema)#?$/;
/** More than this is worth a look, and more than the other cannot be used: what a check of an input goes through is bounded. */
const depths = { many: 12, most: 24 };
const subschemas = { many: 500, most: 10_000 };
/** With references put in. */
const expanded = { many: 5000, most: 100_000 };
const properties = { many: 100, most: 2000 };
const choices = { many: 250, most: 10_000 };

interface Bounds {
  readonly many: number;
  readonly most: number;
}

/** Returns the remark of a number over its bounds; none within. */
function checkBounds(
  count: number,
  { many, most }: Bounds,
  remark: (limit: number) => Pick<Remark, 'rule' | 'message' | 'path'>,
): readonly Remark[] {
  if (count <= many) return [];
  return count > most ? [{ severity: 'error', ...remark(most) }] : [{ severity: 'warning', ...remark(many) }];
}

/** What is wrong with the input schema of a tool. */
export function checkInputSchema(schema: unknown): readonly Remark[] {
  const path = '/inputSchema';
  if (asRecord(schema)['type'] !== 'object') return [error('schema_root', 'must be of type "object"', path)];
  return checkSchema(asRecord(schema), path);
}

/** What is wrong with any other schema of a tool. */
export function checkSchema(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  const walk: Walk = { remarks: [], subschemas: 0, deepest: 0, headers: new Set() };
  walkSchema(schema, { path, depth: 0 }, walk);
  const { remarks } = walk;
  remarks.push(
    ...checkBounds(walk.subschemas, subschemas, (limit) => ({
      rule: 'schema_size',
      message: `has more than ${limit} parts`,
      path,
    })),
    ...checkBounds(walk.deepest, depths, (limit) => ({
      rule: 'schema_depth',
      message: `is nested deeper than ${limit} levels`,
      path,
    })),
  );
  if (hasError(remarks)) return remarks;
  remarks.push(...checkBounds(expandedSize(schema), expanded, (limit) => ({
    rule: 'schema_size',
    message: `stands for more than ${limit} parts`,
    path,
  })));
  return hasError(remarks) ? remarks : [...remarks, ...checkCompiles(schema, path)];
}

function hasError(remarks: readonly Remark[]): boolean {
  return remarks.some(({ severity }) => severity === 'error');
}

interface Walk {
  readonly remarks: Remark[];
  subschemas: number;
  deepest: number;
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
  walk.deepest = Math.max(walk.deepest, depth);
  if (++walk.subschemas > subschemas.most || depth > depths.most) return;
  const record = asRecord(schema);
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
      : warning('schema_dialect', 'is read as JSON Schema 2020-12', path),
  $ref: checkReference,
  $dynamicRef: checkReference,
  $id: (_, path) => warning('schema_id', 'gives the schema an identity of its own', path),
  enum: (value, path) =>
    checkBounds(Array.isArray(value) ? value.length : Infinity, choices, (limit) => ({
      rule: 'schema_enum',
      message: `is no list of at most ${limit} values`,
      path,
    }))[0],
};

function checkReference(value: unknown, path: string): Remark | undefined {
  return typeof value === 'string' && value.startsWith('#')
    ? undefined
    : error('schema_reference', 'must lead to a place in the same schema', path);
}

function checkKeywords(schema: Readonly<Record<string, unknown>>, path: string): readonly Remark[] {
  return Object.entries(keywordRules).filter(([key]) => Object.hasOwn(schema, key))
    .map(([key, rule]) => rule(schema[key], below(path, key))).filter((one) => one !== undefined);
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
  const described = asRecord(schema['properties']);
  const names = Object.keys(described);
  const place = below(path, 'properties');
  const { required } = schema;
  const missing = Array.isArray(required) && names.length > 0 && required.some((name) => !names.includes(String(name)));
  return [
    ...checkBounds(names.length, properties, (limit) => ({
      rule: 'schema_properties',
      message: `has more than ${limit} properties`,
      path: place,
    })),
    ...(missing
      ? [warning('schema_required', 'requires a property that it does not describe', below(path, 'required'))]
      : []),
    ...names.flatMap((name) =>
      checkProperty(name, { schema: asRecord(described[name]), path: below(place, name) }, walk)
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
      : [warning('property_name', 'has odd characters in its name', path)]),
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
