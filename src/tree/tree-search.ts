/** Searches the nodes of a subtree in pre-order, whatever is expanded. Indexes are in range by construction, hence the `!`. */

import { BoundedMap } from '../base/bounded-map.ts';
import { foldText } from '../search/words.ts';
import type { Payload } from './node-store.ts';
import { canonicalJson, parsePath, type PropertyPath, valuesAt } from './properties.ts';
import type { Cursor, Span } from './sequence.ts';
import type { Reader } from './snapshots.ts';

interface Search {
  readonly span: Span;
  readonly matchers: readonly Matcher[];
  readonly limit: number;
  readonly isLate: () => boolean;
}

/** One node that meets all filters. */
export interface Hit {
  readonly slot: number;
  readonly depth: number;
  readonly at: Cursor;
  /** How many nodes were looked at before it. */
  readonly scanned: number;
}

/** What was found, how many nodes were looked at, and where to continue. */
interface SearchResult {
  readonly hits: readonly Hit[];
  readonly scanned: number;
  readonly next: Cursor | undefined;
}

/** Searches until the limit, the end, or the time is up; then `next` says where to continue. Always gets further. */
export function search(reader: Reader, texts: TextCache, { span, matchers, limit, isLate }: Search): SearchResult {
  const { layout } = reader;
  const { start, end } = span;
  const plan = planOf(texts, matchers);
  const hits: Hit[] = [];
  let scanned = 0;
  for (let pos = start.pos; pos <= end.pos && pos < layout.count; pos++) {
    const number = layout.order[pos]!;
    const from = pos === start.pos ? start.index : 0;
    const to = pos === end.pos ? end.index : layout.lengths[number]!;
    if (from >= to) continue;
    if (pos > start.pos && isLate()) return { hits, scanned, next: { pos, index: from } };
    for (const index of matching(reader, plan, { number, from, to })) {
      const at = { pos, index };
      const before = scanned + index - from;
      if (hits.length === limit) return { hits, scanned: before, next: at };
      const { slots, depths } = layout.blocks[number]!;
      hits.push({ slot: slots[index]!, depth: depths[index]! + layout.add[number]!, at, scanned: before });
    }
    scanned += to - from;
  }
  return { hits, scanned, next: undefined };
}

interface Plan {
  readonly matchers: readonly Matcher[];
  /** The filter that the joined texts can decide, or at least narrow down, and the texts. */
  readonly byText?: { readonly needle: Needle; readonly textOf: BlockTexts; readonly isAlone: boolean };
}

function planOf(texts: TextCache, matchers: readonly Matcher[]): Plan {
  const textual = matchers.find(({ text }) => text);
  if (!textual?.text) return { matchers };
  const { needle, path } = textual.text;
  return { matchers, byText: { needle, textOf: texts.open(path), isAlone: matchers.length === 1 } };
}

interface Part {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** The indexes of a block's nodes that meet all filters, in order. */
function matching(reader: Reader, { matchers, byText }: Plan, { number, from, to }: Part): readonly number[] {
  const { slots } = reader.layout.blocks[number]!;
  const matches = (index: number, which: readonly Matcher[]): boolean => {
    const slot = slots[index]!;
    const record = reader.record(slot);
    const subject = { id: reader.id(slot), type: reader.typeName(record), payload: record.payload };
    return which.every((matcher) => matcher.matches(subject));
  };
  if (!byText) return Array.from({ length: to - from }, (_, i) => from + i).filter((index) => matches(index, matchers));
  const block = byText.textOf(reader, number);
  const found = candidates(block, byText.needle);
  if (found.length === 0) return found;
  const inPart = found.filter((index) => index >= from && index < to);
  const isDecided = byText.isAlone && block.lists.length === 0;
  // Where there are lists, a candidate may be one that no text has decided.
  return isDecided ? inPart : inPart.filter((index) => matches(index, matchers));
}

/** One condition. `$id` and `$type` are the node's id and payload type. */
interface Filter {
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

/** The folded texts of a block, each between two zeros. */
interface BlockText {
  readonly contentRev: number;
  readonly text: string;
  /** Where the texts of each node end. */
  readonly ends: Int32Array;
  /** The nodes with a list at the path, which no text can decide. */
  readonly lists: readonly number[];
}

/** Texts by path and block. */
export interface TextCache {
  open(path: PropertyPath): BlockTexts;
}

/** The texts of a block, by its number. */
type BlockTexts = (reader: Reader, number: number) => BlockText;

const maxPaths = 4;

export function createTextCache(): TextCache {
  const paths = new BoundedMap<string, BlockText[]>(maxPaths);
  return {
    open(path) {
      const texts = paths.getOrCreate(path.join('\0'), () => []);
      return (reader, number) => {
        const known = texts[number];
        if (known && known.contentRev === reader.layout.contentRevs[number]) return known;
        const text = build(reader, path, number);
        if (!known || known.contentRev < text.contentRev) texts[number] = text; // a snapshot's does not drive out a newer one
        return text;
      };
    },
  };
}

function build(reader: Reader, path: PropertyPath, number: number): BlockText {
  const { slots } = reader.layout.blocks[number]!;
  const ends = new Int32Array(slots.length);
  const lists: number[] = [];
  const parts: string[] = [];
  let end = 0;
  for (let i = 0; i < slots.length; i++) {
    for (const value of valuesAt(reader.record(slots[i]!).payload, path)) {
      if (Array.isArray(value) && lists.at(-1) !== i) lists.push(i);
      if (typeof value !== 'string') continue;
      const part = `\0${foldText(value)}`;
      parts.push(part);
      end += part.length;
    }
    ends[i] = end;
  }
  return { contentRev: reader.layout.contentRevs[number]!, text: parts.join(''), ends, lists };
}

/** The nodes of the block whose texts contain the needle, and those that only a look can decide, in order. */
function candidates({ text, ends, lists }: BlockText, needle: Needle): readonly number[] {
  let at = findNeedle(text, needle);
  if (at < 0) return lists;
  const found: number[] = [];
  for (let i = 0; at >= 0; at = findNeedle(text, needle, ends[i])) {
    i = firstBeyond(ends, at, i);
    found.push(i);
  }
  return lists.length === 0 ? found : [...new Set([...found, ...lists])].toSorted((a, b) => a - b);
}

function firstBeyond(ends: Int32Array, at: number, from: number): number {
  let [low, high] = [from, ends.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle]! > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

interface Needle {
  readonly text: string;
  /** The text from its rarest letter on, and the number of letters before it. */
  readonly tail: string;
  readonly offset: number;
}

/** The most frequent characters of names, the most frequent first; what is not here is rarer. */
const frequent = ' eatoinsrhldcu01mpg23fbyw45v6789k-x.jqz';

/** Makes a text ready to be looked for. It must not be empty. */
export function needleOf(text: string): Needle {
  let [offset, rarest] = [0, -1];
  for (let i = 0; i < text.length; i++) {
    const place = frequent.indexOf(text.charAt(i));
    const rarity = place < 0 ? frequent.length : place;
    if (rarity > rarest) [offset, rarest] = [i, rarity];
  }
  return { text, tail: text.slice(offset), offset };
}

/** Where the needle starts in the text, not before `from`; -1: nowhere. */
export function findNeedle(text: string, { text: whole, tail, offset }: Needle, from = 0): number {
  let at = text.indexOf(tail, from + offset);
  while (at >= 0 && !text.startsWith(whole, at - offset)) at = text.indexOf(tail, at + 1);
  return at < 0 ? -1 : at - offset;
}
