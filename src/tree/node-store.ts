/**
 * What is known of each node but its place: id, payload, payload type, parent and number of children, in columns by slot. Slots are
 * small whole numbers, reused after a node is freed. Indexes are in range by construction, hence the `!`.
 */

/** A payload: JSON, never changed in place. */
export type Payload = Readonly<Record<string, unknown>>;

/** No slot. */
export const none = -1;

/** What may change of a node while a snapshot still needs it as it was. */
export interface NodeRecord {
  readonly payload: Payload;
  readonly type: number;
  readonly parent: number;
  readonly childCount: number;
}

const noPayload: Payload = Object.freeze({});

export class NodeStore {
  readonly ids: string[] = [];
  readonly payloads: Payload[] = [];
  readonly index: IdIndex;
  types: Int32Array;
  parents: Int32Array;
  childCounts: Int32Array;
  blocks: Int32Array;
  /** The records that open snapshots keep, by slot. */
  readonly overlays = new Set<Map<number, NodeRecord>>();
  readonly #free: number[] = [];
  #used = 0;

  constructor({ expected, seed }: { readonly expected: number; readonly seed: number }) {
    const room = expected + (expected >> 4) + 64;
    this.ids.length = this.payloads.length = room; // to grow step by step would take longer than to fill
    this.index = createIdIndex(this.ids, { expected, seed });
    this.types = new Int32Array(room);
    this.parents = new Int32Array(room);
    this.childCounts = new Int32Array(room);
    this.blocks = new Int32Array(room);
  }

  /** Allocates a slot for the node. The caller sets type and parent, and enters the id into the index. */
  allocate(nodeId: string, payload: Payload): number {
    const slot = this.#free.pop() ?? this.#used++;
    if (slot >= this.types.length) this.#grow(slot);
    this.ids[slot] = nodeId;
    this.payloads[slot] = payload;
    this.childCounts[slot] = 0;
    return slot;
  }

  record(slot: number): NodeRecord {
    return {
      payload: this.payloads[slot]!,
      type: this.types[slot]!,
      parent: this.parents[slot]!,
      childCount: this.childCounts[slot]!,
    };
  }

  /** Must be called before payload, type, parent or number of children of a slot change. */
  touch(slot: number): void {
    for (const overlay of this.overlays) if (!overlay.has(slot)) overlay.set(slot, this.record(slot));
  }

  free(slot: number): void {
    this.index.delete(this.ids[slot]!, slot);
    this.ids[slot] = '';
    this.payloads[slot] = noPayload;
    this.#free.push(slot);
  }

  #grow(slot: number): void {
    this.types = grown(this.types, slot);
    this.parents = grown(this.parents, slot);
    this.childCounts = grown(this.childCounts, slot);
    this.blocks = grown(this.blocks, slot);
  }
}

type IdIndex = ReturnType<typeof createIdIndex>;

/** Creates an index of `ids`, an array by slot. The seed prevents callers from choosing ids that collide. */
function createIdIndex(
  ids: readonly string[],
  { expected, seed }: { readonly expected: number; readonly seed: number },
) {
  // In the lower bits of an entry is slot + 1, in the others those of the hash; 0 is free.
  let table = new Int32Array(tableSize(expected));
  let used = 0;
  const slotAt = (at: number): number => (table[at]! & (table.length - 1)) - 1;
  const hashAt = (at: number): number => hashOf(ids[slotAt(at)]!, seed);

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
    find: (nodeId: string): number => slotAt(placeOf(nodeId, hashOf(nodeId, seed))),
    /** Points the id to the slot; returns the slot that it pointed to before, or -1. `ids[slot]` must be the id already. */
    set(_nodeId: string, slot: number): number {
      if (slot + 1 >= table.length || used * 3 >= table.length * 2) double();
      const before = put(slot);
      if (before < 0) used++;
      return before;
    },
    /** Removes the id, if it points to this slot. `ids[slot]` must still be the id. */
    delete(nodeId: string, slot: number): void {
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
function grown(array: Int32Array, index: number): Int32Array<ArrayBuffer> {
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
