/** Reads JSON from strangers: what is too deep, too odd or made to surprise is refused before anything else looks at it. */

import { PinnaceError } from './errors.ts';
import { isRecord } from './is-record.ts';
import { wellFormed } from './text.ts';

/** The deepest nesting that is read. */
export const maxJsonDepth = 64;
/** Values in one text: each takes memory, whatever the length of the text. 16 MiB of chat messages have a tenth of them. */
const maxJsonValues = 1_048_576;

const reservedKeys = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Parses JSON text and checks the data as {@link checkData} does. The depth is counted on the text first: V8 parses 200,000 levels
 * and a reader that walks the result then overflows the stack. A name that an object has twice is refused (RFC 7493, 2.3): a check of
 * the text before may have read the other value.
 *
 * @throws PinnaceError `invalid_argument` that names the rule and quotes nothing of the text.
 */
export function parseJson(text: string): unknown {
  return parsed(text, (data) => data);
}

/**
 * Parses JSON text as {@link parseJson}, with U+FFFD in place of halves of surrogate pairs: texts that were cut by their length.
 *
 * @throws PinnaceError as `parseJson`.
 */
export function parseRepairedJson(text: string, { numbers }: { readonly numbers?: 'as-written' } = {}): unknown {
  const repair = /\\u[dD]/.test(text) || !text.isWellFormed() ? wellFormed : (data: unknown) => data;
  return parsed(text, repair, numbers && asWritten);
}

function parsed(text: string, repair: (data: unknown) => unknown, reviver?: typeof asWritten): unknown {
  const members = checkJsonDepth(text);
  let data: unknown;
  try {
    data = repair(reviver ? JSON.parse(text, reviver) : JSON.parse(text));
  } catch {
    throw refused('malformed_json', 'it is not JSON');
  }
  if (checkData(data) !== members) throw refused('duplicate_key', 'an object in it has the same key twice');
  return data;
}

/** A number that would lose digits, as a long id does, stays the text that it is. Engines without `source` read a number. */
function asWritten(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  const source = typeof value === 'number' ? context?.source : undefined;
  return source === undefined || String(value) === source ? value : source;
}

/**
 * Checks data that came without a parser, as over a worker's port: at most {@link maxJsonDepth} levels, only JSON's types, finite
 * numbers, well-formed text, and no key that reaches a prototype. Answers how many members its objects have.
 *
 * @throws PinnaceError `invalid_argument` that names the rule.
 */
export function checkData(data: unknown): number {
  return checkValue(data, 0);
}

/**
 * Returns data that came without a parser, with U+FFFD in place of halves of surrogate pairs.
 *
 * @throws PinnaceError as {@link checkData}.
 */
export function readData(data: unknown): unknown {
  try {
    checkData(data);
    return data;
  } catch (error) {
    if (!(error instanceof PinnaceError) || error.details?.['reason'] !== 'malformed_text') throw error;
    const whole = wellFormed(data);
    checkData(whole);
    return whole;
  }
}

/** Whether JSON text may hold a key that {@link checkData} refuses. */
export function hasReservedKey(text: string): boolean {
  return /"(?:__proto__|constructor|prototype)":/.test(text);
}

/** Levels of data within a message: what is around it takes others of {@link maxJsonDepth}. */
const maxDataDepth = 40;

/**
 * Returns parsed JSON with text in the place of every object that has a reserved key or is nested deeper than 40 levels: a message
 * with what {@link checkData} refuses could be sent by no client again.
 */
export function sendable(data: unknown, levels = maxDataDepth): unknown {
  if (typeof data !== 'object' || data === null) return data;
  if (levels === 0 || Object.keys(data).some((key) => reservedKeys.has(key))) return JSON.stringify(data);
  if (Array.isArray(data)) return data.map((item) => sendable(item, levels - 1));
  return Object.fromEntries(Object.entries(data).map(([key, value]) => [key, sendable(value, levels - 1)]));
}

/** Recurses no deeper than {@link maxJsonDepth}. A list of what is still to be checked would take more memory than the data. */
function checkValue(value: unknown, depth: number): number {
  if (typeof value !== 'object' || value === null) {
    checkScalar(value);
    return 0;
  }
  if (depth === maxJsonDepth) throw tooDeep();
  let members = 0;
  if (Array.isArray(value)) {
    for (const item of value) members += checkValue(item, depth + 1);
    return members;
  }
  checkIsRecord(value);
  const record = value as Readonly<Record<string, unknown>>; // checked
  for (const key of Object.keys(record)) { // entries would take an array for each
    checkKey(key);
    members += 1 + checkValue(record[key], depth + 1);
  }
  return members;
}

/**
 * Checks the depth of JSON text and the number of its values alone, for data of which another reader judges the rest. Answers how many
 * members its objects are written with.
 *
 * @throws PinnaceError `invalid_argument` with the reason `json_too_deep` or `json_too_many_values`.
 */
export function checkJsonDepth(text: string): number {
  let depth = 0;
  let members = 0;
  let values = 1;
  let inText = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (inText) {
      if (code === 0x5c) i++; // a backslash: the next character is no quote
      else if (code === 0x22) inText = false;
    } else if (code === 0x22) inText = true;
    else if (code === 0x7b || code === 0x5b) {
      if (++depth > maxJsonDepth) throw tooDeep();
      values++;
    } else if (code === 0x7d || code === 0x5d) depth--;
    else if (code === 0x3a) members++; // a colon
    else if (code === 0x2c && ++values > maxJsonValues) throw tooMany(); // a comma
  }
  return members;
}

/** Returns JSON whose text is the same for the same data: keys sorted, nothing between. */
export function canonicalJson(data: unknown): string {
  const sorted = isSimple(data, maxJsonDepth) ? sortedDeep(data) : undefined;
  // Native code writes data that is sorted several times as fast as data that a function has to sort.
  const text = sorted === undefined ? JSON.stringify(data, sortedValue) : JSON.stringify(sorted);
  return text ?? 'null';
}

/** Whether the data can be copied field by field, and writes itself: not where an assignment would set a prototype. */
function isSimple(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0 || 'toJSON' in value || Object.hasOwn(value, '__proto__')) return false;
  if (Array.isArray(value)) return value.every((item) => isSimple(item, depth - 1));
  for (const key in value) { // allocates no list, and an inherited field does no harm
    if (!isSimple((value as Record<string, unknown>)[key], depth - 1)) return false;
  }
  return true;
}

function sortedDeep(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortedDeep);
  if (!isRecord(value)) return value;
  const fields: Record<string, unknown> = {};
  for (const key of inOrder(Object.keys(value))) {
    fields[key] = sortedDeep(value[key]);
  }
  return fields;
}

/** Sorts in place, by insertion: objects have few keys. */
function inOrder(keys: string[]): readonly string[] {
  if (keys.length > 32) return keys.toSorted();
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i]!; // below the length, as all here
    let at = i;
    for (; at > 0 && keys[at - 1]! > key; at--) keys[at] = keys[at - 1]!;
    keys[at] = key;
  }
  return keys;
}

function sortedValue(_key: string, value: unknown): unknown {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function checkScalar(value: unknown): void {
  if (typeof value === 'string') {
    if (!value.isWellFormed()) throw refused('malformed_text', 'a text in it holds half of a surrogate pair');
  } else if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw refused('number_out_of_range', 'a number in it is too large');
  } else if (typeof value !== 'boolean' && value !== null && value !== undefined) {
    throw refused('not_json', `a ${typeof value} in it is not JSON`);
  }
}

function checkIsRecord(value: object): void {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw refused('not_json', 'an object in it is not plain');
}

function checkKey(key: string): void {
  if (reservedKeys.has(key)) {
    throw refused('reserved_key', 'a key in it is reserved ("__proto__", "constructor", "prototype")');
  }
  checkScalar(key);
}

function tooDeep(): PinnaceError {
  return refused('json_too_deep', `it is nested deeper than ${maxJsonDepth} levels`);
}

function tooMany(): PinnaceError {
  return refused('json_too_many_values', `it has more than ${maxJsonValues} values`);
}

function refused(reason: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the data: ${why}`, { details: { reason } });
}

/** The syntax of a pointer: empty for the whole value, else parts that each start with `/`. */
export const pointerForm = /^(?:\/(?:[^~/]|~[01])*)*$/;

/** Returns the keys of a pointer, as objects have them. */
export function pointerKeys(pointer: string): readonly string[] {
  return pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns the pointer to a key below another pointer. */
export function pointerBelow(pointer: string, key: string | number): string {
  return `${pointer}/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`;
}

/** Returns the value that the pointer names, own properties and members of lists only; `undefined` when there is none. */
export function readPointer(data: unknown, pointer: string): unknown {
  let value = data;
  for (const key of pointerKeys(pointer)) {
    if (typeof value !== 'object' || value === null || !isThere(value, key)) return undefined;
    value = (value as Record<string, unknown>)[key]; // safe: it has the property
  }
  return value;
}

/** A list has its members alone: not its length, and no member by another spelling of its number. */
function isThere(value: object, key: string): boolean {
  return Object.hasOwn(value, key) && (!Array.isArray(value) || /^(?:0|[1-9]\d*)$/.test(key));
}
