/**
 * Views of the tree: which nodes are expanded, and so which rows are visible, each question answered in the time of a page. What must
 * hold:
 *
 * - For every node a view knows the number of collapsed nodes above it ("hidden"; 0 is visible) and its own flag. Expanding a node
 *   changes the hidden numbers of its subtree: of whole blocks by a number each, of the two blocks at the borders one by one.
 * - A block where all nodes are alike takes a few numbers; another has arrays of its own.
 * - A snapshot copies the columns and shares those arrays. Each is copied when it is first written to after that, so a snapshot never
 *   changes.
 * - The sequence calls `split` after, and `merge` before, it changes its blocks.
 *
 * Indexes are in range by construction, hence the `!`.
 */

import {
  blockAt,
  type BlockWatcher,
  type Cursor,
  depthAt,
  type Layout,
  type Sequence,
  type Span,
  subtree,
} from './sequence.ts';

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

interface Part {
  readonly number: number;
  readonly from: number;
  readonly to: number;
}

/** One view of the tree as it is now, or as it was in a snapshot. The columns are indexed by block number. */
export class View implements BlockWatcher {
  readonly layout: Layout;
  readonly defaultExpanded: boolean;
  /** hidden = base + own[i], or where the block has none, base + depth in the block where `slope` is 1, else base. */
  #base: Int32Array;
  #slope: Uint8Array;
  #own: (Int32Array | undefined)[] = [];
  /** The flags, or where the block has none, the flag of all its nodes. 1: expanded. */
  #flag: Uint8Array;
  #flags: (Uint8Array | undefined)[] = [];
  /** The smallest hidden in the block, and how many nodes have it. */
  #min: Int32Array;
  #minCount: Int32Array;
  /** How many snapshots there have been; and how many when the block's arrays were last copied. One that never was is older. */
  #epoch = 1;
  #ownEpoch: Int32Array;
  #flagsEpoch: Int32Array;

  constructor(layout: Layout, { room, defaultExpanded }: { readonly room: number; readonly defaultExpanded: boolean }) {
    this.layout = layout;
    this.defaultExpanded = defaultExpanded;
    this.#base = new Int32Array(room);
    this.#slope = new Uint8Array(room);
    this.#flag = new Uint8Array(room);
    this.#min = new Int32Array(room);
    this.#minCount = new Int32Array(room);
    this.#ownEpoch = new Int32Array(room);
    this.#flagsEpoch = new Int32Array(room);
  }

  static of({ layout, room }: Sequence, { defaultExpanded }: { readonly defaultExpanded: boolean }): View {
    const view = new View(layout, { room, defaultExpanded });
    for (let number = 0; number < layout.blocks.length; number++) view.create(number);
    return view;
  }

  snapshot(layout: Layout): View {
    this.#epoch++;
    const copy = new View(layout, { room: 0, defaultExpanded: this.defaultExpanded });
    copy.#base = this.#base.slice();
    copy.#slope = this.#slope.slice();
    copy.#own = this.#own.slice();
    copy.#flag = this.#flag.slice();
    copy.#flags = this.#flags.slice();
    copy.#min = this.#min.slice();
    copy.#minCount = this.#minCount.slice();
    return copy;
  }

  grow(room: number): void {
    const wider = <T extends Int32Array | Uint8Array>(column: T, copy: T): T => (copy.set(column), copy);
    this.#base = wider(this.#base, new Int32Array(room));
    this.#slope = wider(this.#slope, new Uint8Array(room));
    this.#flag = wider(this.#flag, new Uint8Array(room));
    this.#min = wider(this.#min, new Int32Array(room));
    this.#minCount = wider(this.#minCount, new Int32Array(room));
    this.#ownEpoch = wider(this.#ownEpoch, new Int32Array(room));
    this.#flagsEpoch = wider(this.#flagsEpoch, new Int32Array(room));
  }

  create(number: number): void {
    this.#setUniform(Int32Array.of(number), this.defaultExpanded, 0);
  }

  split(left: number, right: number, index: number): void {
    const own = this.#own[left];
    const flags = this.#flags[left];
    this.#base[right] = this.#base[left]!;
    this.#slope[right] = this.#slope[left]!;
    this.#flag[right] = this.#flag[left]!;
    this.#own[right] = own?.slice(index);
    this.#flags[right] = flags?.slice(index);
    this.#own[left] = own?.slice(0, index);
    this.#flags[left] = flags?.slice(0, index);
    this.#updateMin(left);
    this.#updateMin(right);
  }

  merge(left: number, right: number): void {
    if (!this.#isSameSlope(left, right)) {
      const [a, b] = [this.#ownOf(left), this.#ownOf(right)];
      const own = new Int32Array(a.length + b.length);
      own.set(a);
      const more = this.#base[right]! - this.#base[left]!;
      for (let i = 0; i < b.length; i++) own[a.length + i] = b[i]! + more;
      this.#own[left] = own;
    }
    if (this.#flags[left] || this.#flags[right] || this.#flag[left] !== this.#flag[right]) {
      const [a, b] = [this.#flagsOf(left), this.#flagsOf(right)];
      const flags = new Uint8Array(a.length + b.length);
      flags.set(a);
      flags.set(b, a.length);
      this.#flags[left] = flags;
    }
    this.#own[right] = undefined;
    this.#flags[right] = undefined;
    const [least, other] = [this.#min[left]!, this.#min[right]!];
    this.#min[left] = Math.min(least, other);
    const [counts, others] = [this.#minCount[left]!, this.#minCount[right]!];
    this.#minCount[left] = (least <= other ? counts : 0) + (other <= least ? others : 0);
  }

  #isSameSlope(left: number, right: number): boolean {
    if (this.#own[left] || this.#own[right] || this.#slope[left] !== this.#slope[right]) return false;
    const more = this.#slope[left] === 1 ? this.layout.add[right]! - this.layout.add[left]! : 0;
    return this.#base[left] === this.#base[right]! - more;
  }

  isExpanded({ pos, index }: Cursor): boolean {
    const number = this.layout.order[pos]!;
    return (this.#flags[number]?.[index] ?? this.#flag[number]) === 1;
  }

  /** How many collapsed nodes there are above the node. */
  hiddenAt({ pos, index }: Cursor): number {
    const number = this.layout.order[pos]!;
    const own = this.#own[number];
    if (own) return this.#base[number]! + own[index]!;
    return this.#base[number]! + (this.#slope[number] === 1 ? this.layout.blocks[number]!.depths[index]! : 0);
  }

  /** What `hiddenAt` says of the node's children. */
  hiddenBelow(cursor: Cursor): number {
    return this.hiddenAt(cursor) + (this.isExpanded(cursor) ? 0 : 1);
  }

  setExpanded(cursor: Cursor, expanded: boolean): boolean {
    if (this.isExpanded(cursor) === expanded) return false;
    const number = blockAt(this.layout, cursor.pos);
    const flags = this.#flagsOf(number);
    flags[cursor.index] = expanded ? 1 : 0;
    this.#flags[number] = flags;
    const { start, end } = subtree(this.layout, cursor);
    this.#shiftSpan({ start: { pos: start.pos, index: start.index + 1 }, end }, expanded ? -1 : 1);
    return true;
  }

  setAll(cursor: Cursor, expanded: boolean): boolean {
    const top = this.hiddenAt(cursor);
    const depth = depthAt(this.layout, cursor);
    const { start, end } = subtree(this.layout, cursor);
    const set = (pos: number, from: number, to: number): boolean =>
      from < to && this.#setPart({ number: blockAt(this.layout, pos), from, to }, expanded, { top, depth });
    if (start.pos === end.pos) return set(start.pos, start.index, end.index);
    const isPart = start.index > 0;
    const whole = this.layout.order.subarray(start.pos + (isPart ? 1 : 0), end.pos);
    const changes = [
      isPart && set(start.pos, start.index, this.layout.lengths[blockAt(this.layout, start.pos)]!),
      this.#setUniform(whole, expanded, expanded ? top : top - depth),
      set(end.pos, 0, end.index),
    ];
    return changes.includes(true);
  }

  shift(numbers: Int32Array, by: number): void {
    if (by === 0) return;
    for (const number of numbers) {
      this.#base[number]! += by;
      this.#min[number]! += by;
    }
  }

  whole(): Range {
    return { start: { pos: 0, index: 0 }, end: { pos: this.layout.count, index: 0 }, level: 0, maxDepth: Infinity };
  }

  /** The rows of a subtree, down to `depthLimit` below its root, whatever is collapsed above it. */
  below(root: Cursor, depthLimit = Infinity): Range {
    const maxDepth = depthAt(this.layout, root) + depthLimit;
    return { ...subtree(this.layout, root), level: this.hiddenAt(root), maxDepth };
  }

  /** The visible rows from a cursor in the range on, at most `limit`. Takes as long as the page, and a little for blocks skipped. */
  rows(range: Range, { from, limit }: { readonly from: Cursor; readonly limit: number }): VisibleRows {
    const { layout } = this;
    const min = this.#min;
    const rows = { slots: [], depths: [], expanded: [] };
    let { pos, index } = from;
    for (; pos <= range.end.pos && pos < layout.count; pos++, index = 0) {
      const number = layout.order[pos]!;
      if (min[number]! > range.level || layout.minDepth[number]! > range.maxDepth) continue;
      const to = pos === range.end.pos ? range.end.index : layout.lengths[number]!;
      const next = this.#collect({ number, from: index, to }, { range, limit }, rows);
      if (next >= 0) return { ...rows, next: { pos, index: next } };
    }
    return { ...rows, next: undefined };
  }

  /** Takes the rows of a part of a block; returns the index of the first that is too many, or -1. */
  #collect(
    { number, from, to }: Part,
    { range: { level, maxDepth }, limit }: { readonly range: Range; readonly limit: number },
    rows: Omit<VisibleRows, 'next'>,
  ): number {
    const { slots, depths } = this.layout.blocks[number]!;
    const own = this.#own[number];
    const slope = this.#slope[number]!;
    const flags = this.#flags[number];
    const flag = this.#flag[number]!;
    const add = this.layout.add[number]!;
    const wanted = level - this.#base[number]!;
    for (let i = from; i < to; i++) {
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
  rowAt({ start, end, level }: Range, rank: number): Cursor {
    const { order, count, lengths } = this.layout;
    const min = this.#min;
    const minCount = this.#minCount;
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
      const to = pos === end.pos ? end.index : lengths[number]!;
      const { at, missing } = this.#seek({ number, from: index, to }, level, left);
      if (at >= 0) return { pos, index: at };
      left = missing;
    }
    return end;
  }

  /** How many visible rows there are in the range before the cursor. */
  rowsBefore({ start, level }: Range, before: Cursor): number {
    const { order, count, lengths } = this.layout;
    const min = this.#min;
    const minCount = this.#minCount;
    let rows = 0;
    for (let pos = start.pos; pos <= before.pos && pos < count; pos++) {
      const number = order[pos]!;
      const from = pos === start.pos ? start.index : 0;
      if (from === 0 && pos < before.pos) {
        if (min[number] === level) rows += minCount[number]!;
        continue;
      }
      const to = pos === before.pos ? before.index : lengths[number]!;
      rows -= this.#seek({ number, from, to }, level, 0x7fff_ffff).missing - 0x7fff_ffff; // what it skipped
    }
    return rows;
  }

  /** The index of a row in a part of a block, or how many rows are still to be skipped behind it. */
  #seek({ number, from, to }: Part, level: number, skip: number): { readonly at: number; readonly missing: number } {
    const own = this.#own[number];
    const slope = this.#slope[number]!;
    const { depths } = this.layout.blocks[number]!;
    const wanted = level - this.#base[number]!;
    let left = skip;
    for (let i = from; i < to; i++) {
      if ((own ? own[i]! : slope * depths[i]!) === wanted && left-- === 0) return { at: i, missing: 0 };
    }
    return { at: -1, missing: left };
  }

  /** Adds to the hidden numbers of a span: first of its parts of blocks, then of the entire blocks between them. */
  #shiftSpan({ start, end }: Span, by: 1 | -1): void {
    const shiftPart = (pos: number, from: number, to: number): void => {
      const number = blockAt(this.layout, pos);
      const own = this.#ownOf(number);
      for (let i = from; i < to; i++) own[i]! += by;
      this.#own[number] = own;
      this.#updateMin(number);
    };
    if (start.pos === end.pos) {
      if (start.index < end.index) shiftPart(start.pos, start.index, end.index);
      return;
    }
    const length = this.layout.lengths[blockAt(this.layout, start.pos)]!;
    if (start.index < length) shiftPart(start.pos, start.index, length);
    if (end.index > 0) shiftPart(end.pos, 0, end.index);
    const { order } = this.layout;
    const base = this.#base;
    const min = this.#min;
    for (let pos = start.pos + 1; pos < end.pos; pos++) {
      const number = order[pos]!;
      base[number]! += by;
      min[number]! += by;
    }
  }

  #setPart(
    { number, from, to }: Part,
    expanded: boolean,
    { top, depth }: { readonly top: number; readonly depth: number },
  ): boolean {
    const flag = expanded ? 1 : 0;
    const changed = this.#flags[number]?.subarray(from, to).includes(1 - flag) ?? this.#flag[number] !== flag;
    const { depths } = this.layout.blocks[number]!;
    const own = this.#ownOf(number);
    const base = top - this.#base[number]!;
    const add = this.layout.add[number]! - depth;
    for (let i = from; i < to; i++) own[i] = base + (expanded ? 0 : depths[i]! + add);
    this.#own[number] = own;
    this.#flags[number] = this.#flagsOf(number).fill(flag, from, to);
    this.#updateMin(number);
    return changed;
  }

  /**
   * Makes the nodes of these blocks alike: expanded, with the hidden number `top`; or collapsed, so that hidden grows with the depth from
   * `top` on. Returns whether a flag has changed.
   */
  #setUniform(numbers: Int32Array, expanded: boolean, top: number): boolean {
    const own = this.#own; // read once: the loop goes over all blocks
    const flags = this.#flags;
    const flag = this.#flag;
    const slope = this.#slope;
    const base = this.#base;
    const min = this.#min;
    const minCount = this.#minCount;
    const { add, minDepth, minCount: leastCount, lengths } = this.layout;
    const isOn = expanded ? 1 : 0;
    let changed = false;
    for (let i = 0; i < numbers.length; i++) {
      const number = numbers[i]!;
      changed ||= flags[number]?.includes(1 - isOn) ?? flag[number] !== isOn;
      if (own[number]) own[number] = undefined; // mostly there is none, and reading is faster
      if (flags[number]) flags[number] = undefined;
      flag[number] = isOn;
      slope[number] = 1 - isOn;
      base[number] = expanded ? top : top + add[number]!;
      min[number] = expanded ? top : top + minDepth[number]!;
      minCount[number] = expanded ? lengths[number]! : leastCount[number]!;
    }
    return changed;
  }

  #ownOf(number: number): Int32Array {
    const own = this.#own[number];
    if (own && this.#ownEpoch[number] === this.#epoch) return own;
    this.#ownEpoch[number] = this.#epoch;
    if (own) return own.slice();
    const { depths } = this.layout.blocks[number]!;
    return this.#slope[number] === 1 ? depths.slice() : new Int32Array(depths.length);
  }

  #flagsOf(number: number): Uint8Array {
    const flags = this.#flags[number];
    if (flags && this.#flagsEpoch[number] === this.#epoch) return flags;
    this.#flagsEpoch[number] = this.#epoch;
    if (flags) return flags.slice();
    return new Uint8Array(this.layout.blocks[number]!.slots.length).fill(this.#flag[number]!);
  }

  #updateMin(number: number): void {
    const own = this.#own[number];
    const base = this.#base[number]!;
    if (own) {
      let least = own[0]!;
      let count = 0;
      for (let i = 0; i < own.length; i++) {
        const value = own[i]!;
        if (value > least) continue;
        count = value < least ? 1 : count + 1;
        least = value;
      }
      this.#min[number] = base + least;
      this.#minCount[number] = count;
    } else if (this.#slope[number] === 1) {
      this.#min[number] = base + this.layout.minDepth[number]! - this.layout.add[number]!;
      this.#minCount[number] = this.layout.minCount[number]!;
    } else {
      this.#min[number] = base;
      this.#minCount[number] = this.layout.lengths[number]!;
    }
  }
}
