/** What a provider said about a call that failed, as a person may read it. */

import { asRecord } from '../../src/base/is-record.ts';
import { withoutKeys } from './without-keys.ts';

const longest = 500;
/** Shorter texts of a request occur in any text. */
const shortestPiece = 12;

/**
 * Returns the provider's own text about a failed model call, without keys and without pieces of the request, of at most 500 characters;
 * `undefined` where the cause is no answer of a provider.
 */
export function providerText(cause: unknown): string | undefined {
  const error = asRecord(cause);
  const last = error['lastError'];
  if (last !== undefined) return providerText(last);
  const said = messageIn(error['data']) ?? messageIn(parsed(error['responseBody'])) ?? messageIn(error);
  const isProviders = error['responseBody'] !== undefined || error['data'] !== undefined || !(cause instanceof Error);
  if (said === undefined || !isProviders) return undefined;
  const text = withoutPieces(withoutKeyParts(said), textsIn(error['requestBodyValues']));
  return text.replace(/\p{C}+/gu, ' ').trim().slice(0, longest).toWellFormed() || undefined;
}

/** The fields in which servers say what is wrong, the most telling first: gateways put the error of the server behind them into `raw`. */
const fields = [
  'raw',
  'metadata',
  'error',
  'errors',
  'detail',
  'message',
  'msg',
  'error_msg',
  'error_message',
  'reason',
];

function messageIn(value: unknown, depth = 0): string | undefined {
  if (typeof value === 'string') {
    return (/^\s*[{[]/.test(value) ? messageIn(parsed(value), depth + 1) : undefined) ?? value;
  }
  if (depth > 5) return undefined;
  if (Array.isArray(value)) return messageIn(value[0], depth + 1);
  const record = asRecord(value);
  for (const field of fields) {
    const inner = record[field];
    const text = inner === undefined || inner === null ? undefined : messageIn(inner, depth + 1);
    if (text !== undefined && text !== '') return text;
  }
  return undefined;
}

/** A short text without marks is a server's own words; an HTML page says nothing that helps. */
function parsed(text: unknown): unknown {
  try {
    return typeof text === 'string' ? JSON.parse(text) : undefined;
  } catch {
    return typeof text === 'string' && !text.includes('<') ? { message: text } : undefined;
  }
}

/** Providers repeat the key that they refuse, or most of it. */
function withoutKeyParts(text: string): string {
  const named = text.replace(/\b(Bearer|Basic)\s+[^\s"',;]+/gi, '$1 [key]');
  return withoutKeys(named).replace(/\S+/g, (word) => word.includes('***') ? '[key]' : word);
}

/** The longest texts of the request first: a short one may be a part of them. */
function withoutPieces(text: string, texts: readonly string[]): string {
  const pieces = texts.filter((piece) => piece.length >= shortestPiece).toSorted((a, b) => b.length - a.length);
  let left = text;
  for (const piece of pieces) {
    left = left.replaceAll(piece, '[…]');
    const start = piece.slice(0, shortestPiece); // providers shorten what they repeat
    const at = left.indexOf(start);
    if (at >= 0) left = `${left.slice(0, at)}[…]${left.slice(at + commonLength(left.slice(at), piece))}`;
  }
  return left;
}

function commonLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

/** Every text of a request but the name of its model. */
function textsIn(value: unknown, key = ''): readonly string[] {
  if (typeof value === 'string') return key === 'model' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap((one) => textsIn(one));
  return Object.entries(asRecord(value)).flatMap(([name, one]) => textsIn(one, name));
}
