/**
 * Takes subtrees out of the tree and puts them in: order, parents, numbers of children and views together. Indexes are in range by
 * construction, hence the `!`.
 */

import { PinnaceError } from '../../base/errors.ts';
import { type Core, cursorOf, slotOf } from './core.ts';
import { type Cursor, depthAt, endOf, isEnd, sizeOf, slotAt, type Span, subtree } from './layout.ts';
import { none } from './node-store.ts';
import type { Run } from './run.ts';

/** Where a node stands among its siblings: before one of them, or last. Only the root has no parent. */
export interface Place {
  readonly parentId: string | null;
  readonly beforeId: string | null;
}

/** Where the slot stands among its siblings now. */
export function placeOf({ store, sequence }: Core, slot: number): Place {
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
export function detach(core: Core, root: number): Run {
  const { sequence, store } = core;
  const parent = store.parents[root]!;
  const run = cutOut(core, subtree(sequence.layout, cursorOf(core, root)), parent);
  store.touch(parent);
  store.childCounts[parent]!--;
  return run;
}

/** Takes a span of subtrees with this parent out of the order and the views. */
export function cutOut(core: Core, span: Span, parent: number): Run {
  const { sequence, store, views } = core;
  const { layout } = sequence;
  const size = sizeOf(layout, span);
  if (size === 0) return { numbers: new Int32Array(), root: none, rootCount: 0, size };
  const above = cursorOf(core, parent);
  const depth = depthAt(layout, above) + 1;
  const below = Array.from(views, (view) => view.hiddenBelow(above));
  const root = slotAt(layout, span.start);
  const rootCount = store.childCounts[parent]!; // of no use where only one of them is cut
  const numbers = sequence.cut(span);
  sequence.shift(numbers, -depth);
  let i = 0;
  for (const view of views) view.shift(numbers, -below[i++]!);
  core.size -= size;
  return { numbers, root, rootCount, size };
}

/** Puts a run at its place; gives the parent's slot. */
export function join(core: Core, run: Run, place: Place): number {
  const { store } = core;
  const { parent, at } = resolve(core, place);
  if (parent !== none) {
    store.touch(parent);
    store.childCounts[parent]!++;
    store.touch(run.root);
    store.parents[run.root] = parent;
  }
  putIn(core, run, { parent, at });
  return parent;
}

/** Puts a run into the order and the views. */
export function putIn(core: Core, run: Run, { parent, at }: { readonly parent: number; readonly at: Cursor }): void {
  const { sequence, views } = core;
  if (run.size === 0) return;
  core.size += run.size;
  if (parent !== none) {
    const above = cursorOf(core, parent);
    sequence.shift(run.numbers, depthAt(sequence.layout, above) + 1);
    for (const view of views) view.shift(run.numbers, view.hiddenBelow(above));
  }
  sequence.paste(run.numbers, at);
}

/** Finds the place. @throws PinnaceError `not_found`, or `invalid_argument` for a place that is none. */
export function resolve(core: Core, { parentId, beforeId }: Place): { parent: number; at: Cursor } {
  if (parentId === null) {
    if (core.root !== none) throw refused('Cannot insert a second root: name a parent', 'has_root');
    return { parent: none, at: { pos: 0, index: 0 } };
  }
  const parent = existing(core, parentId);
  if (beforeId === null) return { parent, at: endOf(core.sequence.layout, cursorOf(core, parent)) };
  const sibling = existing(core, beforeId);
  if (core.store.parents[sibling] !== parent) {
    throw refused(`Cannot use the place before "${beforeId}": it is no child of "${parentId}"`, 'not_a_child');
  }
  return { parent, at: cursorOf(core, sibling) };
}

/** The slot of a node. @throws PinnaceError `not_found` */
export function existing(core: Core, nodeId: string): number {
  const slot = slotOf(core, nodeId);
  if (slot !== none) return slot;
  throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
}

/** An `invalid_argument` with a reason. */
export function refused(message: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', message, { details: { reason } });
}
