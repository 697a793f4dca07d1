/** Text without halves of surrogate pairs: strict servers refuse a request that has one, and so every later request of its chat. */

import { isRecord } from './is-record.ts';

/** Deeper data, and data within itself, is refused where it is read. */
const maxDepth = 64;

/**
 * Returns the data with U+FFFD in place of each half of a surrogate pair, in keys as well; the same object where it has none. Only lists,
 * plain objects and texts are looked at, and data of more than 64 levels stays as it is.
 */
export function wellFormed<T>(data: T): T {
  try {
    return repair(data, 0) as T; // of the same type, but for its characters
  } catch (error) {
    if (error !== tooDeep) throw error;
    return data;
  }
}

const tooDeep = new Error('The data is too deep');

/** Lists and objects are copied from the first value on that changes. */
function repair(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (depth === maxDepth) throw tooDeep;
  if (!Array.isArray(value)) return isPlain(value) ? repairFields(value, depth) : value;
  let items: unknown[] | undefined;
  for (const [at, item] of value.entries()) {
    const whole = repair(item, depth + 1);
    if (!items && whole !== item) items = value.slice(0, at);
    items?.push(whole);
  }
  return items ?? value;
}

function repairFields(record: Readonly<Record<string, unknown>>, depth: number): Readonly<Record<string, unknown>> {
  const keys = Object.keys(record);
  let fields: [string, unknown][] | undefined;
  for (const [at, key] of keys.entries()) {
    const field = repair(record[key], depth + 1);
    const isSame = field === record[key] && key.isWellFormed();
    if (!isSame) fields ??= keys.slice(0, at).map((before) => [before, record[before]]);
    fields?.push([key.toWellFormed(), field]);
  }
  return fields ? Object.fromEntries(fields) : record;
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Texts that arrive in pieces, of which one may end with the first half of a pair and the next begin with the other. */
export class WholeTexts {
  readonly #held = new Map<string, string>();

  /** Returns what is whole by now of the text with this key. */
  next(key: string, piece: string): string {
    if (this.#held.size === 0 && piece.isWellFormed()) return piece;
    const text = (this.#held.get(key) ?? '') + piece;
    this.#held.delete(key);
    const last = text.charCodeAt(text.length - 1);
    if (!(last >= 0xd800 && last < 0xdc00)) return text.toWellFormed();
    this.#held.set(key, text.slice(-1));
    return text.slice(0, -1).toWellFormed();
  }

  /** Ends the text. Returns U+FFFD where its other half never came. */
  end(key: string): string {
    return this.#held.delete(key) ? '\ufffd' : '';
  }
}

/** Controls, format characters (bidi, tags, joiners), separators, spaces, unassigned and private ones, halves of surrogate pairs. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Zs}\p{Co}\p{Cn}\p{Cs}\p{Default_Ignorable_Code_Point}\u2800]/gu;

/** A mark that would be drawn over a quote or a space, and more marks on one letter than a script needs. */
const stray = /(?<=^|["\s])\p{M}|(?<=\p{M}{4})\p{M}/gu;

/** Returns the text on one line, with `\uXXXX` for invisible characters. JSON text stays the same JSON. */
export function visible(text: string): string {
  return text.replace(hidden, (found) => found === ' ' ? found : escape(found)).replace(stray, escape);
}

/** The same for text of several lines, which keeps its line breaks. */
export function visibleLines(text: string): string {
  return text.split('\n').map(visible).join('\n');
}

function escape(found: string): string {
  let escaped = '';
  for (let at = 0; at < found.length; at++) escaped += `\\u${found.charCodeAt(at).toString(16).padStart(4, '0')}`;
  return escaped;
}

/** Models differ; about four characters of JSON make a token. */
export const charactersPerToken = 4;

/** Estimates the tokens of a text of this length, in UTF-16 code units. */
export function estimateTokens(length: number): number {
  return Math.ceil(length / charactersPerToken);
}

/** Estimates the tokens of a tool's definition in a prompt: its name, description and input schema in JSON. */
export function toolTokens(name: string, description: string | undefined, parameters: unknown): number {
  return estimateTokens(JSON.stringify({ name, description, parameters }).length);
}
