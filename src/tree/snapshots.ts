/**
 * Frozen versions of the tree, for walks of many pages, and reading of one version. Taking one copies a few short arrays; the blocks
 * are shared. Indexes are in range by construction, hence the `!`.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { type NodeRecord, type NodeStore, none } from './node-store.ts';
import type { PayloadType, TypeRegistry } from './payload-types.ts';
import { copyLayout, type Layout } from './sequence.ts';
import type { Structure } from './structure.ts';
import type { View } from './view.ts';

interface Snapshot {
  readonly id: string;
  readonly rev: number;
  readonly version: string;
  readonly view: View;
  /** How nodes were that have changed since. */
  readonly records: ReadonlyMap<number, NodeRecord>;
}

/** How many are pinned at most, and how long without being read. */
const maxSnapshots = 32;
const snapshotIdleMs = 5 * 60_000;

interface Pinned {
  readonly snapshot: Snapshot;
  readonly source: View;
  readonly records: Map<number, NodeRecord>;
  usedAt: number;
}

export class Snapshots {
  readonly #overlays: NodeStore['overlays'];
  readonly #pinned: BoundedMap<string, Pinned>;
  #lastId = 0;

  constructor({ overlays }: NodeStore) {
    this.#overlays = overlays;
    this.#pinned = new BoundedMap(maxSnapshots, ({ records }) => overlays.delete(records));
  }

  take(
    view: View,
    { rev, version, now }: { readonly rev: number; readonly version: string; readonly now: number },
  ): Snapshot {
    this.#expire(now);
    const same = [...this.#pinned.values()].find(({ source, snapshot }) =>
      source === view && snapshot.version === version
    );
    const known = same && this.#use(same.snapshot.id, now);
    if (known) return known;
    const records = new Map<number, NodeRecord>();
    this.#overlays.add(records);
    const id = (++this.#lastId).toString(36);
    const snapshot = { id, rev, version, view: view.snapshot(copyLayout(view.layout)), records };
    this.#pinned.set(id, { snapshot, source: view, records, usedAt: now });
    return snapshot;
  }

  get(id: string, now: number): Snapshot | undefined {
    this.#expire(now);
    return this.#use(id, now);
  }

  oldestRev(): number {
    return [...this.#pinned.values()].reduce((least, { snapshot }) => Math.min(least, snapshot.rev), Infinity);
  }

  #expire(now: number): void {
    for (const [id, { usedAt, records }] of this.#pinned) {
      if (now - usedAt <= snapshotIdleMs) continue;
      this.#pinned.delete(id);
      this.#overlays.delete(records);
    }
  }

  #use(id: string, now: number): Snapshot | undefined {
    const entry = this.#pinned.use(id);
    if (entry) entry.usedAt = now;
    return entry?.snapshot;
  }
}

/** Reads one version of the tree with one view: the present, or a snapshot. */
export class Reader {
  readonly view: View;
  readonly layout: Layout;
  readonly #store: NodeStore;
  readonly #types: TypeRegistry;
  readonly #records: ReadonlyMap<number, NodeRecord> | undefined;

  constructor(
    { store, types }: Pick<Structure, 'store' | 'types'>,
    { view, records }: { readonly view: View; readonly records?: ReadonlyMap<number, NodeRecord> },
  ) {
    this.view = view;
    this.layout = view.layout;
    this.#store = store;
    this.#types = types;
    this.#records = records;
  }

  id(slot: number): string {
    return this.#store.ids[slot]!;
  }

  record(slot: number): NodeRecord {
    return this.#records?.get(slot) ?? this.#store.record(slot);
  }

  parentId({ parent }: NodeRecord): string | null {
    return parent === none ? null : this.#store.ids[parent]!;
  }

  typeName({ type }: NodeRecord): string {
    return this.#types.names[type]!;
  }

  type({ type }: NodeRecord): PayloadType {
    return this.#types.at(type);
  }

  /** What people call the node: its label property, else `name`, `title` or `label`, else nothing. */
  label(record: NodeRecord): string {
    const { label } = this.type(record);
    for (const property of label === undefined ? ['name', 'title', 'label'] : [label]) {
      const value = Object.hasOwn(record.payload, property) ? record.payload[property] : undefined;
      if (typeof value === 'string') return value;
    }
    return '';
  }
}
