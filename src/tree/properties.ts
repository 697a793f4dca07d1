/** Property paths: `meta.owner`, with `\.` for a dot that belongs to a name. Arrays are transparent. */

import { PinnaceError } from '../base/errors.ts';
import { checkData, maxJsonDepth } from '../base/json.ts';
import type { Payload } from './node-store.ts';

export type PropertyPath = readonly string[];

const reservedNames = new Set(['__proto__', 'constructor', 'prototype']);
const maxPathLength = 1024;

/** @throws PinnaceError `invalid_argument` for a path that is empty, too long, or leads to a prototype. */
export function parsePath(path: string): PropertyPath {
  if (path.length > maxPathLength) {
    throw refusedPath(path.slice(0, 32), `it is longer than ${maxPathLength} characters`);
  }
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  if (names.includes('')) throw refusedPath(path, 'a name in it is empty');
  if (names.length > maxJsonDepth) throw refusedPath(path.slice(0, 32), `it has more than ${maxJsonDepth} names`);
  const reserved = names.find((name) => reservedNames.has(name));
  if (reserved !== undefined) throw refusedPath(path, `"${reserved}" is reserved`);
  return names;
}

/** Whether a name would reach a prototype. */
function isReservedName(name: string): boolean {
  return reservedNames.has(name);
}

/** All values at the path; an array on the path expands to its elements. */
export function valuesAt(value: unknown, path: PropertyPath, from = 0): readonly unknown[] {
  let here = value;
  for (let i = from; i < path.length; i++) {
    if (Array.isArray(here)) return here.flatMap((element) => valuesAt(element, path, i));
    const name = path[i]!; // safe: i is below the length
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, name)) return [];
    here = (here as Readonly<Record<string, unknown>>)[name]; // safe: it is an object, read by an own key
  }
  return [here];
}

function refusedPath(path: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use the property path "${path}": ${why}`, {
    details: { reason: 'invalid_path' },
  });
}

/** Lists of paths; an empty list of included ones means all. A path that starts with `$` names a field of the node (`$depth`). */
export interface PropertyFilter {
  readonly includedProperties: readonly string[];
  readonly excludedProperties: readonly string[];
}

/** Picks the properties of payloads, and copies them, so an answer shares no data with the tree. */
export type Projection = ReturnType<typeof createProjection>;

/** A text that was cut. */
interface Truncated {
  readonly $truncated: true;
  readonly bytes: number;
  readonly text: string;
}

interface Trie {
  isListed: boolean;
  readonly below: Map<string, Trie>;
}

/** @throws PinnaceError `invalid_argument` for a path that cannot be one. */
export function createProjection({ includedProperties, excludedProperties }: PropertyFilter) {
  const included = includedProperties.length > 0
    ? trieOf(includedProperties.filter((path) => !isField(path)))
    : undefined;
  const excluded = trieOf(excludedProperties.filter((path) => !isField(path)));
  const hidden = new Set(excludedProperties.filter(isField).map((path) => path.slice(1)));
  hidden.delete('nodeId');
  return {
    /** Texts of more than `textBytes` are cut, and say so. */
    pick(payload: Payload, { textBytes }: { readonly textBytes: number } = { textBytes: Infinity }): Payload {
      const picked = pick(payload, { included, excluded, textBytes, depth: 0 });
      return (picked ?? {}) as Payload; // safe: an object returns an object or nothing
    },
    /** Whether a field of the node itself is shown. */
    shows: (field: string): boolean => !hidden.has(field),
  };
}

function isField(path: string): boolean {
  return path.startsWith('$');
}

function trieOf(paths: readonly string[]): Trie {
  const root: Trie = { isListed: false, below: new Map() };
  for (const path of paths) {
    let here = root;
    for (const name of parsePath(path)) {
      const next = here.below.get(name) ?? { isListed: false, below: new Map<string, Trie>() };
      here.below.set(name, next);
      here = next;
    }
    here.isListed = true;
  }
  return root;
}

interface Picking {
  /** `undefined`: everything from here down. */
  readonly included: Trie | undefined;
  readonly excluded: Trie | undefined;
  readonly textBytes: number;
  readonly depth: number;
}

/** Payloads are at most 64 levels deep, so this may call itself. Returns `undefined` for what is left out. */
function pick(value: unknown, picking: Picking): unknown {
  if (typeof value !== 'object' || value === null) return picking.included ? undefined : cut(value, picking.textBytes);
  if (picking.depth > maxJsonDepth) return undefined;
  const picked = Array.isArray(value) ? pickItems(value, picking) : pickProperties(value, picking);
  const isEmpty = Array.isArray(picked) ? picked.length === 0 : Object.keys(picked).length === 0;
  return picking.included && isEmpty ? undefined : picked;
}

function pickItems(items: readonly unknown[], picking: Picking): unknown[] {
  const inside = { ...picking, depth: picking.depth + 1 };
  return items.map((item) => pick(item, inside)).filter((item) => item !== undefined);
}

function pickProperties(value: object, { included, excluded, textBytes, depth }: Picking): object {
  const picked: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const wanted = included?.below.get(name);
    const unwanted = excluded?.below.get(name);
    if ((included && !wanted) || unwanted?.isListed || isReservedName(name)) continue;
    const inside = { included: wanted?.isListed ? undefined : wanted, excluded: unwanted, textBytes, depth: depth + 1 };
    const part: unknown = pick(item, inside);
    if (part !== undefined) picked[name] = part;
  }
  return picked;
}

function cut(value: unknown, textBytes: number): unknown {
  if (typeof value !== 'string' || value.length * 3 <= textBytes) return value;
  const bytes = byteLength(value);
  if (bytes <= textBytes) return value;
  const whole = new TextDecoder().decode(new TextEncoder().encode(value).subarray(0, textBytes));
  return { $truncated: true, bytes, text: whole.replace(/\uFFFD+$/, '') } satisfies Truncated;
}

const encoder = new TextEncoder();

export function byteLength(text: string): number {
  return isShortAscii(text) ? text.length : encoder.encode(text).length;
}

/** Most texts are ids and words: for them a loop is quicker than an encoder. */
function isShortAscii(text: string): boolean {
  if (text.length > 64) return false;
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 127) return false;
  return true;
}

/** A property's new value; `unset` takes it away. In a list, a name is an index. */
interface PropertyEdit {
  readonly propertyName: string;
  readonly newValue?: unknown;
  readonly unset?: boolean | undefined;
}

/** Returns the payload with the change, or the same object when nothing differs. */
export function editPayload(payload: Payload, { propertyName, newValue, unset = false }: PropertyEdit): Payload {
  const path = parsePath(propertyName);
  const copy = structuredClone(payload) as Record<string, unknown>; // safe: a copy of an object
  const { holder, name } = holderOf(copy, path, propertyName);
  const before = Object.hasOwn(holder, name) ? holder[name] : undefined;
  if (unset) {
    if (before === undefined) return payload;
    if (Array.isArray(holder)) holder.splice(Number(name), 1);
    else delete holder[name];
    return copy;
  }
  if (before !== undefined && canonicalJson(before) === canonicalJson(newValue)) return payload;
  holder[name] = structuredClone(newValue);
  return copy;
}

/** Refuses what is no JSON value, or too large. */
export function checkValue({ propertyName, newValue, unset }: PropertyEdit, valueBytes: number): void {
  if ((newValue === undefined) !== (unset === true)) {
    throw refusedEdit(propertyName, 'give either a "newValue" or "unset": true', 'value_missing');
  }
  checkData(newValue);
  const bytes = byteLength(JSON.stringify(newValue) ?? '');
  if (bytes > valueBytes) {
    throw refusedEdit(propertyName, `the value takes ${bytes} bytes of at most ${valueBytes}`, 'too_large');
  }
}

function holderOf(root: Record<string, unknown>, path: PropertyPath, propertyName: string) {
  let holder = root;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(holder, name)) setOwn(holder, name, {}, propertyName);
    const next = holder[name];
    if (typeof next !== 'object' || next === null) {
      throw refusedEdit(propertyName, `"${name}" is no object`, 'not_an_object');
    }
    holder = next as Record<string, unknown>; // safe: it is an object
  }
  const name = path.at(-1)!; // safe: a path has a name
  if (Array.isArray(holder) && !(/^\d{1,9}$/.test(name) && Number(name) <= holder.length)) {
    throw refusedEdit(propertyName, `"${name}" is no index`, 'not_an_index');
  }
  return { holder, name };
}

function setOwn(holder: Record<string, unknown>, name: string, value: unknown, propertyName: string): void {
  if (Array.isArray(holder)) throw refusedEdit(propertyName, `"${name}" is no index`, 'not_an_index');
  holder[name] = value;
}

function refusedEdit(propertyName: string, why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot update property "${propertyName.slice(0, 100)}": ${why}`, {
    details: { reason },
  });
}

/** The deepest nesting that is written: a nested view of 500 levels has 1,000, a list of children being a level too. */
const maxDepth = 1100;
const maxParts = 32 * 1024 * 1024;

type Step = { readonly text: string } | { readonly value: unknown; readonly depth: number };

/**
 * Returns the canonical text. What JSON has no word for is left out, as `JSON.stringify` does.
 * @throws PinnaceError `invalid_argument` for data that is nested too deep (a cycle is) or too large.
 */
export function canonicalJson(data: unknown): string {
  const parts: string[] = [];
  const stack: Step[] = [{ value: data, depth: 0 }];
  for (let step = stack.pop(); step; step = stack.pop()) {
    if ('text' in step) parts.push(step.text);
    else if (typeof step.value !== 'object' || step.value === null) parts.push(JSON.stringify(step.value) ?? 'null');
    else push(stack, step.value, step.depth + 1);
    if (parts.length > maxParts) throw refusedData('it is too large');
  }
  return parts.join('');
}

function push(stack: Step[], value: object, depth: number): void {
  if (depth > maxDepth) throw refusedData(`it is nested deeper than ${maxDepth} levels`);
  const isArray = Array.isArray(value);
  const keys = isArray ? [] : Object.keys(value).toSorted();
  const record = value as Readonly<Record<string, unknown>>; // safe: read by its own keys only
  const steps: Step[] = [{ text: isArray ? '[' : '{' }];
  for (const [i, item] of (isArray ? value : keys.filter((key) => record[key] !== undefined)).entries()) {
    if (i > 0) steps.push({ text: ',' });
    if (!isArray) steps.push({ text: `${JSON.stringify(item)}:` });
    steps.push({ value: isArray ? item : record[item as string], depth });
  }
  steps.push({ text: isArray ? ']' : '}' });
  for (let i = steps.length - 1; i >= 0; i--) stack.push(steps[i]!);
}

function refusedData(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the data: ${why}`, {
    details: { reason: 'too_large' },
  });
}
