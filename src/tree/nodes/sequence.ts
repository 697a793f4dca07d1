/**
 * Changes the order of the nodes: everything is a cut of a run of blocks, a paste of one, or the split and merge of blocks at their
 * borders. Indexes are in range by construction, hence the `!`.
 */

import { type Block, blockAt, blockMax, type Cursor, type Layout, type Span } from './layout.ts';
import { type NodeStore, none } from './node-store.ts';

/** Follows the blocks with records of its own, as a view does. */
export interface BlockWatcher {
  /** There may now be block numbers below `room`. */
  grow(room: number): void;
  /** The block is new; its depths count from 0 at the root of its run. */
  create(number: number): void;
  /** `left` was split before `index`; its tail is now `right`. Called afterwards. */
  split(left: number, right: number, index: number): void;
  /** `right` is going to be appended to `left`. Called before. */
  merge(left: number, right: number): void;
}

/** The order of the nodes, and what changes it. */
export interface Sequence {
  readonly layout: Layout;
  readonly watchers: Set<BlockWatcher>;
  /** How many block numbers there have been. */
  readonly room: () => number;
  /** Whether the slot is in the order. */
  has(slot: number): boolean;
  /** The position of the slot; `undefined` when it is cut out. */
  find(slot: number): Cursor | undefined;
  /** Enters a block that is in no order yet and returns its number. */
  addBlock(block: Block): number;
  /** Takes the span out of the order and returns the numbers of its blocks. */
  cut(span: Span): Int32Array;
  /** Puts blocks into the order, before the cursor. */
  paste(numbers: Int32Array, at: Cursor): void;
  /** Adds to all depths in the blocks. */
  shift(numbers: Int32Array, depths: number): void;
  /** Marks the block's content as changed. */
  mark(number: number): void;
  /** Frees the block's number. */
  drop(number: number): void;
}

/** Creates an empty sequence for the nodes of a store. */
export function createSequence(store: NodeStore, { expected }: { readonly expected: number }): Sequence {
  const room = (expected >> 8) + 16;
  const layout = emptyLayout(room);
  const watchers = new Set<BlockWatcher>();
  const state: State = { store, layout, watchers, positions: new Int32Array(room), freeNumbers: [], contentRev: 0 };
  return {
    layout,
    watchers,
    room: () => state.positions.length,
    has: (slot) => (state.positions[store.blocks[slot]!] ?? none) >= 0,
    find: (slot) => find(state, slot),
    addBlock: (block) => addBlock(state, block),
    cut: (span) => cut(state, span),
    paste: (numbers, at) => paste(state, numbers, at),
    shift: (numbers, depths) => shift(layout, numbers, depths),
    mark: (number) => mark(state, number),
    drop: (number) => state.freeNumbers.push(number),
  };
}

interface State {
  readonly store: NodeStore;
  readonly layout: Layout;
  readonly watchers: Set<BlockWatcher>;
  /** By block number: the position in `order`, or -1. */
  positions: Int32Array;
  readonly freeNumbers: number[];
  contentRev: number;
}

function emptyLayout(room: number): Layout {
  const column = (): Int32Array<ArrayBuffer> => new Int32Array(room);
  return {
    order: column(),
    count: 0,
    blocks: [],
    add: column(),
    minDepth: column(),
    minCount: column(),
    lengths: column(),
    contentRevs: column(),
  };
}

function find({ store, layout, positions }: State, slot: number): Cursor | undefined {
  const number = store.blocks[slot]!;
  const pos = positions[number]!;
  return pos < 0 ? undefined : { pos, index: layout.blocks[number]!.slots.indexOf(slot) };
}

function mark(state: State, number: number): void {
  state.layout.contentRevs[number] = ++state.contentRev;
}

function addBlock(state: State, block: Block): number {
  const number = state.freeNumbers.pop() ?? state.layout.blocks.length;
  if (number >= state.positions.length) growRoom(state);
  state.layout.add[number] = 0;
  state.positions[number] = -1;
  replace(state, number, block);
  for (const watcher of state.watchers) watcher.create(number);
  return number;
}

function growRoom(state: State): void {
  const { layout, positions } = state;
  const room = positions.length * 2;
  const wider = (column: Int32Array): Int32Array<ArrayBuffer> => {
    const copy = new Int32Array(room);
    copy.set(column);
    return copy;
  };
  for (const name of ['order', 'add', 'minDepth', 'minCount', 'lengths', 'contentRevs'] as const) {
    layout[name] = wider(layout[name]);
  }
  state.positions = wider(positions);
  for (const watcher of state.watchers) watcher.grow(room);
}

/** Stores a block under a number, and what is derived from it. */
function replace(state: State, number: number, block: Block): void {
  const { layout, store } = state;
  const { slots, depths } = block;
  let least = depths[0]!;
  let count = 0;
  for (let i = 0; i < depths.length; i++) {
    const depth = depths[i]!;
    store.blocks[slots[i]!] = number;
    if (depth > least) continue;
    count = depth < least ? 1 : count + 1;
    least = depth;
  }
  layout.blocks[number] = block;
  layout.lengths[number] = slots.length;
  layout.minDepth[number] = least + layout.add[number]!;
  layout.minCount[number] = count;
  mark(state, number);
}

/** Creates a border between blocks before the cursor, and returns its position. */
function borderAt(state: State, { pos, index }: Cursor): number {
  const { layout } = state;
  if (index === 0) return pos;
  const left = blockAt(layout, pos);
  const { slots, depths } = layout.blocks[left]!;
  if (index === slots.length) return pos + 1;
  const right = addBlock(state, { slots: slots.slice(index), depths: depths.slice(index) });
  layout.add[right] = layout.add[left]!;
  layout.minDepth[right]! += layout.add[left]!;
  replace(state, left, { slots: slots.slice(0, index), depths: depths.slice(0, index) });
  insertOrder(state, Int32Array.of(right), pos + 1);
  for (const watcher of state.watchers) watcher.split(left, right, index);
  return pos + 1;
}

function cut(state: State, { start, end }: Span): Int32Array {
  const { layout, positions } = state;
  const to = borderAt(state, end);
  const count = layout.count;
  const from = borderAt(state, start);
  const stop = to + layout.count - count; // one further, where the second border split a block
  const numbers = layout.order.slice(from, stop);
  for (const number of numbers) positions[number] = -1;
  layout.order.copyWithin(from, stop, layout.count);
  layout.count -= numbers.length;
  renumber(state, from);
  heal(state, from);
  return numbers;
}

function paste(state: State, numbers: Int32Array, at: Cursor): void {
  const pos = borderAt(state, at);
  insertOrder(state, numbers, pos);
  heal(state, pos + numbers.length);
  heal(state, pos);
}

function insertOrder(state: State, numbers: Int32Array, pos: number): void {
  const { layout } = state;
  if (layout.count + numbers.length > layout.order.length) growRoom(state);
  layout.order.copyWithin(pos + numbers.length, pos, layout.count);
  layout.order.set(numbers, pos);
  layout.count += numbers.length;
  renumber(state, pos);
}

function renumber({ layout: { order, count }, positions }: State, from: number): void {
  for (let pos = from; pos < count; pos++) positions[order[pos]!] = pos;
}

function shift({ add, minDepth }: Layout, numbers: Int32Array, depths: number): void {
  if (depths === 0) return;
  for (const number of numbers) {
    add[number]! += depths;
    minDepth[number]! += depths;
  }
}

/** Merges the block at a position into the one before it, if both are small. */
function heal(state: State, pos: number): void {
  const { layout, positions } = state;
  if (pos <= 0 || pos >= layout.count) return;
  const [left, right] = [blockAt(layout, pos - 1), blockAt(layout, pos)];
  if (layout.lengths[left]! + layout.lengths[right]! > blockMax) return;
  for (const watcher of state.watchers) watcher.merge(left, right);
  replace(state, left, joined(layout, left, right));
  layout.order.copyWithin(pos, pos + 1, layout.count);
  layout.count--;
  positions[right] = -1;
  state.freeNumbers.push(right);
  renumber(state, pos);
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
