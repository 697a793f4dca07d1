/** The nodes of a tree, their order and its views: what every change works on. */

import { PinnaceError } from '../base/errors.ts';
import { type NodeStore, none } from './node-store.ts';
import type { TreeRow, TypeRegistry } from './payload-types.ts';
import { type Cursor, type Sequence, subtree } from './sequence.ts';
import type { View } from './view.ts';

export interface Structure {
  readonly types: TypeRegistry;
  readonly store: NodeStore;
  readonly sequence: Sequence;
  readonly views: Set<View>;
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

/** The same by ids; false where the tree lacks one of the nodes. */
export function isBelow(structure: Structure, nodeId: string, ancestorId: string): boolean {
  const [inner, outer] = [find(structure, nodeId), find(structure, ancestorId)];
  return inner !== undefined && outer !== undefined && isInside(structure, { inner, outer });
}

export function rowOf({ store, types }: Structure, slot: number): TreeRow {
  const parent = store.parents[slot]!;
  return {
    nodeId: store.ids[slot]!,
    parentId: parent === none ? null : store.ids[parent]!,
    payloadType: types.names[store.types[slot]!]!,
    payload: store.payloads[slot]!,
  };
}

/** The rows of a subtree; without a node, of the tree. The tree must not change meanwhile. */
export function* rowsOf(structure: Structure, nodeId: string | undefined): IterableIterator<TreeRow> {
  const { layout } = structure.sequence;
  if (structure.root === none) return;
  const { start, end } = subtree(
    layout,
    nodeId === undefined ? { pos: 0, index: 0 } : cursorOf(structure, slotOf(structure, nodeId)),
  );
  for (let pos = start.pos; pos <= end.pos && pos < layout.count; pos++) {
    const { slots } = layout.blocks[layout.order[pos]!]!;
    const stop = pos === end.pos ? end.index : slots.length;
    for (let index = pos === start.pos ? start.index : 0; index < stop; index++) yield rowOf(structure, slots[index]!);
  }
}

/** One thing that changed in the tree. */
export type TreeChange =
  | { readonly kind: 'insert'; readonly nodeId: string; readonly parentId: string | null; readonly size: number }
  | { readonly kind: 'remove'; readonly nodeId: string; readonly parentId: string | null; readonly size: number }
  | {
    readonly kind: 'move';
    readonly nodeId: string;
    readonly parentId: string;
    readonly oldParentId: string;
    readonly size: number;
  }
  | { readonly kind: 'payload'; readonly nodeId: string }
  /** Everything below the node was replaced, by so many nodes. */
  | { readonly kind: 'content'; readonly nodeId: string; readonly size: number };

/** What a change means for one node, as a conflict reports it. */
export interface Touch {
  readonly nodeId: string;
  readonly kind: 'payload' | 'children' | 'place' | 'removed' | 'view';
}

export function touchesOf(change: TreeChange): readonly Touch[] {
  const { nodeId } = change;
  switch (change.kind) {
    case 'payload':
      return [{ nodeId, kind: 'payload' }];
    case 'content':
      return [{ nodeId, kind: 'children' }];
    case 'insert':
      return [{ nodeId, kind: 'place' }, ...childrenOf(change.parentId)];
    case 'remove':
      return [{ nodeId, kind: 'removed' }, ...childrenOf(change.parentId)];
    case 'move':
      return [{ nodeId, kind: 'place' }, ...childrenOf(change.oldParentId), ...childrenOf(change.parentId)];
    default:
      return change satisfies never;
  }
}

function childrenOf(nodeId: string | null): readonly Touch[] {
  return nodeId === null ? [] : [{ nodeId, kind: 'children' }];
}

/** The version token of a revision of the tree and of a view. */
export function versionOf(
  { epoch, rev }: Pick<VersionParts, 'epoch' | 'rev'>,
  { viewId, viewRev }: Pick<VersionParts, 'viewId' | 'viewRev'>,
): string {
  return `${epoch}.${rev}.${viewId}.${viewRev}`;
}

export interface VersionParts {
  readonly epoch: string;
  readonly rev: number;
  readonly viewId: string;
  readonly viewRev: number;
}

/** Reads a token; returns `undefined` for a text that no tree returned as a version. */
export function readVersion(token: string): VersionParts | undefined {
  const [, epoch, rev, viewId, viewRev] = /^(\w{1,32})\.(\d{1,15})\.(\w{1,16})\.(\d{1,15})$/.exec(token) ?? [];
  if (epoch === undefined || viewId === undefined) return undefined;
  return { epoch, rev: Number(rev), viewId, viewRev: Number(viewRev) };
}

/** Whether a token is of another open tree, as the one before a restart. */
export function isOfOtherEpoch({ epoch }: { readonly epoch: string }, token: string): boolean {
  const parts = readVersion(token);
  return parts !== undefined && parts.epoch !== epoch;
}

export function conflict(message: string, details: Readonly<Record<string, unknown>>): PinnaceError {
  return new PinnaceError('conflict', message, { details });
}
