/** Reads what a server asks a person: forms of flat fields, and URLs to open. Everything else is refused. */

import { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
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
  const { mode = 'form', message, requestedSchema, url } = params;
  if (typeof message !== 'string' || message.length > 4096) throw invalidQuestion('a question has no message');
  if (mode === 'url') return readUrl({ key, mode, message }, url);
  if (mode !== 'form' || !isForm(requestedSchema)) throw invalidQuestion('a form has other fields than MCP allows');
  const secret = Object.entries(requestedSchema.properties).find(([name, field]) => asksForSecret(name, field));
  if (secret) throw secretAsked();
  compile(requestedSchema);
  return { key, mode, message, schema: requestedSchema };
}

/** It is shown whole and never fetched: a person opens it. */
function readUrl(ask: { readonly key: string; readonly mode: 'url'; readonly message: string }, text: unknown): Ask {
  const url = typeof text === 'string' && text.length <= 4096 ? URL.parse(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw invalidQuestion('it asks to open something other than an https address');
  }
  return { ...ask, url: url.href, host: url.host };
}

interface Form extends Readonly<Record<string, unknown>> {
  readonly type: 'object';
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

function isForm(schema: unknown): schema is Form {
  if (!isRecord(schema) || schema['type'] !== 'object' || !isRecord(schema['properties'])) return false;
  const fields = Object.values(schema['properties']);
  const others = Object.keys(schema).filter((name) => !formKeys.has(name));
  return others.length === 0 && fields.length <= maxFields && fields.every(isField);
}

const formKeys = new Set(['$schema', 'type', 'properties', 'required', 'additionalProperties', 'title', 'description']);
const fieldKeys = new Set(
  ('type title description default minLength maxLength format pattern minimum maximum enum enumNames oneOf items ' +
    'minItems maxItems').split(' '),
);
const itemKeys = new Set(['type', 'enum', 'anyOf', 'oneOf']);
const formats = new Set<unknown>([undefined, 'email', 'uri', 'date', 'date-time']);

function isField(field: unknown): boolean {
  if (!isRecord(field) || Object.keys(field).some((name) => !fieldKeys.has(name))) return false;
  const { type, format, items } = field;
  if (type === 'array') {
    return isRecord(items) && Object.keys(items).every((name) => itemKeys.has(name)) && isChoice(items);
  }
  if (items !== undefined || !formats.has(format)) return false;
  if (type === 'string') return (field['enum'] === undefined && field['oneOf'] === undefined) || isChoice(field);
  return type === 'number' || type === 'integer' || type === 'boolean';
}

function isChoice({ enum: values, anyOf, oneOf }: Readonly<Record<string, unknown>>): boolean {
  const titled = anyOf ?? oneOf;
  if (titled === undefined) return Array.isArray(values) && values.every((value) => typeof value === 'string');
  return Array.isArray(titled) &&
    titled.every((choice) =>
      isRecord(choice) && typeof choice['const'] === 'string' && Object.keys(choice).length <= 2
    );
}

/** By the words of its name and its title. MCP forbids forms for secrets; a server uses a URL for them. */
function asksForSecret(name: string, { title }: Readonly<Record<string, unknown>>): boolean {
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
