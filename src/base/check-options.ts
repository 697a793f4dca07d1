/** Checks what a developer passes to a public function: JavaScript has no compiler that would say it. */

import { PinnaceError } from './errors.ts';

interface SuggestOptions {
  readonly limit?: number;
  /** What else a candidate is called; the candidate itself, when absent. */
  readonly namesOf?: (candidate: string) => readonly string[];
}

const longestWord = 64;

/** Returns the candidates that are spelled most like the word, the nearest first; none when nothing is near. */
export function suggest(
  word: string,
  candidates: Iterable<string>,
  { limit = 3, namesOf = (candidate) => [candidate] }: SuggestOptions = {},
): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const distance = Math.min(...namesOf(candidate).map((name) => distanceOf(wanted, name.toLowerCase())));
    if (distance <= Math.max(1, Math.floor(wanted.length / 3))) near.push({ candidate, distance });
  }
  const least = Math.min(...near.map(({ distance }) => distance));
  return near
    .filter(({ distance }) => distance <= least + 1)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** How many letters have to be added, dropped or replaced; half of one when only an end is missing. */
function distanceOf(a: string, b: string): number {
  if (a.length > 2 && b.startsWith(a)) return 0.5;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}

type Kind = 'array' | 'function' | 'object' | 'text' | 'given' | `.${string}`;

/** What an option must be. */
export type Wanted = readonly [
  /** `.agent`: has a method `agent`. With `?` it may be absent. */
  kind: Kind | `${Kind}?`,
  advice: string,
  /** Names that other libraries give the option. */
  others?: RegExp,
];

/** Options that may be absent, and of which nothing but the names is checked here. */
export function optional<const K extends string>(...names: readonly K[]): Readonly<Record<K, Wanted>> {
  const rows = names.map((name) => [name, ['given?']]);
  return Object.fromEntries(rows) as Record<K, Wanted>; // safe: it has these keys; without a check there is nothing to advise
}

/**
 * Checks the options in the order of `wanted`.
 *
 * @throws PinnaceError `invalid_argument`, reason `wrong_argument`, with the name of the option as `field`.
 */
export function checkOptions(action: string, options: unknown, wanted: Readonly<Record<string, Wanted>>): void {
  if (typeof options !== 'object' || options === null) {
    throw noOptions(action, options, Object.keys(wanted).filter((name) => !wanted[name]?.[0].endsWith('?')));
  }
  for (const [field, [kind, advice, others]] of Object.entries(wanted)) {
    const value: unknown = Reflect.get(options, field);
    const other = value === undefined && others ? Object.keys(options).find((name) => others.test(name)) : undefined;
    if (isOf(kind, value) && other === undefined) continue;
    const why = other === undefined
      ? `"${field}" ${stateOf(value)}; pass ${advice}`
      : `"${field}" is missing, but "${other}" is given; rename it to "${field}"`;
    throw wrongArgument(action, field, why);
  }
}

/**
 * Checks the options as `checkOptions`, and rejects an option that `known` does not have. An option that is `undefined` passes.
 *
 * @throws PinnaceError `invalid_argument`, reason `wrong_argument`, with the unknown option as `field` and the most similar one as `nearest`.
 */
export function checkKnownOptions(action: string, options: unknown, known: Readonly<Record<string, Wanted>>): void {
  checkOptions(action, options, known);
  checkNames(action, options as object, known); // safe: checked above
}

/**
 * Rejects an option that `known` does not have. One that is `undefined` passes.
 *
 * @throws PinnaceError `invalid_argument`, reason `wrong_argument`, with the unknown option as `field` and the most similar one as `nearest`.
 */
export function checkNames<T extends object>(
  action: string,
  options: T,
  known: Readonly<Record<keyof T, unknown>>,
): void {
  if (typeof options !== 'object' || options === null) throw noOptions(action, options, Object.keys(known));
  for (const [field, value] of Object.entries(options)) {
    if (value === undefined || Object.hasOwn(known, field)) continue;
    const [nearest] = suggest(field, Object.keys(known), { limit: 1 });
    const names = Object.keys(known);
    const all = names.length > 20 ? '' : `; it takes ${names.join(', ')}`;
    const hint = nearest === undefined ? all : `; use "${nearest}"`;
    throw new PinnaceError('invalid_argument', `Cannot ${action}: "${field}" is not known here${hint}`, {
      details: { reason: 'wrong_argument', field, ...(nearest !== undefined && { nearest }) },
    });
  }
}

export function wrongArgument(action: string, field: string, why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot ${action}: ${why}`, {
    details: { reason: 'wrong_argument', field },
  });
}

function noOptions(action: string, options: unknown, names: readonly string[]): PinnaceError {
  return wrongArgument(action, 'options', `the options ${stateOf(options, 'are')}; pass { ${names.join(', ')} }`);
}

function isOf(kind: string, value: unknown): boolean {
  if (kind.endsWith('?')) return value === undefined || isOf(kind.slice(0, -1), value);
  if (kind.startsWith('.')) {
    return typeof (value as Record<string, unknown> | undefined)?.[kind.slice(1)] === 'function';
  }
  if (kind === 'given') return value !== undefined;
  return kind === 'text' ? typeof value === 'string' && value !== '' : typeOf(value) === kind;
}

function stateOf(value: unknown, is = 'is'): string {
  if (value === undefined) return `${is} missing`;
  if (value === '') return `${is} empty`;
  const type = typeOf(value);
  return `${is} ${type === 'null' ? '' : /^[ao]/.test(type) ? 'an ' : 'a '}${type}`;
}

function typeOf(value: unknown): string {
  if (value instanceof Promise) return 'promise, so await it';
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}
