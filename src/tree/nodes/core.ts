/** The tree inside the room: columns, order, views, log. `createTree` shows the part of it that is for everybody. */

import { createHistory, type History } from './history.ts';
import type { TreeStore } from '../stored/tree-store.ts';
import { type Cursor, subtree } from './layout.ts';
import { createNodeStore, type NodeStore, none } from './node-store.ts';
import { createTypeRegistry, type PayloadTypes, type TypeRegistry } from './payload-types.ts';
import type { TreeEvent } from './mutate.ts';
import { createSequence, type Sequence } from './sequence.ts';
import { createSnapshots, type Snapshots } from '../views/snapshot.ts';
import { createViewState, type ViewState } from '../views/view-state.ts';

/** What the files of this room share of one tree. */
export interface Core {
  readonly types: TypeRegistry;
  readonly store: NodeStore;
  readonly sequence: Sequence;
  readonly views: Set<ViewState>;
  readonly history: History;
  readonly snapshots: Snapshots;
  /** Differs for every life of a tree, so that no version token outlives it. */
  readonly epoch: string;
  /** What a version token must have seen: every change of the tree, or those of what a call depends on. */
  readonly conflictScope: 'tree' | 'node';
  /** Grows with every mutation that changes something. */
  rev: number;
  /** Stores what changes the tree, if the tree is in storage. */
  treeStore: TreeStore | undefined;
  root: number;
  size: number;
  /** Whether the slot stands in the tree. */
  readonly isLive: (slot: number) => boolean;
  readonly listeners: Set<(event: TreeEvent) => void>;
  /** Tells the listeners; none can break anything. */
  readonly publish: (event: TreeEvent) => void;
}

/** What `createCore` needs to know. */
export interface CoreOptions {
  readonly payloadTypes: PayloadTypes;
  readonly expected: number;
  readonly historyLimit: number;
  readonly conflictScope: 'tree' | 'node';
}

/** Gives an empty core. */
export function createCore({ payloadTypes, expected, historyLimit, conflictScope }: CoreOptions): Core {
  const [seed = 0, ...epoch] = crypto.getRandomValues(new Uint32Array(3));
  const store = createNodeStore({ expected, seed });
  const sequence = createSequence(store, { expected });
  const listeners = new Set<(event: TreeEvent) => void>();
  return {
    types: createTypeRegistry(payloadTypes),
    store,
    sequence,
    views: new Set(),
    history: createHistory(historyLimit),
    snapshots: createSnapshots(),
    epoch: epoch.map((part) => part.toString(36)).join(''),
    conflictScope,
    rev: 0,
    treeStore: undefined,
    root: none,
    size: 0,
    isLive: (slot) => sequence.has(slot),
    listeners,
    publish: (event) => publish(listeners, event),
  };
}

function publish(listeners: ReadonlySet<(event: TreeEvent) => void>, event: TreeEvent): void {
  for (const listener of listeners) {
    try {
      listener(event);
    } catch {
      // a listener's failure is its own
    }
  }
}

/** The slot of a node of the tree, or -1. */
export function slotOf({ store, isLive }: Core, nodeId: string): number {
  const slot = store.index.find(nodeId);
  return slot !== none && isLive(slot) ? slot : none;
}

/** Where a slot of the tree stands. */
export function cursorOf({ sequence }: Core, slot: number): Cursor {
  return sequence.find(slot)!; // safe: the caller has the slot from `slotOf`
}

/** Where the node stands, or `undefined` when the tree has none with this id. */
export function find({ store, sequence }: Core, nodeId: string): Cursor | undefined {
  const slot = store.index.find(nodeId);
  return slot === none ? undefined : sequence.find(slot);
}

/** Whether the node is inside the subtree of the other, or is it. Depth plays no part. */
export function isInside({ sequence }: Core, { inner, outer }: { inner: Cursor; outer: Cursor }): boolean {
  const { start, end } = subtree(sequence.layout, outer);
  const isBehind = inner.pos > start.pos || (inner.pos === start.pos && inner.index >= start.index);
  return isBehind && (inner.pos < end.pos || (inner.pos === end.pos && inner.index < end.index));
}

/** Adds a view of the tree. */
export function addView(core: Core, { defaultExpanded }: { readonly defaultExpanded: boolean }): ViewState {
  const view = createViewState(core.sequence, { defaultExpanded });
  core.views.add(view);
  core.sequence.watchers.add(view);
  return view;
}

/** Forgets a view. */
export function dropView(core: Core, view: ViewState): void {
  core.views.delete(view);
  core.sequence.watchers.delete(view);
}
