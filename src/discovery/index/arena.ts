/** Hands out places in typed arrays: a block's room is its size rounded up to a power of two, and freed blocks are used again. */

/** The start and end of blocks; the arrays themselves belong to the caller. */
export interface Arena {
  /** Returns the start of a block that has room for `size` items. */
  allocate(size: number): number;
  /** Takes back a block that had this size. */
  release(start: number, size: number): void;
  /** The length that an array must have to hold all blocks. */
  readonly end: number;
}

/** Creates an empty arena. */
export function createArena(): Arena {
  const free: number[][] = [];
  let end = 0;
  return {
    allocate(size) {
      if (size === 0) return 0;
      const reused = free[classOf(size)]?.pop();
      if (reused !== undefined) return reused;
      const start = end;
      end += roomFor(size);
      return start;
    },
    release(start, size) {
      if (size > 0) (free[classOf(size)] ??= []).push(start);
    },
    get end() {
      return end;
    },
  };
}

/** The room of a block with this many items. */
export function roomFor(size: number): number {
  return size === 0 ? 0 : 1 << classOf(size);
}

/** The length for an array that must hold `needed`: growing by a quarter keeps copies rare. */
export function grownLength(length: number, needed: number): number {
  return Math.max(needed, Math.ceil(length * 1.25), 1024);
}

function classOf(size: number): number {
  return 32 - Math.clz32(size - 1);
}
