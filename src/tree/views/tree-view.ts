/**
 * A view for people: what a virtual list needs of a tree, each question answered in the time of a page. Indexes are in range by
 * construction, hence the `!`.
 */

import { PinnaceError } from '../../base/errors.ts';
import { addView, type Core, dropView } from '../nodes/core.ts';
import { cursorOf, find } from '../nodes/structure.ts';
import type { Payload } from '../nodes/node-store.ts';
import { type Range, rowAt, rowsBefore, type VisibleRows, visibleRows } from './visible.ts';

/** One visible row. */
export interface ViewRow {
  readonly nodeId: string;
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly payload: Payload;
  /** Counted from the root of the tree. */
  readonly depth: number;
  readonly isExpanded: boolean;
  readonly childrenCount: number;
}

/** Which nodes are expanded, and the rows that are visible so. Follows every change of the tree. */
export interface TreeView {
  /** The number of visible rows. */
  rowCount(): number;
  /** The visible rows from a rank on. */
  rows(options: { readonly offset: number; readonly limit: number }): readonly ViewRow[];
  /** The row's rank; -1 where the node is unknown or inside a collapsed one. */
  rankOf(nodeId: string): number;
  isExpanded(nodeId: string): boolean;
  /** These give whether anything changed. */
  setExpanded(nodeId: string, expanded: boolean): boolean;
  toggle(nodeId: string): boolean;
  /** The node and everything below it. */
  setAll(nodeId: string, expanded: boolean): boolean;
  /** Expands what hides the node. */
  reveal(nodeId: string): void;
  /** Forgets the view. */
  close(): void;
}

/** Creates a view of the tree. */
export function createTreeView(core: Core, { defaultExpanded }: { readonly defaultExpanded: boolean }): TreeView {
  const view = addView(core, { defaultExpanded });
  const scene = { layout: core.sequence.layout, hidden: view.hidden };
  const all = (): Range => ({
    start: { pos: 0, index: 0 },
    end: { pos: scene.layout.count, index: 0 },
    level: 0,
    maxDepth: Infinity,
  });
  return {
    rowCount: () => rowsBefore(scene, all(), all().end),
    rows: ({ offset, limit }) => toRows(core, visibleRows(scene, all(), { from: rowAt(scene, all(), offset), limit })),
    rankOf(nodeId) {
      const cursor = find(core, nodeId);
      return cursor && view.hiddenAt(cursor) === 0 ? rowsBefore(scene, all(), cursor) : -1;
    },
    isExpanded: (nodeId) => view.isExpanded(existing(core, nodeId)),
    setExpanded: (nodeId, expanded) => view.setExpanded(existing(core, nodeId), expanded),
    toggle(nodeId) {
      const cursor = existing(core, nodeId);
      return view.setExpanded(cursor, !view.isExpanded(cursor));
    },
    setAll: (nodeId, expanded) => view.setAll(existing(core, nodeId), expanded),
    reveal: (nodeId) => reveal(core, nodeId, (slot) => view.setExpanded(cursorOf(core, slot), true)),
    close: () => dropView(core, view),
  };
}

function existing(core: Core, nodeId: string) {
  const cursor = find(core, nodeId);
  if (cursor) return cursor;
  throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
}

function reveal(core: Core, nodeId: string, expand: (slot: number) => void): void {
  existing(core, nodeId);
  const { parents, index } = core.store;
  for (let slot = parents[index.find(nodeId)]!; slot >= 0; slot = parents[slot]!) expand(slot);
}

function toRows({ store, types: { names } }: Core, { slots, depths, expanded }: VisibleRows): readonly ViewRow[] {
  const { ids, parents, payloads, types, childCounts } = store;
  const rows: ViewRow[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!;
    const parent = parents[slot]!;
    rows.push({
      nodeId: ids[slot]!,
      parentId: parent < 0 ? null : ids[parent]!,
      payloadType: names[types[slot]!]!,
      payload: payloads[slot]!,
      depth: depths[i]!,
      isExpanded: expanded[i]!,
      childrenCount: childCounts[slot]!,
    });
  }
  return rows;
}
