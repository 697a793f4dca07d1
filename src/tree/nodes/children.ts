/** The children of a node, found in the order of the tree. Indexes are in range by construction, hence the `!`. */

import { blockAt, type Cursor, type Layout, type Span } from './layout.ts';

/** A page of places, and where the next one starts. */
export interface Places {
  readonly cursors: readonly Cursor[];
  readonly next: Cursor | undefined;
}

/** The children at `depth` inside the span, from its start, at most `limit`. */
export function childrenIn(layout: Layout, span: Span, { depth, limit }: { depth: number; limit: number }): Places {
  const cursors: Cursor[] = [];
  let { pos, index } = span.start;
  for (; pos <= span.end.pos && pos < layout.count; pos++, index = 0) {
    const number = blockAt(layout, pos);
    if (layout.minDepth[number]! > depth) continue;
    const { depths } = layout.blocks[number]!;
    const wanted = depth - layout.add[number]!;
    const stop = pos === span.end.pos ? span.end.index : depths.length;
    for (; index < stop; index++) {
      if (depths[index] !== wanted) continue;
      if (cursors.length === limit) return { cursors, next: { pos, index } };
      cursors.push({ pos, index });
    }
  }
  return { cursors, next: undefined };
}

/** The cursor of the child number `rank` at `depth` inside the span, or its end. */
export function childAt(layout: Layout, span: Span, { depth, rank }: { depth: number; rank: number }): Cursor {
  let left = rank;
  let { pos, index } = span.start;
  for (; pos <= span.end.pos && pos < layout.count; pos++, index = 0) {
    const whole = index === 0 && pos < span.end.pos;
    const count = whole ? wholeCount(layout, pos, depth) : -1;
    if (count >= 0 && count <= left) {
      left -= count;
      continue;
    }
    const stop = pos === span.end.pos ? span.end.index : layout.lengths[blockAt(layout, pos)]!;
    const found = seek(layout, { pos, index, stop }, { depth, left });
    if (found.index >= 0) return { pos, index: found.index };
    left = found.left;
  }
  return span.end;
}

/** How many nodes at `depth` the span holds. */
export function countAt(layout: Layout, span: Span, depth: number): number {
  let count = 0;
  for (let pos = span.start.pos; pos <= span.end.pos && pos < layout.count; pos++) {
    const from = pos === span.start.pos ? span.start.index : 0;
    const stop = pos === span.end.pos ? span.end.index : layout.lengths[blockAt(layout, pos)]!;
    const whole = from === 0 && pos < span.end.pos ? wholeCount(layout, pos, depth) : -1;
    count += whole >= 0 ? whole : countIn(layout, { pos, from, stop }, depth);
  }
  return count;
}

/** How many nodes at `depth` a block holds whose nodes are all at least that deep; -1 where that is not so. */
function wholeCount(layout: Layout, pos: number, depth: number): number {
  const number = blockAt(layout, pos);
  const least = layout.minDepth[number]!;
  if (least > depth) return 0;
  return least === depth ? layout.minCount[number]! : -1;
}

interface Part {
  readonly pos: number;
  readonly index: number;
  readonly stop: number;
}

function seek(layout: Layout, { pos, index, stop }: Part, { depth, left }: { depth: number; left: number }) {
  const number = blockAt(layout, pos);
  const { depths } = layout.blocks[number]!;
  const wanted = depth - layout.add[number]!;
  let rest = left;
  for (let i = index; i < stop; i++) if (depths[i] === wanted && rest-- === 0) return { index: i, left: 0 };
  return { index: -1, left: rest };
}

function countIn(layout: Layout, { pos, from, stop }: { pos: number; from: number; stop: number }, depth: number) {
  const number = blockAt(layout, pos);
  const { depths } = layout.blocks[number]!;
  const wanted = depth - layout.add[number]!;
  let count = 0;
  for (let i = from; i < stop; i++) if (depths[i] === wanted) count++;
  return count;
}
