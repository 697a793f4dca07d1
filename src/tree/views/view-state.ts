/**
 * One view of the tree: which nodes are expanded, and so which rows are visible. Indexes are in range by construction, hence the `!`.
 */

import {
  copyHidden,
  emptyHidden,
  flagAt,
  flagsOf,
  growHidden,
  hasOther,
  type Hidden,
  hiddenAt,
  ownOf,
  setUniform,
  updateMin,
} from './hidden.ts';
import { blockAt, type Cursor, depthAt, type Layout, type Span, subtree } from '../nodes/layout.ts';
import type { BlockWatcher, Sequence } from '../nodes/sequence.ts';

/** Which nodes of the tree are expanded. */
export interface ViewState extends BlockWatcher {
  readonly hidden: Hidden;
  /** What a node is until it is expanded or collapsed. */
  readonly defaultExpanded: boolean;
  isExpanded(at: Cursor): boolean;
  /** How many collapsed nodes there are above the node. */
  hiddenAt(at: Cursor): number;
  /** What `hiddenAt` says of the node's children. */
  hiddenBelow(at: Cursor): number;
  /** Returns whether that changed anything. */
  setExpanded(at: Cursor, expanded: boolean): boolean;
  /** The same for the node and all nodes below it. */
  setAll(at: Cursor, expanded: boolean): boolean;
  /** Adds to the hidden numbers of entire blocks. */
  shift(numbers: Int32Array, by: number): void;
  copy(): Hidden;
}

/** Creates a view whose nodes are all as `defaultExpanded` says. */
export function createViewState(sequence: Sequence, { defaultExpanded }: { defaultExpanded: boolean }): ViewState {
  const { layout } = sequence;
  const hidden = emptyHidden(sequence.room());
  const at = ({ pos, index }: Cursor) => ({ number: blockAt(layout, pos), index });
  const create = (numbers: Int32Array): void => {
    setUniform(hidden, layout, numbers, { expanded: defaultExpanded, top: 0 });
  };
  create(new Int32Array(layout.blocks.length).map((_, number) => number));
  return {
    hidden,
    defaultExpanded,
    grow: (room) => growHidden(hidden, room),
    create: (number) => create(Int32Array.of(number)),
    split: (left, right, index) => split(hidden, layout, { left, right, index }),
    merge: (left, right) => merge(hidden, layout, { left, right }),
    isExpanded: (cursor) => flagAt(hidden, at(cursor)),
    hiddenAt: (cursor) => hiddenAt(hidden, layout, at(cursor)),
    hiddenBelow: (cursor) => hiddenAt(hidden, layout, at(cursor)) + (flagAt(hidden, at(cursor)) ? 0 : 1),
    setExpanded: (cursor, expanded) => setExpanded(hidden, layout, { cursor, expanded }),
    setAll: (cursor, expanded) => setAll(hidden, layout, { cursor, expanded }),
    shift(numbers, by) {
      if (by === 0) return;
      for (const number of numbers) {
        hidden.base[number]! += by;
        hidden.min[number]! += by;
      }
    },
    copy: () => copyHidden(hidden),
  };
}

function split(
  hidden: Hidden,
  layout: Layout,
  { left, right, index }: { left: number; right: number; index: number },
): void {
  const own = hidden.own[left];
  const flags = hidden.flags[left];
  hidden.base[right] = hidden.base[left]!;
  hidden.slope[right] = hidden.slope[left]!;
  hidden.flag[right] = hidden.flag[left]!;
  hidden.own[right] = own?.slice(index);
  hidden.flags[right] = flags?.slice(index);
  hidden.own[left] = own?.slice(0, index);
  hidden.flags[left] = flags?.slice(0, index);
  updateMin(hidden, layout, left);
  updateMin(hidden, layout, right);
}

function merge(hidden: Hidden, layout: Layout, { left, right }: { left: number; right: number }): void {
  if (!isSameSlope(hidden, layout, { left, right })) {
    const [a, b] = [ownOf(hidden, layout, left), ownOf(hidden, layout, right)];
    const own = new Int32Array(a.length + b.length);
    own.set(a);
    const more = hidden.base[right]! - hidden.base[left]!;
    for (let i = 0; i < b.length; i++) own[a.length + i] = b[i]! + more;
    hidden.own[left] = own;
  }
  if (hidden.flags[left] || hidden.flags[right] || hidden.flag[left] !== hidden.flag[right]) {
    const [a, b] = [flagsOf(hidden, layout, left), flagsOf(hidden, layout, right)];
    const flags = new Uint8Array(a.length + b.length);
    flags.set(a);
    flags.set(b, a.length);
    hidden.flags[left] = flags;
  }
  hidden.own[right] = undefined;
  hidden.flags[right] = undefined;
  const [least, other] = [hidden.min[left]!, hidden.min[right]!];
  hidden.min[left] = Math.min(least, other);
  const [counts, others] = [hidden.minCount[left]!, hidden.minCount[right]!];
  hidden.minCount[left] = (least <= other ? counts : 0) + (other <= least ? others : 0);
}

function isSameSlope(hidden: Hidden, layout: Layout, { left, right }: { left: number; right: number }): boolean {
  if (hidden.own[left] || hidden.own[right] || hidden.slope[left] !== hidden.slope[right]) return false;
  const more = hidden.slope[left] === 1 ? layout.add[right]! - layout.add[left]! : 0;
  return hidden.base[left] === hidden.base[right]! - more;
}

interface Setting {
  readonly cursor: Cursor;
  readonly expanded: boolean;
}

function setExpanded(hidden: Hidden, layout: Layout, { cursor, expanded }: Setting): boolean {
  const number = blockAt(layout, cursor.pos);
  if (flagAt(hidden, { number, index: cursor.index }) === expanded) return false;
  const flags = flagsOf(hidden, layout, number);
  flags[cursor.index] = expanded ? 1 : 0;
  hidden.flags[number] = flags;
  const { start, end } = subtree(layout, cursor);
  shiftSpan(hidden, layout, { start: { pos: start.pos, index: start.index + 1 }, end }, expanded ? -1 : 1);
  return true;
}

/** Adds to the hidden numbers of a span: first of its parts of blocks, then of the entire blocks between them. */
function shiftSpan(hidden: Hidden, layout: Layout, { start, end }: Span, by: 1 | -1): void {
  const shiftPart = (pos: number, from: number, to: number): void => {
    const number = blockAt(layout, pos);
    const own = ownOf(hidden, layout, number);
    for (let i = from; i < to; i++) own[i]! += by;
    hidden.own[number] = own;
    updateMin(hidden, layout, number);
  };
  if (start.pos === end.pos) {
    if (start.index < end.index) shiftPart(start.pos, start.index, end.index);
    return;
  }
  const length = layout.lengths[blockAt(layout, start.pos)]!;
  if (start.index < length) shiftPart(start.pos, start.index, length);
  if (end.index > 0) shiftPart(end.pos, 0, end.index);
  const { base, min } = hidden;
  const { order } = layout;
  for (let pos = start.pos + 1; pos < end.pos; pos++) {
    const number = order[pos]!;
    base[number]! += by;
    min[number]! += by;
  }
}

function setAll(hidden: Hidden, layout: Layout, { cursor, expanded }: Setting): boolean {
  const top = hiddenAt(hidden, layout, { number: blockAt(layout, cursor.pos), index: cursor.index });
  const depth = depthAt(layout, cursor);
  const { start, end } = subtree(layout, cursor);
  const part = (pos: number, from: number, to: number): boolean =>
    from < to && setPart(hidden, layout, { number: blockAt(layout, pos), from, to, expanded, top, depth });
  if (start.pos === end.pos) return part(start.pos, start.index, end.index);
  const isPart = start.index > 0;
  const whole = layout.order.subarray(start.pos + (isPart ? 1 : 0), end.pos);
  const changes = [
    isPart && part(start.pos, start.index, layout.lengths[blockAt(layout, start.pos)]!),
    setUniform(hidden, layout, whole, { expanded, top: expanded ? top : top - depth }),
    part(end.pos, 0, end.index),
  ];
  return changes.includes(true);
}

function setPart(
  hidden: Hidden,
  layout: Layout,
  { number, from, to, expanded, top, depth }: {
    readonly number: number;
    readonly from: number;
    readonly to: number;
    readonly expanded: boolean;
    readonly top: number;
    readonly depth: number;
  },
): boolean {
  const flag = expanded ? 1 : 0;
  const changed = hasOther(hidden, { number, flag, from, to });
  const { depths } = layout.blocks[number]!;
  const own = ownOf(hidden, layout, number);
  const base = top - hidden.base[number]!;
  const add = layout.add[number]! - depth;
  for (let i = from; i < to; i++) own[i] = base + (expanded ? 0 : depths[i]! + add);
  hidden.own[number] = own;
  hidden.flags[number] = flagsOf(hidden, layout, number).fill(flag, from, to);
  updateMin(hidden, layout, number);
  return changed;
}
