/** The nodes of a tree as rows, in pre-order. Indexes are in range by construction, hence the `!`. */

import { cursorOf, slotOf, type Structure } from './structure.ts';
import { subtree } from './layout.ts';
import { none } from './node-store.ts';
import type { TreeRow } from './row.ts';

/** The row of a slot. */
export function rowOf({ store, types }: Structure, slot: number): TreeRow {
  const parent = store.parents[slot]!;
  return {
    nodeId: store.ids[slot]!,
    parentId: parent === none ? null : store.ids[parent]!,
    payloadType: types.names[store.types[slot]!]!,
    payload: store.payloads[slot]!,
  };
}

/** The rows of a subtree; without a node, of the tree. The tree must not change meanwhile. */
export function* rowsOf(structure: Structure, nodeId: string | undefined): IterableIterator<TreeRow> {
  const { layout } = structure.sequence;
  if (structure.root === none) return;
  const { start, end } = subtree(
    layout,
    nodeId === undefined ? { pos: 0, index: 0 } : cursorOf(structure, slotOf(structure, nodeId)),
  );
  for (let pos = start.pos; pos <= end.pos && pos < layout.count; pos++) {
    const { slots } = layout.blocks[layout.order[pos]!]!;
    const stop = pos === end.pos ? end.index : slots.length;
    for (let index = pos === start.pos ? start.index : 0; index < stop; index++) yield rowOf(structure, slots[index]!);
  }
}
