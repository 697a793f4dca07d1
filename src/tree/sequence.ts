/**
 * The order of the nodes: their pre-order sequence with depths, cut into blocks. Blocks are never changed, only replaced, so that a
 * snapshot is a copy of a few short arrays. Indexes are in range by construction, hence the `!`.
 */

import { type NodeStore, none } from './node-store.ts';

export interface Block {
  readonly slots: Int32Array;
  /** Depths, less the block's `add`. */
  readonly depths: Int32Array;
}

/** All blocks. The columns are indexed by block number; `order` holds the numbers in the order of the tree. */
export interface Layout {
  order: Int32Array;
  /** How many numbers of `order` count. */
  count: number;
  readonly blocks: Block[];
  /** What is added to every depth in the block. */
  add: Int32Array;
  /** The smallest depth in the block, `add` included, and how many nodes have it. */
  minDepth: Int32Array;
  minCount: Int32Array;
  lengths: Int32Array;
  /** Differs after every change of the block or of a payload in it. */
  contentRevs: Int32Array;
}

/** The position of a node: its block's position in `order` and its index there. `{ pos: count, index: 0 }` is the end. */
export interface Cursor {
  readonly pos: number;
  readonly index: number;
}

/** From `start` to before `end`. */
export interface Span {
  readonly start: Cursor;
  readonly end: Cursor;
}

/** A block takes this many nodes when it is made of rows, and is merged with a neighbour up to the other. */
export const blockFill = 384;
const blockMax = 256;

export function blockAt(layout: Layout, pos: number): number {
  return layout.order[pos]!;
}

export function depthAt(layout: Layout, { pos, index }: Cursor): number {
  const number = blockAt(layout, pos);
  return layout.blocks[number]!.depths[index]! + layout.add[number]!;
}

export function slotAt(layout: Layout, { pos, index }: Cursor): number {
  return layout.blocks[blockAt(layout, pos)]!.slots[index]!;
}

export function isEnd(layout: Layout, { pos }: Cursor): boolean {
  return pos >= layout.count;
}

/** Negative when `a` is before `b`. */
export function compare(a: Cursor, b: Cursor): number {
  return a.pos - b.pos || a.index - b.index;
}

/** The cursor of the next node. */
export function after(layout: Layout, { pos, index }: Cursor): Cursor {
  const isLast = index + 1 >= layout.lengths[blockAt(layout, pos)]!;
  return isLast ? { pos: pos + 1, index: 0 } : { pos, index: index + 1 };
}

/** The first cursor behind the subtree of the node at `start`. */
export function endOf(layout: Layout, start: Cursor): Cursor {
  return nextAtMost(layout, start, depthAt(layout, start));
}

/** The first cursor behind `start` whose depth is at most `depth`. */
function nextAtMost(layout: Layout, start: Cursor, depth: number): Cursor {
  const { order, count, minDepth } = layout;
  let index = indexAtMost(layout, { pos: start.pos, index: start.index + 1 }, depth);
  if (index >= 0) return { pos: start.pos, index };
  let pos = start.pos + 1;
  while (pos < count && minDepth[order[pos]!]! > depth) pos++;
  index = pos < count ? indexAtMost(layout, { pos, index: 0 }, depth) : 0;
  return { pos, index };
}

function indexAtMost(layout: Layout, { pos, index }: Cursor, depth: number): number {
  const number = blockAt(layout, pos);
  const { depths } = layout.blocks[number]!;
  const most = depth - layout.add[number]!;
  for (let i = index; i < depths.length; i++) if (depths[i]! <= most) return i;
  return -1;
}

export function sizeOf(layout: Layout, { start, end }: Span): number {
  const { order, lengths } = layout;
  let size = end.index - start.index;
  for (let pos = start.pos; pos < end.pos; pos++) size += lengths[order[pos]!]!;
  return size;
}

export function subtree(layout: Layout, start: Cursor): Span {
  return { start, end: endOf(layout, start) };
}

/** Copies what a snapshot needs; the blocks themselves are shared. */
export function copyLayout(layout: Layout): Layout {
  return {
    order: layout.order.slice(0, layout.count),
    count: layout.count,
    blocks: layout.blocks.slice(),
    add: layout.add.slice(),
    minDepth: layout.minDepth.slice(),
    minCount: layout.minCount.slice(),
    lengths: layout.lengths.slice(),
    contentRevs: layout.contentRevs.slice(),
  };
}

/** Follows the blocks with records of its own, as a view does. */
export interface BlockWatcher {
  grow(room: number): void;
  /** The block is new; its depths count from 0 at the root of its run. */
  create(number: number): void;
  /** `left` was split before `index`; its tail is now `right`. Called afterwards. */
  split(left: number, right: number, index: number): void;
  /** `right` is going to be appended to `left`. Called before. */
  merge(left: number, right: number): void;
}

/** The order of the nodes, and what changes it: everything is a cut of a run of blocks, a paste of one, or the split and merge of blocks. */
export class Sequence {
  readonly layout: Layout;
  readonly watchers = new Set<BlockWatcher>();
  readonly #store: NodeStore;
  /** By block number: the position in `order`, or -1. */
  #positions: Int32Array;
  readonly #freeNumbers: number[] = [];
  #contentRev = 0;

  constructor(store: NodeStore, { expected }: { readonly expected: number }) {
    const room = (expected >> 8) + 16;
    this.#store = store;
    this.#positions = new Int32Array(room);
    this.layout = {
      order: new Int32Array(room),
      count: 0,
      blocks: [],
      add: new Int32Array(room),
      minDepth: new Int32Array(room),
      minCount: new Int32Array(room),
      lengths: new Int32Array(room),
      contentRevs: new Int32Array(room),
    };
  }

  get room(): number {
    return this.#positions.length;
  }

  has(slot: number): boolean {
    return (this.#positions[this.#store.blocks[slot]!] ?? none) >= 0;
  }

  find(slot: number): Cursor | undefined {
    const number = this.#store.blocks[slot]!;
    const pos = this.#positions[number]!;
    return pos < 0 ? undefined : { pos, index: this.layout.blocks[number]!.slots.indexOf(slot) };
  }

  /** Enters a block that is in no order yet and returns its number. */
  addBlock(block: Block): number {
    const number = this.#freeNumbers.pop() ?? this.layout.blocks.length;
    if (number >= this.#positions.length) this.#growRoom();
    this.layout.add[number] = 0;
    this.#positions[number] = -1;
    this.#replace(number, block);
    for (const watcher of this.watchers) watcher.create(number);
    return number;
  }

  cut({ start, end }: Span): Int32Array {
    const { layout } = this;
    const to = this.#borderAt(end);
    const count = layout.count;
    const from = this.#borderAt(start);
    const stop = to + layout.count - count; // one further, where the second border split a block
    const numbers = layout.order.slice(from, stop);
    for (const number of numbers) this.#positions[number] = -1;
    layout.order.copyWithin(from, stop, layout.count);
    layout.count -= numbers.length;
    this.#renumber(from);
    this.#heal(from);
    return numbers;
  }

  paste(numbers: Int32Array, at: Cursor): void {
    const pos = this.#borderAt(at);
    this.#insertOrder(numbers, pos);
    this.#heal(pos + numbers.length);
    this.#heal(pos);
  }

  shift(numbers: Int32Array, depths: number): void {
    if (depths === 0) return;
    const { add, minDepth } = this.layout;
    for (const number of numbers) {
      add[number]! += depths;
      minDepth[number]! += depths;
    }
  }

  mark(number: number): void {
    this.layout.contentRevs[number] = ++this.#contentRev;
  }

  drop(number: number): void {
    this.#freeNumbers.push(number);
  }

  #growRoom(): void {
    const room = this.#positions.length * 2;
    const wider = (column: Int32Array): Int32Array<ArrayBuffer> => {
      const copy = new Int32Array(room);
      copy.set(column);
      return copy;
    };
    for (const name of ['order', 'add', 'minDepth', 'minCount', 'lengths', 'contentRevs'] as const) {
      this.layout[name] = wider(this.layout[name]);
    }
    this.#positions = wider(this.#positions);
    for (const watcher of this.watchers) watcher.grow(room);
  }

  #replace(number: number, block: Block): void {
    const { layout } = this;
    const { blocks } = this.#store;
    const { slots, depths } = block;
    let least = depths[0]!;
    let count = 0;
    for (let i = 0; i < depths.length; i++) {
      const depth = depths[i]!;
      blocks[slots[i]!] = number;
      if (depth > least) continue;
      count = depth < least ? 1 : count + 1;
      least = depth;
    }
    layout.blocks[number] = block;
    layout.lengths[number] = slots.length;
    layout.minDepth[number] = least + layout.add[number]!;
    layout.minCount[number] = count;
    this.mark(number);
  }

  /** Creates a border between blocks before the cursor, and returns its position. */
  #borderAt({ pos, index }: Cursor): number {
    const { layout } = this;
    if (index === 0) return pos;
    const left = blockAt(layout, pos);
    const { slots, depths } = layout.blocks[left]!;
    if (index === slots.length) return pos + 1;
    const right = this.addBlock({ slots: slots.slice(index), depths: depths.slice(index) });
    layout.add[right] = layout.add[left]!;
    layout.minDepth[right]! += layout.add[left]!;
    this.#replace(left, { slots: slots.slice(0, index), depths: depths.slice(0, index) });
    this.#insertOrder(Int32Array.of(right), pos + 1);
    for (const watcher of this.watchers) watcher.split(left, right, index);
    return pos + 1;
  }

  #insertOrder(numbers: Int32Array, pos: number): void {
    const { layout } = this;
    if (layout.count + numbers.length > layout.order.length) this.#growRoom();
    layout.order.copyWithin(pos + numbers.length, pos, layout.count);
    layout.order.set(numbers, pos);
    layout.count += numbers.length;
    this.#renumber(pos);
  }

  #renumber(from: number): void {
    const { order, count } = this.layout;
    const positions = this.#positions;
    for (let pos = from; pos < count; pos++) positions[order[pos]!] = pos;
  }

  /** Merges the block at a position into the one before it, if both are small. */
  #heal(pos: number): void {
    const { layout } = this;
    if (pos <= 0 || pos >= layout.count) return;
    const [left, right] = [blockAt(layout, pos - 1), blockAt(layout, pos)];
    if (layout.lengths[left]! + layout.lengths[right]! > blockMax) return;
    for (const watcher of this.watchers) watcher.merge(left, right);
    this.#replace(left, joined(layout, left, right));
    layout.order.copyWithin(pos, pos + 1, layout.count);
    layout.count--;
    this.#positions[right] = -1;
    this.#freeNumbers.push(right);
    this.#renumber(pos);
  }
}

function joined(layout: Layout, left: number, right: number): Block {
  const [a, b] = [layout.blocks[left]!, layout.blocks[right]!];
  const length = a.slots.length;
  const slots = new Int32Array(length + b.slots.length);
  const depths = new Int32Array(length + b.slots.length);
  slots.set(a.slots);
  slots.set(b.slots, length);
  depths.set(a.depths);
  const more = layout.add[right]! - layout.add[left]!;
  for (let i = 0; i < b.depths.length; i++) depths[length + i] = b.depths[i]! + more;
  return { slots, depths };
}
