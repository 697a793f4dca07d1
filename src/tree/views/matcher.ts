/** The filters of a search: whether a node meets all of them. */

import { canonicalJson } from '../nodes/canonical.ts';
import { type Needle, needleOf } from './needle.ts';
import type { Payload } from '../nodes/node-store.ts';
import { parsePath, type PropertyPath, valuesAt } from '../nodes/property-path.ts';

/** One condition. `$id` and `$type` are the node's id and payload type. */
export interface Filter {
  readonly path: string;
  readonly op: 'eq' | 'contains';
  readonly value: unknown;
}

/** What a filter looks at. */
interface Subject {
  readonly id: string;
  readonly type: string;
  readonly payload: Payload;
}

/** A filter, compiled. */
export interface Matcher {
  readonly path: string;
  matches(subject: Subject): boolean;
  /** A text that the value must contain; matching the text is then all there is to it, but for lists. */
  readonly text?: { readonly path: PropertyPath; readonly needle: Needle };
}

/** Compiles a filter. @throws PinnaceError `invalid_argument` for a path that cannot be one. */
export function createMatcher(filter: Filter, { caseSensitive }: { readonly caseSensitive: boolean }): Matcher {
  const { path } = filter;
  const isStructural = path === '$id' || path === '$type';
  const names = isStructural ? [] : parsePath(path);
  const test = filter.op === 'eq' ? equals(filter.value) : contains(filter.value, caseSensitive);
  const read = (subject: Subject): readonly unknown[] => {
    if (path === '$id') return [subject.id];
    return isStructural ? [subject.type] : valuesAt(subject.payload, names);
  };
  return {
    path,
    matches: (subject) => read(subject).some(test),
    ...(isText(filter, { isStructural, caseSensitive }) &&
      { text: { path: names, needle: needleOf(fold(String(filter.value))) } }),
  };
}

function isText({ op, value }: Filter, { isStructural, caseSensitive }: Record<string, boolean>): boolean {
  const isPlain = typeof value === 'string' && value !== '' && !value.includes('\0');
  return op === 'contains' && isPlain && !isStructural && !caseSensitive;
}

/** JSON values that are the same; of a list, any element. */
function equals(wanted: unknown): (value: unknown) => boolean {
  const same = sameAs(wanted);
  return (value) => same(value) || (Array.isArray(value) && value.some(same));
}

/** Text within text; an element of a list. */
function contains(wanted: unknown, caseSensitive: boolean): (value: unknown) => boolean {
  const shape = (value: unknown): unknown => (typeof value === 'string' && !caseSensitive ? fold(value) : value);
  const needle = shape(wanted);
  const same = sameAs(needle);
  return (value) => {
    if (Array.isArray(value)) return value.some((element) => same(shape(element)));
    return typeof value === 'string' && typeof needle === 'string' && String(shape(value)).includes(needle);
  };
}

function sameAs(wanted: unknown): (value: unknown) => boolean {
  if (typeof wanted !== 'object' || wanted === null) return (value) => value === wanted;
  const text = canonicalJson(wanted);
  return (value) => typeof value === 'object' && value !== null && canonicalJson(value) === text;
}

/** Text without case. A sigma at the end of a word is one like any other. */
export function fold(text: string): string {
  return text.toLowerCase().replaceAll('ς', 'σ');
}
