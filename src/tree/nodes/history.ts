/** The latest mutations: what changed since a version, and how to take one back. */

import type { TreeChange } from './change.ts';
import type { InverseOp } from './op.ts';
import type { Snapshots } from '../views/snapshot.ts';
import type { Structure } from './structure.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import { type Detached, discardDetached } from './detached.ts';

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

/** The latest mutations, oldest first. */
export interface History {
  add(structure: Structure, entry: HistoryEntry): void;
  get(rev: number): HistoryEntry | undefined;
  /** Those after the revision; `undefined` when some are evicted already. */
  since(rev: number): readonly HistoryEntry[] | undefined;
  /** When the node was removed, as a revision, if that is remembered. */
  removedAt(structure: Structure, nodeId: string): number | undefined;
  clear(): void;
}

/** How many removals are remembered, and how many blocks of evicted nodes a mutation frees at most. */
const maxTombstones = 10_000;
const freedAtOnce = 8;

interface Doomed extends Detached {
  readonly rev: number;
}

/** Creates an empty history of `limit` mutations; nodes that a snapshot may still read are not freed. */
export function createHistory(limit: number, snapshots: Pick<Snapshots, 'oldestRev'>): History {
  const entries: HistoryEntry[] = []; // a ring; `first` is the oldest
  let first = 0;
  const tombstones = new BoundedMap<string, number>(maxTombstones);
  const doomed: Doomed[] = [];

  const inOrder = (): readonly HistoryEntry[] => [...entries.slice(first), ...entries.slice(0, first)];

  function push(entry: HistoryEntry): void {
    if (entries.length < limit) {
      entries.push(entry);
      return;
    }
    const old = entries[first];
    entries[first] = entry;
    first = (first + 1) % limit;
    if (old && !old.undone) doomed.push(...detachedOf(old, entry.rev));
  }

  return {
    add(structure, entry) {
      push(entry);
      if (entry.undoes !== undefined) markUndone(entries, entry.undoes);
      bury(tombstones, entry);
      if (doomed[0] && snapshots.oldestRev() >= doomed[0].rev) reap(structure, doomed);
    },
    get: (rev) => entries.find((entry) => entry.rev === rev),
    since(rev) {
      const known = inOrder();
      const oldest = known[0]?.rev ?? rev + 1;
      return oldest > rev + 1 ? undefined : known.filter((entry) => entry.rev > rev);
    },
    removedAt: (structure, nodeId) => removedAt(structure, tombstones, nodeId),
    clear() {
      entries.length = 0;
      first = 0;
    },
  };
}

/** Its inverses have been used; what brings it back is the undoing of that. */
function markUndone(entries: readonly HistoryEntry[], rev: number): void {
  const undone = entries.find((entry) => entry.rev === rev);
  if (undone) undone.undone = true;
}

function detachedOf({ inverses }: HistoryEntry, rev: number): readonly Doomed[] {
  return inverses.flatMap((inverse) => ('detached' in inverse ? [{ ...inverse.detached, rev }] : []));
}

function bury(tombstones: Map<string, number>, { changes, rev }: HistoryEntry): void {
  for (const change of changes) {
    if (change.kind === 'insert') tombstones.delete(change.nodeId);
    if (change.kind === 'remove') tombstones.set(change.nodeId, rev);
  }
}

/** A node inside a removed subtree went with the subtree's root. */
function removedAt({ store, isLive }: Structure, tombstones: ReadonlyMap<string, number>, nodeId: string) {
  const known = tombstones.get(nodeId);
  if (known !== undefined) return known;
  let slot = store.index.find(nodeId);
  while (slot >= 0 && !isLive(slot) && !tombstones.has(store.ids[slot]!)) slot = store.parents[slot]!;
  return slot < 0 ? undefined : tombstones.get(store.ids[slot]!);
}

/** Frees nodes that cannot be restored and are in no snapshot, a few blocks at a time. */
function reap(structure: Structure, doomed: Doomed[]): void {
  const [next] = doomed;
  if (!next) return;
  discardDetached(structure, { ...next, numbers: next.numbers.subarray(0, freedAtOnce) });
  const rest = next.numbers.subarray(freedAtOnce);
  if (rest.length === 0) doomed.shift();
  else doomed[0] = { ...next, numbers: rest };
}
