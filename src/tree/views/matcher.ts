/** The filters of a search: whether a node meets all of them. */

import { foldText } from '../../search/fold.ts';
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
      { text: { path: names, needle: needleOf(foldText(String(filter.value))) } }),
  };
}

function isText({ op, value }: Filter, { isStructural, caseSensitive }: Record<string, boolean>): boolean {
  const isPlain = typeof value === 'string' && foldText(value) !== '' && !value.includes('\0');
  return op === 'contains' && isPlain && !isStructural && !caseSensitive;
}

/** JSON values that are the same; of a list, any element. */
function equals(wanted: unknown): (value: unknown) => boolean {
  const same = sameAs(wanted, composed);
  return (value) => same(value) || (Array.isArray(value) && value.some(same));
}

/** Text within text; an element of a list. */
function contains(wanted: unknown, caseSensitive: boolean): (value: unknown) => boolean {
  const shape = caseSensitive ? composed : foldText;
  const same = sameAs(wanted, shape);
  const needle = typeof wanted === 'string' ? shape(wanted) : undefined;
  return (value) => {
    if (Array.isArray(value)) return value.some(same);
    return typeof value === 'string' && needle !== undefined && shape(value).includes(needle);
  };
}

function sameAs(wanted: unknown, shape: (text: string) => string): (value: unknown) => boolean {
  if (typeof wanted === 'string') {
    const text = shape(wanted);
    return (value) => typeof value === 'string' && shape(value) === text;
  }
  if (typeof wanted !== 'object' || wanted === null) return (value) => value === wanted;
  const text = canonicalJson(wanted);
  return (value) => typeof value === 'object' && value !== null && canonicalJson(value) === text;
}

/** A letter with a mark is one text, whether it is written as one character or as two. */
function composed(text: string): string {
  return text.normalize('NFC');
}
