/** Reads forms as servers write them, without checking their schemas: connections load it, and not what checks. */

import { asRecord, isRecord, withoutNulls } from '../base/is-record.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Form extends Fields {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Fields>>;
}

const maxFields = 20;

/**
 * Returns a form of flat fields. Libraries make schemas of types, which say more than MCP allows, or the same in other words: what no
 * field needs is left out.
 */
export function readForm(given: unknown): Form | undefined {
  const schema = asRecord(withoutNulls(given));
  const { type = 'object', properties = {}, required, title, description } = schema;
  if (!isRecord(given) || type !== 'object' || !isRecord(properties)) return undefined;
  if (Object.keys(schema).some((name) => conditions.has(name))) return undefined;
  const fields = Object.entries(properties).map(([name, field]) => [name, readField(field, schema)] as const);
  if (fields.length > maxFields || fields.some(([, field]) => field === undefined)) return undefined;
  const needed = [required].flat().filter((name) => fields.some(([one]) => one === name));
  return {
    type,
    properties: Object.fromEntries(fields) as Form['properties'], // no field is undefined
    ...(needed.length > 0 && { required: needed }),
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
  };
}

const conditions = new Set(['allOf', 'anyOf', 'oneOf', 'not', 'if', 'dependentRequired', 'dependentSchemas']);
const fieldKeys = new Set(
  ('title description minLength maxLength minimum maximum exclusiveMinimum exclusiveMaximum multipleOf enum enumNames ' +
    'minItems maxItems').split(' '),
);
const formats = new Set<unknown>([undefined, 'email', 'uri', 'date', 'date-time']);

function readField(given: unknown, form: Fields): Fields | undefined {
  const plain = plainField(given, form);
  const { type = isChoice(plain) ? 'string' : undefined, format, pattern, default: value, items, ...field } = plain;
  const read = {
    type,
    ...Object.fromEntries(Object.entries(field).filter(([name]) => fieldKeys.has(name))),
    ...choicesOf(field),
    ...(items !== undefined && { items: itemsOf(plainField(items, form)) }),
    ...(format !== undefined && formats.has(format) && { format }),
    ...(typeof pattern === 'string' && { pattern }),
    ...(isOf(type, value) && { default: value }),
  };
  return isField(read) ? read : undefined;
}

function isOf(type: unknown, value: unknown): boolean {
  if (Array.isArray(value)) return type === 'array' && value.every((item) => typeof item === 'string');
  return typeof value === (type === 'integer' ? 'number' : type);
}

function itemsOf({ type = 'string', enum: values, ...items }: Fields): Fields {
  const { oneOf: anyOf } = choicesOf(items);
  return { type, ...(values !== undefined && { enum: values }), ...(anyOf !== undefined && { anyOf }) };
}

/** Choices with titles, without what else is said of each. */
function choicesOf({ anyOf }: Fields): { readonly oneOf?: readonly Fields[] } {
  if (!Array.isArray(anyOf)) return {};
  const choices = anyOf.map(asRecord).map(({ const: value, title }) => ({
    const: value,
    ...(title !== undefined && { title }),
  }));
  return { oneOf: choices };
}

/** Follows references within the form. A field that may also be null is one that may be left out. */
function plainField(given: unknown, form: Fields, depth = 0): Fields {
  const { $ref, allOf, oneOf, anyOf = oneOf, type, const: only, enum: values, ...rest } = asRecord(given);
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? [];
  const parts = ($ref === undefined ? [allOf, anyOf].find(Array.isArray) ?? [] : [asRecord(form[place])[name]])
    .map(asRecord).filter((part) => part['type'] !== 'null');
  const types = [type].flat().filter((one) => one !== 'null');
  const own = {
    ...(types.length === 1 && type !== undefined && { type: types[0] }),
    ...(values !== undefined && { enum: Array.isArray(values) ? values.filter((one) => one !== null) : values }),
    ...(values === undefined && typeof only === 'string' && { enum: [only] }),
    ...rest,
  };
  if (parts.length === 1 && !('const' in parts[0]!)) {
    return depth > 4 ? {} : plainField({ ...parts[0], ...own }, form, depth + 1);
  }
  return { ...own, ...(parts.length > 0 && allOf === undefined && { anyOf: parts }) };
}

function isField({ type, items, ...field }: Fields): boolean {
  if (type === 'array') return isRecord(items) && isChoice(items);
  if (items !== undefined) return false;
  if (type === 'string') return (field['enum'] === undefined && field['oneOf'] === undefined) || isChoice(field);
  return type === 'number' || type === 'integer' || type === 'boolean';
}

function isChoice({ enum: values, anyOf, oneOf }: Fields): boolean {
  const titled = anyOf ?? oneOf;
  if (titled === undefined) return Array.isArray(values) && values.every((value) => typeof value === 'string');
  return Array.isArray(titled) &&
    titled.every((choice) => typeof asRecord(choice)['const'] === 'string');
}
