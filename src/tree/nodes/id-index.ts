/**
 * Finds the slot of a node id: a table of slots with open addressing. At a million nodes it takes a tenth of the memory of a `Map`, so
 * that more of it is in the cache of the processor, and has no upper limit. Indexes are in range by construction, hence the `!`.
 */

/** From node id to slot. */
export interface IdIndex {
  /** The slot, or -1. */
  find(nodeId: string): number;
  /** Points the id to the slot; returns the slot that it pointed to before, or -1. `ids[slot]` must be the id already. */
  set(nodeId: string, slot: number): number;
  /** Removes the id, if it points to this slot. `ids[slot]` must still be the id. */
  delete(nodeId: string, slot: number): void;
}

/** Creates an index of `ids`, an array by slot. The seed prevents callers from choosing ids that collide. */
export function createIdIndex(
  ids: readonly string[],
  { expected, seed }: { readonly expected: number; readonly seed: number },
): IdIndex {
  // In the lower bits of an entry is slot + 1, in the others those of the hash; 0 is free.
  let table = new Int32Array(tableSize(expected));
  let used = 0;
  const slotAt = (at: number): number => (table[at]! & (table.length - 1)) - 1;
  const hashAt = (at: number): number => hashOf(ids[slotAt(at)]!, seed);

  /** The place of the id, or the free place for it. */
  function placeOf(nodeId: string, hash: number): number {
    const mask = table.length - 1;
    let at = hash & mask;
    for (let entry = table[at]!; entry !== 0; entry = table[at]!) {
      if (((entry ^ hash) & ~mask) === 0 && ids[(entry & mask) - 1] === nodeId) return at;
      at = (at + 1) & mask;
    }
    return at;
  }

  /** Returns the slot that its id pointed to before. */
  function put(slot: number): number {
    const nodeId = ids[slot]!;
    const hash = hashOf(nodeId, seed);
    const at = placeOf(nodeId, hash);
    const before = slotAt(at);
    table[at] = (hash & -table.length) | (slot + 1);
    return before;
  }

  function double(): void {
    const before = table;
    table = new Int32Array(before.length * 2);
    for (const entry of before) if (entry !== 0) put((entry & (before.length - 1)) - 1);
  }

  return {
    find: (nodeId) => slotAt(placeOf(nodeId, hashOf(nodeId, seed))),
    set(_nodeId, slot) {
      if (slot + 1 >= table.length || used * 3 >= table.length * 2) double();
      const before = put(slot);
      if (before < 0) used++;
      return before;
    },
    delete(nodeId, slot) {
      const at = placeOf(nodeId, hashOf(nodeId, seed));
      if (slotAt(at) !== slot) return;
      used--;
      close(table, at, hashAt);
    },
  };
}

/** Moves later entries into a freed place, so that no search ends too early. */
function close(table: Int32Array, freed: number, hashAt: (at: number) => number): void {
  const mask = table.length - 1;
  let gap = freed;
  for (let at = (gap + 1) & mask; table[at] !== 0; at = (at + 1) & mask) {
    if (((at - hashAt(at)) & mask) < ((at - gap) & mask)) continue;
    table[gap] = table[at]!;
    gap = at;
  }
  table[gap] = 0;
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
