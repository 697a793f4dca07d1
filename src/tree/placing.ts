/**
 * Takes subtrees out of the tree and puts them in: order, parents, numbers of children and views together. Indexes are in range by
 * construction, hence the `!`.
 */

import { PinnaceError } from '../base/errors.ts';
import { none } from './node-store.ts';
import { badRows, type TreeRow } from './payload-types.ts';
import {
  type Block,
  blockAt,
  blockFill,
  compare,
  type Cursor,
  depthAt,
  endOf,
  isEnd,
  type Layout,
  sizeOf,
  slotAt,
  type Span,
  subtree,
} from './sequence.ts';
import { cursorOf, slotOf, type Structure } from './structure.ts';

/** The position of a node among its siblings: before one of them, or last. Only the root has no parent. */
export interface Place {
  readonly parentId: string | null;
  readonly beforeId: string | null;
}

export function placeOf({ store, sequence }: Structure, slot: number): Place {
  const { layout } = sequence;
  const cursor = sequence.find(slot)!;
  const end = endOf(layout, cursor);
  const hasNext = !isEnd(layout, end) && depthAt(layout, end) === depthAt(layout, cursor);
  const parent = store.parents[slot]!;
  return {
    parentId: parent === none ? null : store.ids[parent]!,
    beforeId: hasNext ? store.ids[slotAt(layout, end)]! : null,
  };
}

/** Takes a subtree out of order, parent and views. */
export function detach(structure: Structure, root: number): Detached {
  const { sequence, store } = structure;
  const parent = store.parents[root]!;
  const detached = cutOut(structure, subtree(sequence.layout, cursorOf(structure, root)), parent);
  store.touch(parent);
  store.childCounts[parent]!--;
  return detached;
}

/** Takes a span of subtrees with this parent out of the order and the views. */
export function cutOut(structure: Structure, span: Span, parent: number): Detached {
  const { sequence, store, views } = structure;
  const { layout } = sequence;
  const size = sizeOf(layout, span);
  if (size === 0) return { numbers: new Int32Array(), root: none, rootCount: 0, size };
  const above = cursorOf(structure, parent);
  const depth = depthAt(layout, above) + 1;
  const below = Array.from(views, (view) => view.hiddenBelow(above));
  const root = slotAt(layout, span.start);
  const rootCount = store.childCounts[parent]!; // of no use where only one of them is cut
  const numbers = sequence.cut(span);
  sequence.shift(numbers, -depth);
  let i = 0;
  for (const view of views) view.shift(numbers, -below[i++]!);
  structure.size -= size;
  return { numbers, root, rootCount, size };
}

/** Inserts a detached subtree at its place; returns the parent's slot. */
export function join(structure: Structure, detached: Detached, place: Place): number {
  const { store } = structure;
  const { parent, at } = resolve(structure, place);
  if (parent !== none) {
    store.touch(parent);
    store.childCounts[parent]!++;
    store.touch(detached.root);
    store.parents[detached.root] = parent;
  }
  putIn(structure, detached, { parent, at });
  return parent;
}

/** Inserts detached subtrees into the order and the views. */
export function putIn(
  structure: Structure,
  detached: Detached,
  { parent, at }: { readonly parent: number; readonly at: Cursor },
): void {
  const { sequence, views } = structure;
  if (detached.size === 0) return;
  structure.size += detached.size;
  if (parent !== none) {
    const above = cursorOf(structure, parent);
    sequence.shift(detached.numbers, depthAt(sequence.layout, above) + 1);
    for (const view of views) view.shift(detached.numbers, view.hiddenBelow(above));
  }
  sequence.paste(detached.numbers, at);
}

/** Finds the place. @throws PinnaceError `not_found`, or `invalid_argument` for a place that is none. */
export function resolve(structure: Structure, { parentId, beforeId }: Place): { parent: number; at: Cursor } {
  if (parentId === null) {
    if (structure.root !== none) throw refused('Cannot insert a second root: name a parent', 'has_root');
    return { parent: none, at: { pos: 0, index: 0 } };
  }
  const parent = existing(structure, parentId);
  if (beforeId === null) return { parent, at: endOf(structure.sequence.layout, cursorOf(structure, parent)) };
  const sibling = existing(structure, beforeId);
  if (structure.store.parents[sibling] !== parent) {
    throw refused(`Cannot use the place before "${beforeId}": it is no child of "${parentId}"`, 'not_a_child');
  }
  return { parent, at: cursorOf(structure, sibling) };
}

export function existing(structure: Structure, nodeId: string): number {
  const slot = slotOf(structure, nodeId);
  if (slot !== none) return slot;
  throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
}

export function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

/** Subtrees outside the order: not inserted yet, or cut out. Their roots have depth 0. */
export interface Detached {
  readonly numbers: Int32Array;
  /** The first root, or -1 without nodes; and the number of roots. */
  readonly root: number;
  readonly rootCount: number;
  readonly size: number;
}

/**
 * Creates a detached subtree from rows. The first is its root, whatever its `parentId`; or, given the slot `under`, all its roots
 * name that as parent.
 * @throws PinnaceError `invalid_argument` for rows that are no tree in pre-order or ids that are taken; nothing is left of them.
 */
export function buildDetached(structure: Structure, rows: readonly TreeRow[], under = none): Detached {
  const slots = new Int32Array(rows.length);
  const depths = new Int32Array(rows.length);
  const builder = createBuilder(structure, under);
  let done = 0;
  let rootCount = 0;
  try {
    for (; done < rows.length; done++) {
      slots[done] = builder.add(rows[done]!);
      depths[done] = builder.depth();
      if (depths[done] === 0) rootCount++;
    }
  } catch (error) {
    for (let i = done - 1; i >= 0; i--) structure.store.free(slots[i]!);
    throw error;
  }
  return { numbers: addBlocks(structure, { slots, depths }), root: slots[0] ?? none, rootCount, size: rows.length };
}

function addBlocks({ sequence }: Structure, { slots, depths }: Block): Int32Array {
  const numbers = new Int32Array(Math.ceil(slots.length / blockFill));
  for (let i = 0; i < numbers.length; i++) {
    const [from, to] = [i * blockFill, (i + 1) * blockFill];
    numbers[i] = sequence.addBlock({ slots: slots.slice(from, to), depths: depths.slice(from, to) });
  }
  return numbers;
}

interface Builder {
  add(row: TreeRow): number;
  depth(): number;
}

function createBuilder({ store, types, isLive }: Structure, under: number): Builder {
  const { ids, index } = store;
  let last = under;
  let depth = -1;
  let typeName = '';
  let type = none;

  /** The row before, or a node above it: looks nothing up. */
  function parentOf({ parentId }: TreeRow): number {
    let parent = last;
    while (parent !== none && ids[parent] !== parentId) {
      parent = parent === under ? none : store.parents[parent]!;
      depth--;
    }
    return parent;
  }

  function typeOf({ payloadType }: TreeRow): number {
    if (payloadType !== typeName) {
      type = types.numberOf(payloadType) ?? none;
      typeName = payloadType;
    }
    return type;
  }

  return {
    add(row) {
      const number = typeOf(row);
      if (number === none) throw badRows(row, `"${row.payloadType}" is not a payload type of this tree`);
      const parent = parentOf(row);
      if (parent === none && last !== none) throw badRows(row, notPreOrder(row));
      const slot = store.allocate(row.nodeId, row.payload);
      store.types[slot] = number;
      store.parents[slot] = parent;
      const before = index.set(row.nodeId, slot);
      if (before !== none && (store.blocks[before] === none || isLive(before))) {
        index.set(row.nodeId, before);
        store.free(slot);
        throw badRows(row, 'a node with this id exists already');
      }
      store.blocks[slot] = none; // until its block is made
      if (parent !== under) store.childCounts[parent]!++;
      last = slot;
      depth++;
      return slot;
    },
    depth: () => depth,
  };
}

function notPreOrder({ parentId }: TreeRow): string {
  return `its parent "${parentId}" is neither the row before it nor above that one (rows stand in pre-order)`;
}

/** Frees detached subtrees that can no longer be restored. */
export function discardDetached({ store, sequence }: Structure, { numbers }: Detached): void {
  for (const number of numbers) {
    for (const slot of sequence.layout.blocks[number]!.slots) store.free(slot);
    sequence.drop(number);
  }
}

/** At most one of the three; without any, the last place. An index counts the siblings without the node that moves. */
export interface WantedPlace {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  readonly index?: number | undefined;
}

/**
 * Returns the place below a parent.
 * @throws PinnaceError `invalid_argument` when more than one is wanted, or a sibling is no child of the parent.
 */
export function wantedPlace(
  core: Structure,
  parentId: string | null,
  { before, after, index, moving }: WantedPlace & { readonly moving?: string },
): Place {
  if ([before, after, index].filter((wanted) => wanted !== undefined).length > 1) {
    throw refusedPlace('Cannot use more than one of "before", "after" and "index": give one', 'place_ambiguous');
  }
  if (before !== undefined) return { parentId, beforeId: before };
  if (after !== undefined) return { parentId, beforeId: behind(core, { parentId, sibling: after, moving }) };
  if (index === undefined || parentId === null) return { parentId, beforeId: null };
  return { parentId, beforeId: childId(core, { parentId, index, moving }) };
}

interface Behind {
  readonly parentId: string | null;
  readonly sibling: string;
  readonly moving: string | undefined;
}

function behind(core: Structure, { parentId, sibling, moving }: Behind): string | null {
  const slot = slotOf(core, sibling);
  const place = slot === none ? undefined : placeOf(core, slot);
  if (!place || place.parentId !== parentId) {
    throw refusedPlace(`Cannot use the place after "${sibling}": it is no child of "${parentId}"`, 'not_a_child');
  }
  if (place.beforeId === null || place.beforeId !== moving) return place.beforeId;
  return placeOf(core, slotOf(core, moving)).beforeId;
}

function childId(
  core: Structure,
  { parentId, index, moving }: { parentId: string; index: number; moving: string | undefined },
) {
  const { layout } = core.sequence;
  const parent = slotOf(core, parentId);
  if (parent === none) return null; // the operation will say so
  const span = subtree(layout, cursorOf(core, parent));
  const depth = depthAt(layout, span.start) + 1;
  const slot = moving === undefined ? none : slotOf(core, moving);
  const isSibling = slot !== none && core.store.parents[slot] === parent;
  const own = isSibling ? countAt(layout, { start: span.start, end: cursorOf(core, slot) }, depth) : Infinity;
  const at = childAt(layout, span, { depth, rank: index >= own ? index + 1 : index });
  return compare(at, span.end) === 0 ? null : core.store.ids[slotAt(layout, at)]!; // safe: a cursor of the tree
}

function refusedPlace(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}

interface Places {
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
    const found = seekChild(layout, { pos, index, stop }, { depth, left });
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

interface ChildPart {
  readonly pos: number;
  readonly index: number;
  readonly stop: number;
}

function seekChild(layout: Layout, { pos, index, stop }: ChildPart, { depth, left }: { depth: number; left: number }) {
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
