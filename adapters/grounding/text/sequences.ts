/** Lists of numbers in large blocks: 100,000 arrays of their own would each be an object that the collection of garbage visits. */

/** Lists by number, from 0. */
export interface Sequences {
  /** Adds a copy, which gets the next number, and returns it. */
  push(values: ArrayLike<number>): Int32Array;
  /** Returns a list of the store, which must not be changed. */
  at(number: number): Int32Array;
}

const blockLength = 65_536;
/** A small store takes little memory. */
const firstLength = 1_024;

/** Creates an empty store. */
export function createSequences(): Sequences {
  const blocks: Int32Array[] = [];
  /** By list: the number of its block, then where it starts there. */
  const places: number[] = [];
  const lengths: number[] = [];
  let [used, total] = [blockLength, 0];
  const at = (number: number): Int32Array => {
    const place = places[number]!;
    const start = place % blockLength;
    return blocks[Math.floor(place / blockLength)]!.subarray(start, start + lengths[number]!);
  };
  return {
    at,
    push(values) {
      const { length } = values;
      if (used >= blockLength || used + length > blocks.at(-1)!.length) {
        blocks.push(new Int32Array(Math.max(length, Math.min(blockLength, Math.max(firstLength, total)))));
        used = 0;
      }
      blocks.at(-1)!.set(values, used);
      places.push((blocks.length - 1) * blockLength + used);
      used += length;
      total += length;
      return at(lengths.push(length) - 1);
    },
  };
}
