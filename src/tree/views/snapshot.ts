/** Frozen versions of the tree, for walks of many pages. Taking one copies a few short arrays; the blocks are shared. */

import type { Core } from '../nodes/core.ts';
import { copyLayout } from '../nodes/layout.ts';
import type { NodeRecord } from '../nodes/node-store.ts';
import type { Scene } from './visible.ts';
import type { ViewState } from './view-state.ts';

/** The tree and one view as they were. */
export interface Snapshot extends Scene {
  readonly id: string;
  readonly rev: number;
  /** The version token of that moment. */
  readonly version: string;
  /** How nodes were that have changed since. */
  readonly records: ReadonlyMap<number, NodeRecord>;
}

/** The snapshots that somebody may still read. */
export interface Snapshots {
  /** Pins the present; two calls at one version give one snapshot. */
  take(core: Core, options: { readonly view: ViewState; readonly version: string; readonly now: number }): Snapshot;
  /** A pinned snapshot; `undefined` when it is gone. */
  get(core: Core, options: { readonly id: string; readonly now: number }): Snapshot | undefined;
  /** The tree revision of the oldest snapshot; infinite when there is none. */
  oldestRev(): number;
}

/** How many are pinned at most, and how long without being read. */
const maxSnapshots = 32;
const snapshotIdleMs = 5 * 60_000;

interface Pinned {
  readonly snapshot: Snapshot;
  readonly view: ViewState;
  usedAt: number;
}

/** Gives an empty set of snapshots. */
export function createSnapshots(): Snapshots {
  const pinned = new Map<string, Pinned>(); // least recently used first
  let lastId = 0;

  function drop(core: Core, id: string): void {
    const entry = pinned.get(id);
    pinned.delete(id);
    // safe: what is in the set was put there as a map
    if (entry) core.store.overlays.delete(entry.snapshot.records as Map<number, NodeRecord>);
  }

  function use(entry: Pinned, now: number): Snapshot {
    entry.usedAt = now;
    pinned.delete(entry.snapshot.id);
    pinned.set(entry.snapshot.id, entry);
    return entry.snapshot;
  }

  function expire(core: Core, now: number): void {
    for (const [id, { usedAt }] of pinned) if (now - usedAt > snapshotIdleMs) drop(core, id);
  }

  return {
    take(core, { view, version, now }) {
      expire(core, now);
      const same = [...pinned.values()].find((entry) => entry.view === view && entry.snapshot.version === version);
      if (same) return use(same, now);
      const [oldest] = pinned.keys();
      if (pinned.size >= maxSnapshots && oldest !== undefined) drop(core, oldest);
      const records = new Map<number, NodeRecord>();
      core.store.overlays.add(records);
      const layout = copyLayout(core.sequence.layout);
      const snapshot = { id: (++lastId).toString(36), rev: core.rev, version, layout, hidden: view.copy(), records };
      return use({ snapshot, view, usedAt: now }, now);
    },
    get(core, { id, now }) {
      expire(core, now);
      const entry = pinned.get(id);
      return entry && use(entry, now);
    },
    oldestRev: () => [...pinned.values()].reduce((least, { snapshot }) => Math.min(least, snapshot.rev), Infinity),
  };
}
