/**
 * Finds the slot of a node id: a table of slots with open addressing. At a million nodes it takes a fifth of the memory of a `Map`
 * and has no upper limit. Indexes are in range by construction, hence the `!`.
 */

/** From node id to slot. */
export interface IdIndex {
  /** The slot, or -1. */
  find(nodeId: string): number;
  /** Points the id to the slot; returns the slot that it pointed to before, or -1. `ids[slot]` must be the id already. */
  set(nodeId: string, slot: number): number;
  /** Removes the id, if it points to this slot. */
  delete(nodeId: string, slot: number): void;
}

/** Creates an index of `ids`, an array by slot. The seed prevents callers from choosing ids that collide. */
export function createIdIndex(
  ids: readonly string[],
  { expected, seed }: { readonly expected: number; readonly seed: number },
): IdIndex {
  let table = new Int32Array(tableSize(expected) * 2); // pairs of hash and slot + 1; a slot of 0 is free
  let used = 0;

  /** The pair of the id, or the free pair for it. */
  function placeOf(nodeId: string, hash: number): number {
    const mask = table.length - 1;
    let at = (hash << 1) & mask;
    for (let entry = table[at + 1]!; entry !== 0; entry = table[at + 1]!) {
      if (table[at] === hash && ids[entry - 1] === nodeId) return at;
      at = (at + 2) & mask;
    }
    return at;
  }

  return {
    find: (nodeId) => table[placeOf(nodeId, hashOf(nodeId, seed)) + 1]! - 1,
    set(nodeId, slot) {
      const hash = hashOf(nodeId, seed);
      const at = placeOf(nodeId, hash);
      const before = table[at + 1]! - 1;
      table[at] = hash;
      table[at + 1] = slot + 1;
      if (before < 0 && ++used * 3 > table.length) table = doubled(table);
      return before;
    },
    delete(nodeId, slot) {
      const at = placeOf(nodeId, hashOf(nodeId, seed));
      if (table[at + 1] !== slot + 1) return;
      used--;
      close(table, at);
    },
  };
}

function doubled(table: Int32Array): Int32Array<ArrayBuffer> {
  const larger = new Int32Array(table.length * 2);
  const mask = larger.length - 1;
  for (let from = 0; from < table.length; from += 2) {
    if (table[from + 1] === 0) continue;
    let at = (table[from]! << 1) & mask;
    while (larger[at + 1] !== 0) at = (at + 2) & mask;
    larger[at] = table[from]!;
    larger[at + 1] = table[from + 1]!;
  }
  return larger;
}

/** Moves later pairs into a freed one, so that no search ends too early. */
function close(table: Int32Array, freed: number): void {
  const mask = table.length - 1;
  let gap = freed;
  for (let at = (gap + 2) & mask; table[at + 1] !== 0; at = (at + 2) & mask) {
    const home = (table[at]! << 1) & mask;
    if (((at - home) & mask) < ((at - gap) & mask)) continue;
    table[gap] = table[at]!;
    table[gap + 1] = table[at + 1]!;
    gap = at;
  }
  table[gap + 1] = 0;
}

/** A larger copy of the array, with room for `index`. */
export function grown(array: Int32Array, index: number): Int32Array<ArrayBuffer> {
  const copy = new Int32Array(Math.max(index + 16, Math.ceil(array.length * 1.25)));
  copy.set(array);
  return copy;
}

function tableSize(expected: number): number {
  let size = 64;
  while (size * 2 < expected * 3) size *= 2;
  return size;
}

function hashOf(nodeId: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < nodeId.length; i++) {
    hash = Math.imul(hash ^ nodeId.charCodeAt(i), 0x9e3779b1);
    hash ^= hash >>> 15;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return hash ^ (hash >>> 13);
}
