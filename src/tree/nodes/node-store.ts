/**
 * What is known of each node but its place: id, payload, payload type, parent and number of children, in columns by slot. Slots are
 * small whole numbers, reused after a node is freed. Indexes are in range by construction, hence the `!`.
 */

import { createIdIndex, grown, type IdIndex } from './id-index.ts';

/** A payload: JSON, never changed in place. */
export type Payload = Readonly<Record<string, unknown>>;

/** No slot. */
export const none = -1;

/** What may change of a node while a snapshot still needs it as it was. */
export interface NodeRecord {
  readonly payload: Payload;
  readonly type: number;
  readonly parent: number;
  readonly childCount: number;
}

/** The columns, by slot. */
export interface NodeStore {
  readonly ids: string[];
  readonly payloads: Payload[];
  readonly index: IdIndex;
  types: Int32Array;
  parents: Int32Array;
  childCounts: Int32Array;
  /** The number of the block that holds the node. */
  blocks: Int32Array;
  /** The records that open snapshots keep, by slot. */
  readonly overlays: Set<Map<number, NodeRecord>>;
  /** Allocates a slot for the node. The caller sets type and parent, and enters the id into the index. */
  allocate(nodeId: string, payload: Payload): number;
  /** Must be called before payload, type, parent or number of children of a slot change. */
  touch(slot: number): void;
  /** Frees the slot; no snapshot may still read it. */
  free(slot: number): void;
}

/** Creates an empty store with room for `expected` nodes. */
export function createNodeStore({ expected, seed }: { readonly expected: number; readonly seed: number }): NodeStore {
  const room = expected + (expected >> 4) + 64;
  const ids: string[] = [];
  const payloads: Payload[] = [];
  ids.length = payloads.length = room; // to grow step by step would take longer than to fill
  const free: number[] = [];
  let used = 0;
  const store: NodeStore = {
    ids,
    payloads,
    index: createIdIndex(ids, { expected, seed }),
    types: new Int32Array(room),
    parents: new Int32Array(room),
    childCounts: new Int32Array(room),
    blocks: new Int32Array(room),
    overlays: new Set(),
    allocate(nodeId, payload) {
      const slot = free.pop() ?? used++;
      if (slot >= store.types.length) growColumns(store, slot);
      ids[slot] = nodeId;
      payloads[slot] = payload;
      store.childCounts[slot] = 0;
      return slot;
    },
    touch(slot) {
      for (const overlay of store.overlays) if (!overlay.has(slot)) overlay.set(slot, recordOf(store, slot));
    },
    free(slot) {
      store.index.delete(ids[slot]!, slot);
      ids[slot] = '';
      payloads[slot] = freed;
      free.push(slot);
    },
  };
  return store;
}

const freed: Payload = Object.freeze({});

/** The record of a slot as it is now. */
export function recordOf(store: NodeStore, slot: number): NodeRecord {
  return {
    payload: store.payloads[slot]!,
    type: store.types[slot]!,
    parent: store.parents[slot]!,
    childCount: store.childCounts[slot]!,
  };
}

function growColumns(store: NodeStore, slot: number): void {
  store.types = grown(store.types, slot);
  store.parents = grown(store.parents, slot);
  store.childCounts = grown(store.childCounts, slot);
  store.blocks = grown(store.blocks, slot);
}
