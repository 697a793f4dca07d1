/** Subtrees in blocks of their own, outside the order of the tree. Indexes are in range by construction, hence the `!`. */

import { type Block, blockFill } from './layout.ts';
import { none } from './node-store.ts';
import { badRows, type TreeRow } from './row.ts';
import type { Structure } from './structure.ts';

/** Subtrees outside the order: not inserted yet, or cut out. Their roots have depth 0. */
export interface Detached {
  readonly numbers: Int32Array;
  /** The first root, or -1 without nodes; and the number of roots. */
  readonly root: number;
  readonly rootCount: number;
  readonly size: number;
}

/**
 * Creates a detached subtree from rows. The first is its root, whatever its `parentId`; or, given the slot `under`, all its roots
 * name that as parent.
 *
 * @throws PinnaceError `invalid_argument` for rows that are no tree in pre-order or ids that are taken; nothing is left of them.
 */
export function buildDetached(structure: Structure, rows: readonly TreeRow[], under = none): Detached {
  const slots = new Int32Array(rows.length);
  const depths = new Int32Array(rows.length);
  const builder = createBuilder(structure, under);
  let done = 0;
  let rootCount = 0;
  try {
    for (; done < rows.length; done++) {
      slots[done] = builder.add(rows[done]!);
      depths[done] = builder.depth();
      if (depths[done] === 0) rootCount++;
    }
  } catch (error) {
    for (let i = done - 1; i >= 0; i--) structure.store.free(slots[i]!);
    throw error;
  }
  return { numbers: addBlocks(structure, { slots, depths }), root: slots[0] ?? none, rootCount, size: rows.length };
}

function addBlocks({ sequence }: Structure, { slots, depths }: Block): Int32Array {
  const numbers = new Int32Array(Math.ceil(slots.length / blockFill));
  for (let i = 0; i < numbers.length; i++) {
    const [from, to] = [i * blockFill, (i + 1) * blockFill];
    numbers[i] = sequence.addBlock({ slots: slots.slice(from, to), depths: depths.slice(from, to) });
  }
  return numbers;
}

interface Builder {
  /** Enters the row's node and returns its slot. */
  add(row: TreeRow): number;
  /** The depth of the node entered last. */
  depth(): number;
}

function createBuilder({ store, types, isLive }: Structure, under: number): Builder {
  const { ids, index } = store;
  let last = under;
  let depth = -1;
  let typeName = '';
  let type = none;

  /** The row before, or a node above it: looks nothing up. */
  function parentOf({ parentId }: TreeRow): number {
    let parent = last;
    while (parent !== none && ids[parent] !== parentId) {
      parent = parent === under ? none : store.parents[parent]!;
      depth--;
    }
    return parent;
  }

  function typeOf({ payloadType }: TreeRow): number {
    if (payloadType !== typeName) {
      type = types.numberOf(payloadType) ?? none;
      typeName = payloadType;
    }
    return type;
  }

  return {
    add(row) {
      const number = typeOf(row);
      if (number === none) throw badRows(row, `"${row.payloadType}" is not a payload type of this tree`);
      const parent = parentOf(row);
      if (parent === none && last !== none) throw badRows(row, notPreOrder(row));
      const slot = store.allocate(row.nodeId, row.payload);
      store.types[slot] = number;
      store.parents[slot] = parent;
      const before = index.set(row.nodeId, slot);
      if (before !== none && (store.blocks[before] === none || isLive(before))) {
        index.set(row.nodeId, before);
        store.free(slot);
        throw badRows(row, 'a node with this id exists already');
      }
      store.blocks[slot] = none; // until its block is made
      if (parent !== under) store.childCounts[parent]!++;
      last = slot;
      depth++;
      return slot;
    },
    depth: () => depth,
  };
}

function notPreOrder({ parentId }: TreeRow): string {
  return `its parent "${parentId}" is neither the row before it nor above that one (rows stand in pre-order)`;
}

/** Frees detached subtrees that can no longer be restored. */
export function discardDetached({ store, sequence }: Structure, { numbers }: Detached): void {
  for (const number of numbers) {
    for (const slot of sequence.layout.blocks[number]!.slots) store.free(slot);
    sequence.drop(number);
  }
}
