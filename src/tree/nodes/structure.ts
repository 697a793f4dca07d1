/** The nodes of a tree, their order and its views: what every change works on. */

import type { ViewState } from '../views/view-state.ts';
import { type Cursor, subtree } from './layout.ts';
import { type NodeStore, none } from './node-store.ts';
import type { TypeRegistry } from './payload-types.ts';
import type { Sequence } from './sequence.ts';

/** The columns, the order and the views of one tree. */
export interface Structure {
  readonly types: TypeRegistry;
  readonly store: NodeStore;
  readonly sequence: Sequence;
  readonly views: Set<ViewState>;
  /** Returns whether the slot is in the tree. */
  readonly isLive: (slot: number) => boolean;
  root: number;
  size: number;
}

/** The slot of a node of the tree, or -1. */
export function slotOf({ store, isLive }: Structure, nodeId: string): number {
  const slot = store.index.find(nodeId);
  return slot !== none && isLive(slot) ? slot : none;
}

/** The position of a slot in the tree. */
export function cursorOf({ sequence }: Structure, slot: number): Cursor {
  return sequence.find(slot)!; // safe: the caller has the slot from `slotOf`
}

/** The position of the node, or `undefined` when the tree has none with this id. */
export function find({ store, sequence }: Structure, nodeId: string): Cursor | undefined {
  const slot = store.index.find(nodeId);
  return slot === none ? undefined : sequence.find(slot);
}

/** Whether the node is inside the subtree of the other, or is it. Depth plays no part. */
export function isInside({ sequence }: Structure, { inner, outer }: { inner: Cursor; outer: Cursor }): boolean {
  const { start, end } = subtree(sequence.layout, outer);
  const isBehind = inner.pos > start.pos || (inner.pos === start.pos && inner.index >= start.index);
  return isBehind && (inner.pos < end.pos || (inner.pos === end.pos && inner.index < end.index));
}
