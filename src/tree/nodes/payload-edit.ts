/** Creates the payload with a changed property; the old one stays as it is. */

import { PinnaceError } from '../../base/errors.ts';
import { checkData } from '../../base/json.ts';
import { canonicalJson } from './canonical.ts';
import type { Payload } from './node-store.ts';
import { byteLength } from '../views/projection.ts';
import { parsePath, type PropertyPath } from './property-path.ts';

/** A property's new value; `unset` takes it away. In a list, a name is an index. */
export interface PropertyEdit {
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
    throw refused(propertyName, 'give either a "newValue" or "unset": true', 'value_missing');
  }
  checkData(newValue);
  const bytes = byteLength(JSON.stringify(newValue) ?? '');
  if (bytes > valueBytes) {
    throw refused(propertyName, `the value takes ${bytes} bytes of at most ${valueBytes}`, 'too_large');
  }
}

function holderOf(root: Record<string, unknown>, path: PropertyPath, propertyName: string) {
  let holder = root;
  for (const name of path.slice(0, -1)) {
    if (!Object.hasOwn(holder, name)) setOwn(holder, name, {}, propertyName);
    const next = holder[name];
    if (typeof next !== 'object' || next === null) {
      throw refused(propertyName, `"${name}" is no object`, 'not_an_object');
    }
    holder = next as Record<string, unknown>; // safe: it is an object
  }
  const name = path.at(-1)!; // safe: a path has a name
  if (Array.isArray(holder) && !isIndex(holder, name)) {
    throw refused(propertyName, `"${name}" is no index`, 'not_an_index');
  }
  return { holder, name };
}

function setOwn(holder: Record<string, unknown>, name: string, value: unknown, propertyName: string): void {
  if (Array.isArray(holder)) throw refused(propertyName, `"${name}" is no index`, 'not_an_index');
  holder[name] = value;
}

function isIndex(list: readonly unknown[], name: string): boolean {
  return /^\d{1,9}$/.test(name) && Number(name) <= list.length;
}

function refused(propertyName: string, why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot update property "${propertyName.slice(0, 100)}": ${why}`, {
    details: { reason },
  });
}
