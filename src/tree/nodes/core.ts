/** The tree inside the room: columns, order, views, log. `createTree` shows the part of it that is for everybody. */

import { createSnapshots, type Snapshots } from '../views/snapshot.ts';
import { createViewState, type ViewState } from '../views/view-state.ts';
import { createHistory, type History } from './history.ts';
import type { TreeEvent, TreeStore } from './mutation.ts';
import { createNodeStore, none } from './node-store.ts';
import { createTypeRegistry, type PayloadTypes } from './payload-types.ts';
import { createSequence } from './sequence.ts';
import type { Structure } from './structure.ts';

/** What the files of this room share of one tree. */
export interface Core extends Structure {
  readonly history: History;
  readonly snapshots: Snapshots;
  /** Differs for every life of a tree, so that no version token outlives it. */
  readonly epoch: string;
  /** What a version token must cover: every change of the tree, or those of the nodes that a call depends on. */
  readonly conflictScope: 'tree' | 'node';
  /** Grows with every mutation that changes something. */
  rev: number;
  /** Stores what changes the tree, if the tree is in storage. */
  treeStore: TreeStore | undefined;
  readonly listeners: Set<(event: TreeEvent) => void>;
  /** Emits the event to the listeners, whose errors it ignores. */
  readonly publish: (event: TreeEvent) => void;
}

/** What `createCore` needs to know. */
export interface CoreOptions {
  readonly payloadTypes: PayloadTypes;
  readonly expected: number;
  readonly historyLimit: number;
  readonly conflictScope: 'tree' | 'node';
}

/** Creates an empty core. */
export function createCore({ payloadTypes, expected, historyLimit, conflictScope }: CoreOptions): Core {
  const [seed = 0, ...epoch] = crypto.getRandomValues(new Uint32Array(3));
  const store = createNodeStore({ expected, seed });
  const sequence = createSequence(store, { expected });
  const listeners = new Set<(event: TreeEvent) => void>();
  const snapshots = createSnapshots(store);
  return {
    types: createTypeRegistry(payloadTypes),
    store,
    sequence,
    views: new Set(),
    history: createHistory(historyLimit, snapshots),
    snapshots,
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
      // the mutation has happened: a listener cannot fail it
    }
  }
}

/** Adds a view of the tree. */
export function addView(core: Core, { defaultExpanded }: { readonly defaultExpanded: boolean }): ViewState {
  const view = createViewState(core.sequence, { defaultExpanded });
  core.views.add(view);
  core.sequence.watchers.add(view);
  return view;
}

/** Removes a view. */
export function dropView(core: Core, view: ViewState): void {
  core.views.delete(view);
  core.sequence.watchers.delete(view);
}
