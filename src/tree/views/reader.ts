/** Reads nodes of the tree as it is, or as it was in a snapshot. Indexes are in range by construction, hence the `!`. */

import type { Core } from '../nodes/core.ts';
import type { Hidden } from './hidden.ts';
import type { Layout } from '../nodes/layout.ts';
import { type NodeRecord, none, recordOf } from '../nodes/node-store.ts';
import type { PayloadType } from '../nodes/payload-types.ts';
import type { Snapshot } from './snapshot.ts';
import type { ViewState } from './view-state.ts';
import type { Scene } from './visible.ts';

/** One version of the tree with one view. */
export interface Reader extends Scene {
  readonly layout: Layout;
  readonly hidden: Hidden;
  id(slot: number): string;
  record(slot: number): NodeRecord;
  parentId(record: NodeRecord): string | null;
  typeName(record: NodeRecord): string;
  type(record: NodeRecord): PayloadType;
}

/** Reads the present. */
export function liveReader(core: Core, view: ViewState): Reader {
  const { store, sequence: { layout } } = core;
  return readerOf(core, { layout, hidden: view.hidden, record: (slot) => recordOf(store, slot) });
}

/** Reads a snapshot. */
export function snapshotReader(core: Core, { layout, hidden, records }: Snapshot): Reader {
  return readerOf(core, { layout, hidden, record: (slot) => records.get(slot) ?? recordOf(core.store, slot) });
}

function readerOf({ store, types }: Core, source: Pick<Reader, 'layout' | 'hidden' | 'record'>): Reader {
  return {
    ...source,
    id: (slot) => store.ids[slot]!,
    parentId: ({ parent }) => (parent === none ? null : store.ids[parent]!),
    typeName: ({ type }) => types.names[type]!,
    type: ({ type }) => types.at(type),
  };
}

/** What people call the node: its label property, else `name`, `title` or `label`, else nothing. */
export function labelOf(reader: Reader, record: NodeRecord): string {
  const { label } = reader.type(record);
  for (const property of label === undefined ? ['name', 'title', 'label'] : [label]) {
    const value = Object.hasOwn(record.payload, property) ? record.payload[property] : undefined;
    if (typeof value === 'string') return value;
  }
  return '';
}
