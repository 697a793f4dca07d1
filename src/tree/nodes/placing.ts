/**
 * Takes subtrees out of the tree and puts them in: order, parents, numbers of children and views together. Indexes are in range by
 * construction, hence the `!`.
 */

import { PinnaceError } from '../../base/errors.ts';
import { cursorOf, slotOf, type Structure } from './structure.ts';
import { type Cursor, depthAt, endOf, isEnd, sizeOf, slotAt, type Span, subtree } from './layout.ts';
import { none } from './node-store.ts';
import type { Detached } from './detached.ts';

/** The position of a node among its siblings: before one of them, or last. Only the root has no parent. */
export interface Place {
  readonly parentId: string | null;
  readonly beforeId: string | null;
}

/** The slot's current position among its siblings. */
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

/** The slot of a node. @throws PinnaceError `not_found` */
export function existing(structure: Structure, nodeId: string): number {
  const slot = slotOf(structure, nodeId);
  if (slot !== none) return slot;
  throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
}

/** An `invalid_argument` with a reason. */
export function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}
