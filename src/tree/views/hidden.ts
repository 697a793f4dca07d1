/**
 * What a view knows of each block: for every node the number of collapsed nodes above it ("hidden"; 0 is visible) and its own flag.
 * A block where all nodes are alike takes a few numbers; another has arrays of its own. A snapshot copies the columns and shares those
 * arrays: each is copied when it is written to for the first time after that. Indexes are in range by construction, hence the `!`.
 */

import type { Layout } from '../nodes/layout.ts';

/** The columns, by block number. */
export interface Hidden {
  /** hidden = base + own[i], or where the block has none, base + depth in the block where `slope` is 1, else base. */
  base: Int32Array;
  slope: Uint8Array;
  own: (Int32Array | undefined)[];
  /** The flags, or where the block has none, the flag of all its nodes. 1: expanded. */
  flag: Uint8Array;
  flags: (Uint8Array | undefined)[];
  /** The smallest hidden in the block, and how many nodes have it. */
  min: Int32Array;
  minCount: Int32Array;
  /** How many snapshots there have been; and how many when the block's arrays were last copied. */
  epoch: number;
  ownEpoch: Int32Array;
  flagsEpoch: Int32Array;
}

/** Room for this many blocks, about which nothing is known yet. */
export function emptyHidden(room: number): Hidden {
  return {
    base: new Int32Array(room),
    slope: new Uint8Array(room),
    own: [],
    flag: new Uint8Array(room),
    flags: [],
    min: new Int32Array(room),
    minCount: new Int32Array(room),
    epoch: 1, // an array that was never copied is older
    ownEpoch: new Int32Array(room),
    flagsEpoch: new Int32Array(room),
  };
}

/** Makes room for more blocks. */
export function growHidden(hidden: Hidden, room: number): void {
  for (const name of ['base', 'min', 'minCount', 'ownEpoch', 'flagsEpoch'] as const) {
    const column = new Int32Array(room);
    column.set(hidden[name]);
    hidden[name] = column;
  }
  for (const name of ['slope', 'flag'] as const) {
    const column = new Uint8Array(room);
    column.set(hidden[name]);
    hidden[name] = column;
  }
}

/** A copy of the columns, for a snapshot, which is never written to. */
export function copyHidden(hidden: Hidden): Hidden {
  hidden.epoch++;
  return {
    ...hidden,
    base: hidden.base.slice(),
    slope: hidden.slope.slice(),
    own: hidden.own.slice(),
    flag: hidden.flag.slice(),
    flags: hidden.flags.slice(),
    min: hidden.min.slice(),
    minCount: hidden.minCount.slice(),
  };
}

/** How many collapsed nodes there are above the node. */
export function hiddenAt(hidden: Hidden, layout: Layout, { number, index }: { number: number; index: number }): number {
  const own = hidden.own[number];
  if (own) return hidden.base[number]! + own[index]!;
  return hidden.base[number]! + (hidden.slope[number] === 1 ? layout.blocks[number]!.depths[index]! : 0);
}

/** Whether the node is expanded. */
export function flagAt(hidden: Hidden, { number, index }: { number: number; index: number }): boolean {
  return (hidden.flags[number]?.[index] ?? hidden.flag[number]) === 1;
}

/** What the nodes of a block are when all are alike: expanded, with the same hidden; or collapsed, so that hidden grows with the depth. */
export interface Uniform {
  readonly expanded: boolean;
  /** The hidden of expanded nodes, or of collapsed ones at depth 0. */
  readonly top: number;
}

/** Makes the nodes of these blocks alike. Returns whether a flag has changed. */
export function setUniform(hidden: Hidden, layout: Layout, numbers: Int32Array, { expanded, top }: Uniform): boolean {
  const { own, flags, flag, slope, base, min, minCount } = hidden;
  const { add, minDepth, minCount: leastCount, lengths } = layout;
  const isOn = expanded ? 1 : 0;
  let changed = false;
  for (let i = 0; i < numbers.length; i++) {
    const number = numbers[i]!;
    changed ||= hasOther(hidden, { number, flag: isOn });
    if (own[number]) own[number] = undefined; // mostly there is none, and reading is faster
    if (flags[number]) flags[number] = undefined;
    flag[number] = isOn;
    slope[number] = 1 - isOn;
    base[number] = expanded ? top : top + add[number]!;
    min[number] = expanded ? top : top + minDepth[number]!;
    minCount[number] = expanded ? lengths[number]! : leastCount[number]!;
  }
  return changed;
}

/** Whether some node of a block, or of a part of it, has another flag. */
export function hasOther(
  { flag, flags }: Hidden,
  { number, flag: wanted, from, to }: {
    readonly number: number;
    readonly flag: number;
    readonly from?: number;
    readonly to?: number;
  },
): boolean {
  const own = flags[number];
  return own ? own.subarray(from, to).includes(1 - wanted) : flag[number] !== wanted;
}

/** The block's hidden numbers without its base, in an array that may be written to. */
export function ownOf(hidden: Hidden, layout: Layout, number: number): Int32Array {
  const own = hidden.own[number];
  if (own && hidden.ownEpoch[number] === hidden.epoch) return own;
  hidden.ownEpoch[number] = hidden.epoch;
  if (own) return own.slice();
  const { depths } = layout.blocks[number]!;
  return hidden.slope[number] === 1 ? depths.slice() : new Int32Array(depths.length);
}

/** The block's flags, in an array that may be written to. */
export function flagsOf(hidden: Hidden, layout: Layout, number: number): Uint8Array {
  const flags = hidden.flags[number];
  if (flags && hidden.flagsEpoch[number] === hidden.epoch) return flags;
  hidden.flagsEpoch[number] = hidden.epoch;
  if (flags) return flags.slice();
  return new Uint8Array(layout.blocks[number]!.slots.length).fill(hidden.flag[number]!);
}

/** Derives smallest hidden and its count from the block's numbers. */
export function updateMin(hidden: Hidden, layout: Layout, number: number): void {
  const own = hidden.own[number];
  const base = hidden.base[number]!;
  if (own) {
    let least = own[0]!;
    let count = 0;
    for (let i = 0; i < own.length; i++) {
      const value = own[i]!;
      if (value > least) continue;
      count = value < least ? 1 : count + 1;
      least = value;
    }
    hidden.min[number] = base + least;
    hidden.minCount[number] = count;
  } else if (hidden.slope[number] === 1) {
    hidden.min[number] = base + layout.minDepth[number]! - layout.add[number]!;
    hidden.minCount[number] = layout.minCount[number]!;
  } else {
    hidden.min[number] = base;
    hidden.minCount[number] = layout.lengths[number]!;
  }
}
