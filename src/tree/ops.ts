/**
 * The four changes of a tree, and how each is taken back. Every one is a synchronous step that happens as a whole or throws before
 * anything has changed. Indexes are in range by construction, hence the `!`.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { PinnaceError } from '../base/errors.ts';
import { none, type Payload } from './node-store.ts';
import type { TreeRow } from './payload-types.ts';
import {
  buildDetached,
  cutOut,
  detach,
  type Detached,
  discardDetached,
  existing,
  join,
  type Place,
  placeOf,
  putIn,
  refused,
  resolve,
} from './placing.ts';
import { after, endOf, subtree } from './sequence.ts';
import { cursorOf, isInside, slotOf, type Structure, type TreeChange } from './structure.ts';

/** A change of the tree. The first row of an insertion is its root. */
export type TreeOp =
  | { readonly kind: 'insert'; readonly rows: readonly TreeRow[]; readonly place: Place }
  | { readonly kind: 'remove'; readonly nodeId: string }
  | { readonly kind: 'move'; readonly nodeId: string; readonly place: Place }
  | { readonly kind: 'payload'; readonly nodeId: string; readonly payloadType: string; readonly payload: Payload }
  /** Replaces everything below the node; rows without a row above them name the node as parent. */
  | { readonly kind: 'content'; readonly nodeId: string; readonly rows: readonly TreeRow[] };

/** The inverse of a change. It holds a removed subtree unchanged. */
export type InverseOp =
  | TreeOp
  | { readonly kind: 'restore'; readonly detached: Detached; readonly place: Place }
  | { readonly kind: 'refill'; readonly nodeId: string; readonly detached: Detached };

export interface Applied {
  readonly change: TreeChange;
  readonly inverse: InverseOp;
}

/** Applies a change; returns `undefined` when there was nothing to do. */
export function applyOp(structure: Structure, op: InverseOp): Applied | undefined {
  switch (op.kind) {
    case 'insert':
      return insertRows(structure, op);
    case 'remove':
      return removeNode(structure, op);
    case 'move':
      return moveNode(structure, op);
    case 'payload':
      return setPayload(structure, op);
    case 'restore':
      return restore(structure, op);
    case 'content':
      return setContent(structure, op.nodeId, (slot) => buildDetached(structure, op.rows, slot));
    case 'refill':
      return setContent(structure, op.nodeId, () => claimIds(structure, op.detached));
    default:
      return op satisfies never;
  }
}

function insertRows(structure: Structure, { rows, place }: Extract<TreeOp, { kind: 'insert' }>): Applied {
  if (rows.length === 0) throw refused('Cannot insert nothing: give at least one row', 'no_rows');
  resolve(structure, place); // before anything is made
  return paste(structure, buildDetached(structure, rows), place);
}

function restore(structure: Structure, { detached, place }: Extract<InverseOp, { kind: 'restore' }>): Applied {
  resolve(structure, place);
  return paste(structure, claimIds(structure, detached), place);
}

/** A removed node's id may have been given to another since. */
function claimIds(structure: Structure, detached: Detached): Detached {
  const { store, sequence: { layout } } = structure;
  const eachSlot = (visit: (slot: number) => void): void => {
    for (const number of detached.numbers) layout.blocks[number]!.slots.forEach(visit);
  };
  eachSlot((slot) => {
    const nodeId = store.ids[slot]!;
    if (slotOf(structure, nodeId) === none) return;
    const message = `Cannot restore node "${nodeId}": another has its id now`;
    throw new PinnaceError('conflict', message, { details: { reason: 'id_taken' } });
  });
  eachSlot((slot) => void store.index.set(store.ids[slot]!, slot));
  return detached;
}

function paste(structure: Structure, detached: Detached, place: Place): Applied {
  const { store } = structure;
  const parent = join(structure, detached, place);
  if (parent === none) structure.root = detached.root;
  const nodeId = store.ids[detached.root]!;
  return {
    change: { kind: 'insert', nodeId, parentId: place.parentId, size: detached.size },
    inverse: { kind: 'remove', nodeId },
  };
}

function removeNode(structure: Structure, { nodeId }: { readonly nodeId: string }): Applied {
  const slot = existing(structure, nodeId);
  if (slot === structure.root) throw refused(`Cannot remove node "${nodeId}": it is the root`, 'is_root');
  const place = placeOf(structure, slot);
  const detached = detach(structure, slot);
  return {
    change: { kind: 'remove', nodeId, parentId: place.parentId, size: detached.size },
    inverse: { kind: 'restore', detached, place },
  };
}

function moveNode(structure: Structure, { nodeId, place }: Extract<TreeOp, { kind: 'move' }>): Applied | undefined {
  const slot = existing(structure, nodeId);
  const { parent } = resolve(structure, place);
  if (slot === structure.root) throw refused(`Cannot move node "${nodeId}": it is the root`, 'is_root');
  if (isInside(structure, { inner: cursorOf(structure, parent), outer: cursorOf(structure, slot) })) {
    throw refused(`Cannot move node "${nodeId}" to "${place.parentId}": that is inside it`, 'cycle');
  }
  const old = placeOf(structure, slot);
  if (old.parentId === place.parentId && (old.beforeId === place.beforeId || nodeId === place.beforeId)) {
    return undefined;
  }
  const detached = detach(structure, slot);
  join(structure, detached, place);
  return {
    // safe: only the root has no parent
    change: { kind: 'move', nodeId, parentId: place.parentId!, oldParentId: old.parentId!, size: detached.size },
    inverse: { kind: 'move', nodeId, place: old },
  };
}

function setPayload(structure: Structure, op: Extract<TreeOp, { kind: 'payload' }>): Applied {
  const { store, types, sequence } = structure;
  const slot = existing(structure, op.nodeId);
  const type = types.numberOf(op.payloadType);
  if (type === undefined) throw refused(`Cannot set "${op.payloadType}": the tree has no such payload type`, 'no_type');
  const payload = store.payloads[slot]!;
  const payloadType = types.names[store.types[slot]!]!;
  store.touch(slot);
  store.payloads[slot] = op.payload;
  store.types[slot] = type;
  sequence.mark(store.blocks[slot]!);
  return {
    change: { kind: 'payload', nodeId: op.nodeId },
    inverse: { kind: 'payload', nodeId: op.nodeId, payloadType, payload },
  };
}

/** Replaces what is below a node by detached subtrees. */
function setContent(structure: Structure, nodeId: string, make: (slot: number) => Detached): Applied | undefined {
  const { store, sequence } = structure;
  const slot = existing(structure, nodeId);
  const { start, end } = subtree(sequence.layout, cursorOf(structure, slot));
  const old = cutOut(structure, { start: after(sequence.layout, start), end }, slot);
  try {
    const detached = make(slot);
    store.touch(slot);
    putIn(structure, detached, { parent: slot, at: endOf(sequence.layout, cursorOf(structure, slot)) });
    store.childCounts[slot] = detached.rootCount;
    if (detached.size + old.size === 0) return undefined;
    const inverse = { kind: 'refill', nodeId, detached: old } as const;
    return { change: { kind: 'content', nodeId, size: detached.size }, inverse };
  } catch (error) {
    claimIds(structure, old);
    putIn(structure, old, { parent: slot, at: endOf(sequence.layout, cursorOf(structure, slot)) });
    throw error;
  }
}

/** Who made a mutation, and the view part of the version that the call returned. */
export interface Author {
  readonly agentId: string;
  readonly view?: { readonly viewId: string; readonly viewRev: number } | undefined;
}

/** One mutation that changed something. */
export interface HistoryEntry {
  readonly rev: number;
  /** `undefined`: made without saying who. */
  readonly author: Author | undefined;
  readonly changes: readonly TreeChange[];
  /** In the order in which they take it back. */
  readonly inverses: readonly InverseOp[];
  /** The revision that it takes back, if it is an undoing. */
  readonly undoes: number | undefined;
  undone: boolean;
  /** It could not be stored and was taken back at once, or takes such a one back: to others it never happened. */
  isRetracted?: boolean;
}

/** How many removals are remembered, and how many blocks of evicted nodes a mutation frees at most. */
const maxTombstones = 10_000;
const freedAtOnce = 8;

interface Doomed extends Detached {
  readonly rev: number;
}

/** The latest mutations. Nodes that a snapshot may still read are not freed. */
export class History {
  readonly #limit: number;
  readonly #snapshots: { oldestRev(): number };
  readonly #entries: HistoryEntry[] = [];
  #first = 0;
  /** When the roots of removed subtrees were removed. */
  readonly #tombstones = new BoundedMap<string, number>(maxTombstones);
  readonly #doomed: Doomed[] = [];

  constructor(limit: number, snapshots: { oldestRev(): number }) {
    this.#limit = limit;
    this.#snapshots = snapshots;
  }

  add(structure: Structure, entry: HistoryEntry): void {
    this.#push(entry);
    const undone = entry.undoes === undefined ? undefined : this.get(entry.undoes);
    if (undone) undone.undone = true; // its inverses have been used; what brings it back is the undoing of that
    for (const change of entry.changes) {
      if (change.kind === 'insert') this.#tombstones.delete(change.nodeId);
      if (change.kind === 'remove') this.#tombstones.set(change.nodeId, entry.rev);
    }
    const [doomed] = this.#doomed;
    if (doomed && this.#snapshots.oldestRev() >= doomed.rev) this.#reap(structure, doomed);
  }

  get(rev: number): HistoryEntry | undefined {
    return this.#entries.find((entry) => entry.rev === rev);
  }

  /** Those after the revision, oldest first; `undefined` when some are evicted already. */
  since(rev: number): readonly HistoryEntry[] | undefined {
    const known = [...this.#entries.slice(this.#first), ...this.#entries.slice(0, this.#first)];
    const oldest = known[0]?.rev ?? rev + 1;
    return oldest > rev + 1 ? undefined : known.filter((entry) => entry.rev > rev);
  }

  /** When the node was removed, as a revision, if that is remembered. A node inside a removed subtree went with the subtree's root. */
  removedAt({ store, isLive }: Structure, nodeId: string): number | undefined {
    const known = this.#tombstones.get(nodeId);
    if (known !== undefined) return known;
    let slot = store.index.find(nodeId);
    while (slot >= 0 && !isLive(slot) && !this.#tombstones.has(store.ids[slot]!)) slot = store.parents[slot]!;
    return slot < 0 ? undefined : this.#tombstones.get(store.ids[slot]!);
  }

  clear(): void {
    this.#entries.length = 0;
    this.#first = 0;
  }

  #push(entry: HistoryEntry): void {
    if (this.#entries.length < this.#limit) {
      this.#entries.push(entry);
      return;
    }
    const old = this.#entries[this.#first];
    this.#entries[this.#first] = entry;
    this.#first = (this.#first + 1) % this.#limit;
    if (!old || old.undone) return;
    for (const inverse of old.inverses) {
      if ('detached' in inverse) this.#doomed.push({ ...inverse.detached, rev: entry.rev });
    }
  }

  /** Frees nodes that cannot be restored and are in no snapshot, a few blocks at a time. */
  #reap(structure: Structure, next: Doomed): void {
    discardDetached(structure, { ...next, numbers: next.numbers.subarray(0, freedAtOnce) });
    const rest = next.numbers.subarray(freedAtOnce);
    if (rest.length === 0) this.#doomed.shift();
    else this.#doomed[0] = { ...next, numbers: rest };
  }
}
