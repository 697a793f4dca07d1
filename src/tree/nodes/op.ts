/**
 * The four changes of a tree, and how each is taken back. Every one is a synchronous step that happens as a whole or throws before
 * anything has changed. Indexes are in range by construction, hence the `!`.
 */

import { PinnaceError } from '../../base/errors.ts';
import type { TreeChange } from './change.ts';
import { type Core, cursorOf, isInside, slotOf } from './core.ts';
import { after, endOf, subtree } from './layout.ts';
import { none, type Payload } from './node-store.ts';
import { cutOut, detach, existing, join, type Place, placeOf, putIn, refused, resolve } from './placing.ts';
import type { TreeRow } from './row.ts';
import { buildRun, type Run } from './run.ts';

/** A change of the tree. The first row of an insertion is its root. */
export type TreeOp =
  | { readonly kind: 'insert'; readonly rows: readonly TreeRow[]; readonly place: Place }
  | { readonly kind: 'remove'; readonly nodeId: string }
  | { readonly kind: 'move'; readonly nodeId: string; readonly place: Place }
  | { readonly kind: 'payload'; readonly nodeId: string; readonly payloadType: string; readonly payload: Payload }
  /** Replaces everything below the node; rows without a row above them name the node as parent. */
  | { readonly kind: 'content'; readonly nodeId: string; readonly rows: readonly TreeRow[] };

/** What takes a change back. A removed subtree is kept as it was. */
export type InverseOp =
  | TreeOp
  | { readonly kind: 'restore'; readonly run: Run; readonly place: Place }
  | { readonly kind: 'refill'; readonly nodeId: string; readonly run: Run };

/** A change that was made. */
export interface Applied {
  readonly change: TreeChange;
  readonly inverse: InverseOp;
}

/** Makes a change; gives `undefined` when there was nothing to do. */
export function applyOp(core: Core, op: InverseOp): Applied | undefined {
  switch (op.kind) {
    case 'insert':
      return insert(core, op);
    case 'remove':
      return remove(core, op);
    case 'move':
      return move(core, op);
    case 'payload':
      return setPayload(core, op);
    case 'restore':
      return restore(core, op);
    case 'content':
      return setContent(core, op.nodeId, (slot) => buildRun(core, op.rows, slot));
    case 'refill':
      return setContent(core, op.nodeId, () => claimIds(core, op.run));
    default:
      return op satisfies never;
  }
}

function insert(core: Core, { rows, place }: Extract<TreeOp, { kind: 'insert' }>): Applied {
  if (rows.length === 0) throw refused('Cannot insert nothing: give at least one row', 'no_rows');
  resolve(core, place); // before anything is made
  return paste(core, buildRun(core, rows), place);
}

function restore(core: Core, { run, place }: Extract<InverseOp, { kind: 'restore' }>): Applied {
  resolve(core, place);
  return paste(core, claimIds(core, run), place);
}

/** A removed node's id may have been given to another since. */
function claimIds(core: Core, run: Run): Run {
  const { store, sequence: { layout } } = core;
  const eachSlot = (visit: (slot: number) => void): void => {
    for (const number of run.numbers) layout.blocks[number]!.slots.forEach(visit);
  };
  eachSlot((slot) => {
    const nodeId = store.ids[slot]!;
    if (slotOf(core, nodeId) === none) return;
    const message = `Cannot restore node "${nodeId}": another has its id now`;
    throw new PinnaceError('conflict', message, { details: { reason: 'id_taken' } });
  });
  eachSlot((slot) => void store.index.set(store.ids[slot]!, slot));
  return run;
}

function paste(core: Core, run: Run, place: Place): Applied {
  const { store } = core;
  const parent = join(core, run, place);
  if (parent === none) core.root = run.root;
  const nodeId = store.ids[run.root]!;
  return {
    change: { kind: 'insert', nodeId, parentId: place.parentId, size: run.size },
    inverse: { kind: 'remove', nodeId },
  };
}

function remove(core: Core, { nodeId }: { readonly nodeId: string }): Applied {
  const slot = existing(core, nodeId);
  if (slot === core.root) throw refused(`Cannot remove node "${nodeId}": it is the root`, 'is_root');
  const place = placeOf(core, slot);
  const run = detach(core, slot);
  return {
    change: { kind: 'remove', nodeId, parentId: place.parentId, size: run.size },
    inverse: { kind: 'restore', run, place },
  };
}

function move(core: Core, { nodeId, place }: Extract<TreeOp, { kind: 'move' }>): Applied | undefined {
  const slot = existing(core, nodeId);
  const { parent } = resolve(core, place);
  if (slot === core.root) throw refused(`Cannot move node "${nodeId}": it is the root`, 'is_root');
  if (isInside(core, { inner: cursorOf(core, parent), outer: cursorOf(core, slot) })) {
    throw refused(`Cannot move node "${nodeId}" to "${place.parentId}": that is inside it`, 'cycle');
  }
  const old = placeOf(core, slot);
  if (old.parentId === place.parentId && (old.beforeId === place.beforeId || nodeId === place.beforeId)) {
    return undefined;
  }
  const run = detach(core, slot);
  join(core, run, place);
  return {
    // safe: only the root has no parent
    change: { kind: 'move', nodeId, parentId: place.parentId!, oldParentId: old.parentId!, size: run.size },
    inverse: { kind: 'move', nodeId, place: old },
  };
}

function setPayload(core: Core, op: Extract<TreeOp, { kind: 'payload' }>): Applied {
  const { store, types, sequence } = core;
  const slot = existing(core, op.nodeId);
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

/** Replaces what is below a node by another run. */
function setContent(core: Core, nodeId: string, make: (slot: number) => Run): Applied | undefined {
  const { store, sequence } = core;
  const slot = existing(core, nodeId);
  const { start, end } = subtree(sequence.layout, cursorOf(core, slot));
  const old = cutOut(core, { start: after(sequence.layout, start), end }, slot);
  try {
    const run = make(slot);
    store.touch(slot);
    putIn(core, run, { parent: slot, at: endOf(sequence.layout, cursorOf(core, slot)) });
    store.childCounts[slot] = run.rootCount;
    if (run.size + old.size === 0) return undefined;
    const inverse = { kind: 'refill', nodeId, run: old } as const;
    return { change: { kind: 'content', nodeId, size: run.size }, inverse };
  } catch (error) {
    claimIds(core, old);
    putIn(core, old, { parent: slot, at: endOf(sequence.layout, cursorOf(core, slot)) });
    throw error;
  }
}
