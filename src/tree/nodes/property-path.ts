/** Property paths: `meta.owner`, with `\.` for a dot that belongs to a name. Arrays are transparent. */

import { PinnaceError } from '../../base/errors.ts';
import { maxJsonDepth } from '../../base/json.ts';

/** The names from the payload down. */
export type PropertyPath = readonly string[];

const reservedNames = new Set(['__proto__', 'constructor', 'prototype']);
const maxPathLength = 1024;

/**
 * Reads a path.
 *
 * @throws PinnaceError `invalid_argument` for a path that is empty, too long, or leads to a prototype.
 */
export function parsePath(path: string): PropertyPath {
  if (path.length > maxPathLength) throw refused(path.slice(0, 32), `it is longer than ${maxPathLength} characters`);
  const names = path.split(/(?<!\\)\./).map((name) => name.replaceAll('\\.', '.'));
  if (names.includes('')) throw refused(path, 'a name in it is empty');
  if (names.length > maxJsonDepth) throw refused(path.slice(0, 32), `it has more than ${maxJsonDepth} names`);
  const reserved = names.find((name) => reservedNames.has(name));
  if (reserved !== undefined) throw refused(path, `"${reserved}" is reserved`);
  return names;
}

/** Whether a name would reach a prototype. */
export function isReservedName(name: string): boolean {
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

function refused(path: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use the property path "${path}": ${why}`, {
    details: { reason: 'invalid_path' },
  });
}
