/** Reads what a server asks a person: forms of flat fields, and URLs to open. Everything else is refused. */

import { PinnaceError } from '../base/errors.ts';
import { asRecord, isRecord, withoutNulls } from '../base/is-record.ts';
import { checkData } from '../base/json.ts';
import type { JsonSchema } from '../base/schema.ts';
import { compileJsonSchema } from '../tools/json-schema/json-schema.ts';

export type Ask =
  | { readonly key: string; readonly mode: 'form'; readonly message: string; readonly schema: JsonSchema }
  | {
    readonly key: string;
    readonly mode: 'url';
    readonly message: string;
    readonly url: string;
    readonly host: string;
  };

const maxAsks = 5;
const maxFields = 20;
const maxLength = 16_384;

/**
 * Returns the questions of `inputRequests`.
 * @throws PinnaceError `unavailable` (`mcp_invalid_question`) for what no person should be asked, `forbidden` (`mcp_secret_asked`) for
 * a form with a field for a secret.
 */
export function readAsks(requests: unknown): readonly Ask[] {
  checkData(requests);
  const entries = isRecord(requests) ? Object.entries(requests) : [];
  if (entries.length === 0 || entries.length > maxAsks) throw invalidQuestion(`it asks ${entries.length} questions`);
  if (JSON.stringify(requests).length > maxLength) throw invalidQuestion('its questions are too long');
  return entries.map(([key, request]) => {
    const { method, params } = isRecord(request) ? request : {};
    if (method !== 'elicitation/create' || !isRecord(params)) {
      throw invalidQuestion('it asks for something other than answers of a person');
    }
    if (!/^[\w.:/-]{1,128}$/.test(key)) throw invalidQuestion('a question has no valid key');
    return readAsk(key, params);
  });
}

function readAsk(key: string, params: Readonly<Record<string, unknown>>): Ask {
  const { message, requestedSchema, url } = params;
  const mode = params['mode'] ?? 'form';
  if (typeof message !== 'string' || message.length > 4096) throw invalidQuestion('a question has no message');
  if (mode === 'url') return readUrl({ key, mode, message }, url);
  const form = mode === 'form' ? readForm(requestedSchema) : undefined;
  if (!form) throw invalidQuestion('a form has other fields than MCP allows');
  if (Object.entries(form.properties).some(([name, field]) => asksForSecret(name, field))) throw secretAsked();
  compile(form);
  return { key, mode: 'form', message, schema: form };
}

/** It is shown whole and never fetched: a person opens it. */
function readUrl(ask: { readonly key: string; readonly mode: 'url'; readonly message: string }, text: unknown): Ask {
  const url = typeof text === 'string' && text.length <= 4096 ? URL.parse(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw invalidQuestion('it asks to open something other than an https address');
  }
  return { ...ask, url: url.href, host: url.host };
}

type Fields = Readonly<Record<string, unknown>>;

interface Form extends Fields {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Fields>>;
}

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
  const { type, format, pattern, default: value, items, ...field } = plainField(given, form);
  const read = {
    type: type ?? (isChoice(field) ? 'string' : undefined),
    ...Object.fromEntries(Object.entries(field).filter(([name]) => fieldKeys.has(name))),
    ...choicesOf(field),
    ...(items !== undefined && { items: itemsOf(plainField(items, form)) }),
    ...(format !== undefined && formats.has(format) && { format }),
    ...(isCheckable({ pattern }) && { pattern }),
  };
  if (!isField(read)) return undefined;
  return value !== undefined && compile(read)(value).length === 0 ? { ...read, default: value } : read;
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

/** Whether a pattern is a text that can be checked in linear time; the server checks the others. */
function isCheckable(schema: { readonly pattern: unknown }): boolean {
  try {
    return typeof schema.pattern === 'string' && compileJsonSchema({ type: 'string', ...schema }) !== undefined;
  } catch {
    return false;
  }
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

/** By the words of its name and its title. MCP forbids forms for secrets; a server uses a URL for them. */
function asksForSecret(name: string, { title }: Fields): boolean {
  const text = `${name} ${typeof title === 'string' ? title : ''}`.normalize('NFKC')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().replaceAll(/[^a-z]+/g, ' ');
  const words = text.split(' ');
  return words.some((word) => secretWords.has(word)) || secretPhrases.some((phrase) => text.includes(phrase)) ||
    /passw(?:or)?d|passphrase|passcode|apikey|privatekey/.test(text);
}

const secretWords = new Set(
  'password secret secrets token tokens credential credentials pin cvv cvc otp ssn pwd'.split(' '),
);
const secretPhrases = [
  'api key',
  'private key',
  'access key',
  'card number',
  'security code',
  'seed phrase',
  'recovery code',
];

export function compile(schema: unknown): ReturnType<typeof compileJsonSchema> {
  try {
    return compileJsonSchema(schema as JsonSchema);
  } catch {
    throw invalidQuestion('a form has a schema that cannot be checked');
  }
}

function invalidQuestion(why: string): PinnaceError {
  return new PinnaceError('unavailable', `Cannot answer the MCP server: ${why}`, {
    retryable: false,
    details: { reason: 'mcp_invalid_question' },
  });
}

function secretAsked(): PinnaceError {
  return new PinnaceError('forbidden', 'Cannot answer the MCP server: it asks for a secret in a form', {
    details: { reason: 'mcp_secret_asked' },
  });
}
