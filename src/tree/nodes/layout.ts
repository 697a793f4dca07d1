/**
 * The order of the nodes: their pre-order sequence with depths, cut into blocks. Blocks are never changed, only replaced, so that a
 * snapshot is a copy of a few short arrays. Indexes are in range by construction, hence the `!`.
 */

/** A run of nodes in pre-order. */
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
export const blockMax = 256;

/** The number of the block at a position. */
export function blockAt(layout: Layout, pos: number): number {
  return layout.order[pos]!;
}

/** The depth of the node at a cursor. */
export function depthAt(layout: Layout, { pos, index }: Cursor): number {
  const number = blockAt(layout, pos);
  return layout.blocks[number]!.depths[index]! + layout.add[number]!;
}

/** The slot of the node at a cursor. */
export function slotAt(layout: Layout, { pos, index }: Cursor): number {
  return layout.blocks[blockAt(layout, pos)]!.slots[index]!;
}

/** Whether a cursor is after the last node. */
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

/** How many nodes the span holds. */
export function sizeOf(layout: Layout, { start, end }: Span): number {
  const { order, lengths } = layout;
  let size = end.index - start.index;
  for (let pos = start.pos; pos < end.pos; pos++) size += lengths[order[pos]!]!;
  return size;
}

/** The subtree of the node at `start`, itself included. */
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
