/** The latest mutations: what changed since a version, and how to take one back. */

import type { TreeChange } from './change.ts';
import type { Core } from './core.ts';
import type { InverseOp } from './op.ts';
import { discardRun, type Run } from './run.ts';

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
  add(core: Core, entry: HistoryEntry): void;
  get(rev: number): HistoryEntry | undefined;
  /** Those after the revision; `undefined` when some are forgotten already. */
  since(rev: number): readonly HistoryEntry[] | undefined;
  /** When the node was removed, as a revision, if that is remembered. */
  removedAt(core: Core, nodeId: string): number | undefined;
  clear(): void;
}

/** How many removals are remembered, and how many blocks of forgotten nodes a mutation frees at most. */
const maxTombstones = 10_000;
const freedAtOnce = 8;

interface Doomed extends Run {
  readonly rev: number;
}

/** Gives an empty history that remembers `limit` mutations. */
export function createHistory(limit: number): History {
  const entries: HistoryEntry[] = []; // a ring; `first` is the oldest
  let first = 0;
  const tombstones = new Map<string, number>();
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
    if (old && !old.undone) doomed.push(...runsOf(old, entry.rev));
  }

  return {
    add(core, entry) {
      push(entry);
      if (entry.undoes !== undefined) markUndone(entries, entry.undoes);
      bury(tombstones, entry);
      reap(core, doomed);
    },
    get: (rev) => entries.find((entry) => entry.rev === rev),
    since(rev) {
      const known = inOrder();
      const oldest = known[0]?.rev ?? rev + 1;
      return oldest > rev + 1 ? undefined : known.filter((entry) => entry.rev > rev);
    },
    removedAt: (core, nodeId) => removedAt(core, tombstones, nodeId),
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

function runsOf({ inverses }: HistoryEntry, rev: number): readonly Doomed[] {
  return inverses.flatMap((inverse) => ('run' in inverse ? [{ ...inverse.run, rev }] : []));
}

function bury(tombstones: Map<string, number>, { changes, rev }: HistoryEntry): void {
  for (const change of changes) {
    if (change.kind === 'insert') tombstones.delete(change.nodeId);
    if (change.kind !== 'remove') continue;
    tombstones.delete(change.nodeId);
    tombstones.set(change.nodeId, rev);
    const [oldest] = tombstones.keys();
    if (tombstones.size > maxTombstones && oldest !== undefined) tombstones.delete(oldest);
  }
}

/** A node inside a removed subtree went with the subtree's root. */
function removedAt({ store, isLive }: Core, tombstones: ReadonlyMap<string, number>, nodeId: string) {
  const known = tombstones.get(nodeId);
  if (known !== undefined) return known;
  let slot = store.index.find(nodeId);
  while (slot >= 0 && !isLive(slot) && !tombstones.has(store.ids[slot]!)) slot = store.parents[slot]!;
  return slot < 0 ? undefined : tombstones.get(store.ids[slot]!);
}

/** Frees nodes that can neither come back nor be seen in a snapshot, a few blocks at a time. */
function reap(core: Core, doomed: Doomed[]): void {
  const [next] = doomed;
  if (!next || core.snapshots.oldestRev() < next.rev) return;
  discardRun(core, { ...next, numbers: next.numbers.subarray(0, freedAtOnce) });
  const rest = next.numbers.subarray(freedAtOnce);
  if (rest.length === 0) doomed.shift();
  else doomed[0] = { ...next, numbers: rest };
}
