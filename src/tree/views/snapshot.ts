/** Frozen versions of the tree, for walks of many pages. Taking one copies a few short arrays; the blocks are shared. */

import { BoundedMap } from '../../base/bounded-map.ts';
import { copyLayout } from '../nodes/layout.ts';
import type { NodeRecord, NodeStore } from '../nodes/node-store.ts';
import type { Structure } from '../nodes/structure.ts';
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

/** The snapshots that a page token may still name. */
export interface Snapshots {
  /** Pins the present; two calls at one version return one snapshot. */
  take(structure: Structure, options: SnapshotOptions): Snapshot;
  /** A pinned snapshot; `undefined` when it was evicted. */
  get(id: string, now: number): Snapshot | undefined;
  /** The tree revision of the oldest snapshot; infinite when there is none. */
  oldestRev(): number;
}

/** What a snapshot shows, and its version. */
interface SnapshotOptions {
  readonly view: ViewState;
  readonly rev: number;
  readonly version: string;
  readonly now: number;
}

/** How many are pinned at most, and how long without being read. */
const maxSnapshots = 32;
const snapshotIdleMs = 5 * 60_000;

interface Pinned {
  readonly snapshot: Snapshot;
  readonly records: Map<number, NodeRecord>;
  readonly view: ViewState;
  usedAt: number;
}

/** Creates an empty set of snapshots of the nodes in the store. */
export function createSnapshots({ overlays }: NodeStore): Snapshots {
  const release = ({ records }: Pinned): void => void overlays.delete(records);
  const pinned = new BoundedMap<string, Pinned>(maxSnapshots, release);
  let lastId = 0;

  function expire(now: number): void {
    for (const [id, entry] of pinned) {
      if (now - entry.usedAt <= snapshotIdleMs) continue;
      pinned.delete(id);
      release(entry);
    }
  }

  function use(id: string, now: number): Snapshot | undefined {
    const entry = pinned.use(id);
    if (entry) entry.usedAt = now;
    return entry?.snapshot;
  }

  return {
    take({ sequence }, { view, rev, version, now }) {
      expire(now);
      const same = [...pinned.values()].find((entry) => entry.view === view && entry.snapshot.version === version);
      const known = same && use(same.snapshot.id, now);
      if (known) return known;
      const records = new Map<number, NodeRecord>();
      overlays.add(records);
      const id = (++lastId).toString(36);
      const snapshot = { id, rev, version, layout: copyLayout(sequence.layout), hidden: view.copy(), records };
      pinned.set(id, { snapshot, records, view, usedAt: now });
      return snapshot;
    },
    get(id, now) {
      expire(now);
      return use(id, now);
    },
    oldestRev: () => [...pinned.values()].reduce((least, { snapshot }) => Math.min(least, snapshot.rev), Infinity),
  };
}
