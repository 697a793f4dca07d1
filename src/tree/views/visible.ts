/** The visible rows of a view, by rank or from a place on. Indexes are in range by construction, hence the `!`. */

import type { Hidden } from './hidden.ts';
import type { Cursor, Layout, Span } from '../nodes/layout.ts';

/** The order of the nodes together with one view: of the tree as it is, or of a snapshot. */
export interface Scene {
  readonly layout: Layout;
  readonly hidden: Hidden;
}

/** Which rows: those in the span whose hidden number is `level` (that of the span's first node). */
export interface Range extends Span {
  readonly level: number;
  /** The deepest depth that is shown; counted from the root of the tree. */
  readonly maxDepth: number;
}

/** Visible rows as columns; `next` is the cursor behind the last, undefined when there are no more. */
export interface VisibleRows {
  readonly slots: number[];
  readonly depths: number[];
  readonly expanded: boolean[];
  readonly next: Cursor | undefined;
}

/** The visible rows from a cursor in the range on, at most `limit`. Takes as long as the page, and a little for blocks skipped. */
export function visibleRows(
  scene: Scene,
  range: Range,
  { from, limit }: { readonly from: Cursor; readonly limit: number },
): VisibleRows {
  const { layout, hidden } = scene;
  const rows = emptyRows();
  let { pos, index } = from;
  for (; pos <= range.end.pos && pos < layout.count; pos++, index = 0) {
    const number = layout.order[pos]!;
    if (hidden.min[number]! > range.level || layout.minDepth[number]! > range.maxDepth) continue;
    const stop = pos === range.end.pos ? range.end.index : layout.lengths[number]!;
    const next = collect(
      scene,
      { number, index, stop, limit, level: range.level, maxDepth: range.maxDepth },
      rows,
    );
    if (next >= 0) return { ...rows, next: { pos, index: next } };
  }
  return { ...rows, next: undefined };
}

type Columns = Omit<VisibleRows, 'next'>;

function emptyRows(): Columns {
  return { slots: [], depths: [], expanded: [] };
}

interface Collecting {
  readonly number: number;
  readonly index: number;
  readonly stop: number;
  readonly limit: number;
  readonly level: number;
  readonly maxDepth: number;
}

/** Takes the rows of one block; returns the index of the first that is too many, or -1. */
function collect(
  { layout, hidden }: Scene,
  { number, index, stop, limit, level, maxDepth }: Collecting,
  rows: Columns,
): number {
  const { slots, depths } = layout.blocks[number]!;
  const own = hidden.own[number];
  const slope = hidden.slope[number]!;
  const flags = hidden.flags[number];
  const flag = hidden.flag[number]!;
  const add = layout.add[number]!;
  const wanted = level - hidden.base[number]!;
  for (let i = index; i < stop; i++) {
    if ((own ? own[i]! : slope * depths[i]!) !== wanted) continue;
    const depth = depths[i]! + add;
    if (depth > maxDepth) continue;
    if (rows.slots.length === limit) return i;
    rows.slots.push(slots[i]!);
    rows.depths.push(depth);
    rows.expanded.push((flags ? flags[i]! : flag) === 1);
  }
  return -1;
}

/** The cursor of the row with this rank in the range, or its end. Knows nothing of `maxDepth`. */
export function rowAt(scene: Scene, { start, end, level }: Range, rank: number): Cursor {
  const { layout: { order, count, lengths }, hidden: { min, minCount } } = scene;
  let left = rank;
  let { pos, index } = start;
  for (; pos <= end.pos && pos < count; pos++, index = 0) {
    const number = order[pos]!;
    const rows = min[number] === level ? minCount[number]! : 0;
    if (index === 0 && pos < end.pos) {
      if (rows <= left) {
        left -= rows;
        continue;
      }
      if (rows === lengths[number]) return { pos, index: left };
    }
    const stop = pos === end.pos ? end.index : lengths[number]!;
    const { at, missing } = seek(scene, { number, from: index, stop, level }, left);
    if (at >= 0) return { pos, index: at };
    left = missing;
  }
  return end;
}

interface Part {
  readonly number: number;
  readonly from: number;
  readonly stop: number;
  readonly level: number;
}

/** The index of a row in a part of a block, or how many rows are still to be skipped behind it. */
function seek({ layout, hidden }: Scene, { number, from, stop, level }: Part, skip: number) {
  const own = hidden.own[number];
  const slope = hidden.slope[number]!;
  const { depths } = layout.blocks[number]!;
  const wanted = level - hidden.base[number]!;
  let left = skip;
  for (let i = from; i < stop; i++) {
    if ((own ? own[i]! : slope * depths[i]!) === wanted && left-- === 0) return { at: i, missing: 0 };
  }
  return { at: -1, missing: left };
}

/** How many visible rows there are in the range before the cursor. */
export function rowsBefore(scene: Scene, { start, level }: Range, before: Cursor): number {
  const { layout: { order, count, lengths }, hidden: { min, minCount } } = scene;
  let rows = 0;
  for (let pos = start.pos; pos <= before.pos && pos < count; pos++) {
    const number = order[pos]!;
    const from = pos === start.pos ? start.index : 0;
    if (from === 0 && pos < before.pos) {
      if (min[number] === level) rows += minCount[number]!;
      continue;
    }
    const stop = pos === before.pos ? before.index : lengths[number]!;
    rows -= seek(scene, { number, from, stop, level }, 0x7fff_ffff).missing - 0x7fff_ffff; // what it skipped
  }
  return rows;
}
