/** A sorted set of strings in blocks, so that an insertion moves one block instead of everything behind it. */

/** The most ids in a block. A full block is split into halves. */
const blockSize = 256;

/** A sorted set of ids. The caller adds an id once, and removes only what it has added. */
export interface SortedIds {
  /** Adds an id that is not in the set. Takes O(log n + block size + number of blocks / block size). */
  add(id: string): void;
  remove(id: string): void;
  /** Returns the ids from `lower` (included) to `upper` (excluded), in order. The set must not change while they are read. */
  between(lower: string, upper: string): Iterable<string>;
}

/** Creates an empty set. */
export function createSortedIds(): SortedIds {
  const blocks: string[][] = [];
  return {
    add(id) {
      const at = Math.max(0, blockOf(blocks, id));
      const block = blocks[at];
      if (!block) {
        blocks.push([id]);
        return;
      }
      block.splice(position(block, id), 0, id);
      if (block.length > blockSize) blocks.splice(at + 1, 0, block.splice(blockSize / 2));
    },
    remove(id) {
      const at = blockOf(blocks, id);
      const block = blocks[at];
      if (!block) return;
      block.splice(position(block, id), 1);
      if (block.length === 0) blocks.splice(at, 1);
    },
    *between(lower, upper) {
      for (let at = Math.max(0, blockOf(blocks, lower)); at < blocks.length; at++) {
        const block = blocks[at] as string[]; // safe: `at` is below the length
        for (let i = position(block, lower); i < block.length; i++) {
          const id = block[i] as string; // safe: `i` is below the length
          if (id >= upper) return;
          yield id;
        }
      }
    },
  };
}

/** The index of the last block that starts at or before the id, -1 where every block starts behind it. Blocks are never empty. */
function blockOf(blocks: readonly (readonly string[])[], id: string): number {
  let low = 0;
  let high = blocks.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((blocks[middle]?.[0] as string) <= id) low = middle + 1; // safe: a block has a first id
    else high = middle;
  }
  return low - 1;
}

/** The index of the id in the sorted list, or where it would be inserted. */
function position(sorted: readonly string[], id: string): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as string) < id) low = middle + 1; // safe: `middle` is below `high`
    else high = middle;
  }
  return low;
}
