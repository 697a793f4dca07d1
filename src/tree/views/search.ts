/** Searches the nodes of a subtree in pre-order, whatever is expanded. Indexes are in range by construction, hence the `!`. */

import { type Cursor, type Span } from '../nodes/layout.ts';
import type { Matcher } from './matcher.ts';
import type { Needle } from './needle.ts';
import type { Reader } from './reader.ts';
import { type BlockTexts, candidates, type TextCache } from './text-cache.ts';

/** Where to search for what. */
export interface Search {
  readonly span: Span;
  readonly matchers: readonly Matcher[];
  readonly limit: number;
  /** Whether the time is up; called once per block. */
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
export interface SearchResult {
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
  if (!byText) return range(from, to).filter((index) => matches(index, matchers));
  const block = byText.textOf(reader, number);
  const found = candidates(block, byText.needle);
  if (found.length === 0) return found;
  const inPart = found.filter((index) => index >= from && index < to);
  const isDecided = byText.isAlone && block.lists.length === 0;
  // Where there are lists, a candidate may be one that no text has decided.
  return isDecided ? inPart : inPart.filter((index) => matches(index, matchers));
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}
