/** Reads what a server asks a person: forms of flat fields, and URLs to open. Everything else is refused. */

import type { PinnaceError } from '../base/errors.ts';
import { isRecord } from '../base/is-record.ts';
import { checkData } from '../base/json.ts';
import type { JsonSchema } from '../base/schema.ts';
import { refusal } from '../permission/interruption.ts';
import { checkOf } from '../tools/json-schema/json-schema.ts';
import { type Fields, type Form, readForm } from './read-form.ts';

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
  return { key, mode: 'form', message, schema: checked(form) };
}

/** It is shown whole and never fetched: a person opens it. */
function readUrl(ask: { readonly key: string; readonly mode: 'url'; readonly message: string }, text: unknown): Ask {
  const url = typeof text === 'string' && text.length <= 4096 ? URL.parse(text) : null;
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
    throw invalidQuestion('it asks to open something other than an https address');
  }
  return { ...ask, url: url.href, host: url.host };
}

/** Returns the form without the patterns that cannot be checked in linear time, which the server checks, and defaults that do not fit. */
function checked(form: Form): Form {
  const fields = Object.entries(form.properties).map(([name, { pattern, default: value, ...rest }]) => {
    const isCheckable = pattern !== undefined && checkOf({ type: 'string', pattern }) !== undefined;
    const field = isCheckable ? { ...rest, pattern } : rest;
    const fits = value !== undefined && compile(field)(value).length === 0;
    return [name, fits ? { ...field, default: value } : field] as const;
  });
  const read = { ...form, properties: Object.fromEntries(fields) };
  compile(read);
  return read;
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

export function compile(schema: JsonSchema): NonNullable<ReturnType<typeof checkOf>> {
  const check = checkOf(schema);
  if (!check) throw invalidQuestion('a form has a schema that cannot be checked');
  return check;
}

function invalidQuestion(why: string): PinnaceError {
  return refusal('unavailable', `Cannot answer the MCP server: ${why}`, 'mcp_invalid_question');
}

function secretAsked(): PinnaceError {
  return refusal('forbidden', 'Cannot answer the MCP server: it asks for a secret in a form', 'mcp_secret_asked');
}
