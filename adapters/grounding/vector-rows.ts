/**
 * Vectors of length one, and the search for the nearest of them.
 *
 * - Rows are appended and marked dead, never moved or changed: a search that waits between two turns reads on.
 * - Codes only choose which rows are scored. A returned score is always the exact cosine of the stored row.
 * - A segment of rows gets codes once, when it is full; the rows of the last segment are always scored. A code has one bit a
 *   dimension, the sign of the row less the center, and the factor |x|²/Σ|x|, which makes estimates unbiased (the idea of RaBitQ).
 * - The center is the mean of the first segment. It is subtracted from the query too: without that, vectors that share a
 *   direction, as those of many models do, have estimates as bad as the shared part is large.
 * - The query keeps its numbers: one look-up in a table reads eight signs. Words of 32 signs stand in columns, of which two are
 *   read at once: a scan reads few tables at a time, and loads and stores its sums half as often.
 * - V8 has no vector instructions. Loops over floats and over bytes are separate: one for both would be slower for both.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Turns } from '../../src/base/turns.ts';

/** How vectors are stored: as 32-bit floats, or as one byte a dimension, which needs less memory. */
export type VectorFormat = 'float32' | 'int8';

/** A segment's rows, one after another, in floats or in bytes. */
interface Segment {
  floats: Float32Array;
  bytes: Int8Array;
  /** What a byte is worth, by row. */
  readonly scales: number[];
  codes?: { readonly words: Int32Array; readonly factors: Float32Array; readonly offsets: Float32Array };
}

interface Nearest {
  readonly topK: number;
  readonly allowed: Uint32Array | undefined;
  readonly turns: Turns;
}

const segmentRows = 1_024;
/** Rows up to which all are scored, and how many codes choose of more: so many find 0.99 of the best ten in data of many shapes. */
const mostExact = 5_000;
const fewestCandidates = 1_000;
const candidateShare = 0.03;
/** Estimates are cosines from -1.5 (they overshoot) to 1.5 in so many steps; the last bucket is that of rows without codes. */
const buckets = 16_384;
const perCosine = buckets / 3;

export class VectorRows {
  readonly dimensions: number;
  /** By row: the id, and `undefined` when the row is dead. */
  readonly ids: (string | undefined)[] = [];
  live = 0;
  readonly #isFloats: boolean;
  readonly #segments: Segment[] = [];
  #centre: Float64Array | undefined;

  constructor(dimensions: number, format: VectorFormat) {
    this.dimensions = dimensions;
    this.#isFloats = format === 'float32';
  }

  append(id: string, unit: ArrayLike<number>): number {
    const row = this.ids.push(id) - 1;
    this.live++;
    const at = row % segmentRows;
    if (at === 0) this.#segments.push({ floats: new Float32Array(), bytes: new Int8Array(), scales: [] });
    const segment = this.#segments.at(-1)!;
    const [from, room] = [at * this.dimensions, Math.min(segmentRows, Math.max(32, at * 2)) * this.dimensions];
    if (this.#isFloats) {
      if (segment.floats.length === from) segment.floats = extended(new Float32Array(room), segment.floats);
      segment.floats.set(unit, from);
    } else {
      if (segment.bytes.length === from) segment.bytes = extended(new Int8Array(room), segment.bytes);
      segment.scales.push(writeBytes(segment.bytes, from, unit));
    }
    if (at === segmentRows - 1) this.#code(segment, row - at);
    return row;
  }

  kill(row: number): void {
    this.ids[row] = undefined;
    this.live--;
  }

  vectorAt(row: number): Float32Array {
    const { floats, bytes, scales } = this.#segments[Math.floor(row / segmentRows)]!;
    const at = row % segmentRows;
    const from = at * this.dimensions;
    if (this.#isFloats) return floats.subarray(from, from + this.dimensions);
    const vector = new Float32Array(this.dimensions);
    for (let i = 0; i < vector.length; i++) vector[i] = bytes[from + i]! * scales[at]!;
    return vector;
  }

  cosineOf(row: number, query: Float64Array): number {
    const { floats, bytes, scales } = this.#segments[(row / segmentRows) | 0]!;
    const at = row & (segmentRows - 1);
    if (this.#isFloats) return dotFloats(floats, at * this.dimensions, query);
    return dotBytes(bytes, at * this.dimensions, query) * scales[at]!;
  }

  async nearest(query: Float64Array, { topK, allowed, turns }: Nearest): Promise<{ row: number; score: number }[]> {
    const { ids } = this;
    const total = allowed?.length ?? ids.length;
    const among = total <= mostExact ? allowed : await this.#candidates(query, { topK, allowed, turns });
    const top = createTop(topK, (a, b) => ids[a]! < ids[b]!);
    for (let i = 0; i < (among?.length ?? total); i++) {
      if (i % 256 === 0) await turns.next();
      const row = among ? among[i]! : i;
      if (ids[row] === undefined) continue;
      const score = this.cosineOf(row, query);
      if (score >= top.least()) top.offer(score, row);
    }
    return top.entries();
  }

  #code(segment: Segment, first: number): void {
    const { dimensions } = this;
    const centre = this.#centre ??= meanOf(segmentRows, (at) => this.vectorAt(at));
    const columns = columnsOf(dimensions);
    const [words, factors, offsets] = [
      new Int32Array(columns * segmentRows),
      new Float32Array(segmentRows),
      new Float32Array(segmentRows),
    ];
    const difference = new Float32Array(columns * 32);
    const signs = new Int32Array(difference.buffer); // the highest bit of a float is its sign: no branch to mispredict
    for (let at = 0; at < segmentRows; at++) {
      const row = this.vectorAt(first + at);
      let [sum, squares, offset] = [0, 0, 0];
      for (let i = 0; i < dimensions; i++) {
        const value = row[i]! - centre[i]!;
        difference[i] = value;
        sum += Math.abs(value);
        squares += value * value;
        offset += value * centre[i]!;
      }
      factors[at] = sum === 0 ? 0 : squares / sum;
      offsets[at] = offset;
      for (let column = 0; column < columns; column++) {
        let negative = 0;
        for (let i = column * 32 + 31; i >= column * 32; i--) negative = (negative << 1) | (signs[i]! >>> 31);
        words[column * segmentRows + at] = ~negative;
      }
    }
    segment.codes = { words, factors, offsets };
  }

  /** The rows whose codes promise the best cosines, and all without codes. Equal estimates are all candidates. */
  async #candidates(query: Float64Array, { topK, allowed, turns }: Nearest): Promise<Uint32Array> {
    const centre = this.#centre ?? new Float64Array(query.length);
    const tables = tablesOf(query.map((value, i) => value - centre[i]!));
    const base = query.reduce((sum, value, i) => sum + value * centre[i]!, 1.5);
    const bucketOf = new Uint16Array(this.ids.length).fill(buckets);
    const sums = new Float32Array(segmentRows);
    for (const [number, { codes }] of this.#segments.entries()) {
      await turns.next();
      if (!codes) continue;
      sums.fill(0);
      for (let column = 0; column < columnsOf(query.length); column += 2) {
        const from = column * segmentRows;
        addColumns(codes.words.subarray(from, from + 2 * segmentRows), tables.subarray(column * 1024), sums);
      }
      for (let at = 0; at < segmentRows; at++) {
        const bucket = ((sums[at]! * codes.factors[at]! + codes.offsets[at]! + base) * perCosine) | 0;
        bucketOf[number * segmentRows + at] = Math.max(0, Math.min(buckets - 1, bucket));
      }
    }
    const total = allowed?.length ?? bucketOf.length;
    const counts = new Int32Array(buckets + 1);
    for (let i = 0; i < total; i++) counts[bucketOf[allowed ? allowed[i]! : i]!]!++;
    const wanted = Math.max(fewestCandidates, total * candidateShare, 30 * topK);
    let least = buckets;
    for (let found = 0; least > 0 && found < wanted;) found += counts[--least]!;
    const near: number[] = [];
    for (let i = 0; i < total; i++) {
      if (bucketOf[allowed ? allowed[i]! : i]! >= least) near.push(allowed ? allowed[i]! : i);
    }
    return Uint32Array.from(near);
  }
}

/** An even number: two are read at once. */
function columnsOf(dimensions: number): number {
  return Math.ceil(dimensions / 64) * 2;
}

function extended<Numbers extends Float32Array | Int8Array>(room: Numbers, numbers: Numbers): Numbers {
  room.set(numbers);
  return room;
}

function writeBytes(bytes: Int8Array, from: number, unit: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < unit.length; i++) largest = Math.max(largest, Math.abs(unit[i]!));
  for (let i = 0; i < unit.length; i++) bytes[from + i] = Math.round((unit[i]! / largest) * 127);
  return largest / 127;
}

function meanOf(count: number, rowAt: (at: number) => Float32Array): Float64Array {
  const mean = new Float64Array(rowAt(0).length);
  for (let at = 0; at < count; at++) {
    const row = rowAt(at);
    for (let i = 0; i < row.length; i++) mean[i]! += row[i]! / count;
  }
  return mean;
}

/** For each eight signs and each of their 256 values: the sum of the query's components with those signs. */
function tablesOf(query: Float64Array): Float32Array {
  const tables = new Float32Array(columnsOf(query.length) * 1024);
  for (let byte = 0; byte * 8 < query.length; byte++) {
    const components = query.subarray(byte * 8, byte * 8 + 8);
    tables[byte * 256] = -components.reduce((sum, component) => sum + component, 0);
    for (let signs = 1; signs < 256; signs++) {
      const lowest = 31 - Math.clz32(signs & -signs);
      tables[byte * 256 + signs] = tables[byte * 256 + (signs & (signs - 1))]! + 2 * (components[lowest] ?? 0);
    }
  }
  return tables;
}

function addColumns(words: Int32Array, tables: Float32Array, sums: Float32Array): void {
  for (let at = 0; at < segmentRows; at++) {
    const a = words[at]!;
    const b = words[at + segmentRows]!;
    sums[at]! += tables[a & 255]! + tables[256 + ((a >>> 8) & 255)]! + tables[512 + ((a >>> 16) & 255)]! +
      tables[768 + (a >>> 24)]! + tables[1024 + (b & 255)]! + tables[1280 + ((b >>> 8) & 255)]! +
      tables[1536 + ((b >>> 16) & 255)]! + tables[1792 + (b >>> 24)]!;
  }
}

/** Four sums at a time, which do not wait for each other. */
function dotFloats(rows: Float32Array, from: number, query: Float64Array): number {
  let [a, b, c, d] = [0, 0, 0, 0];
  const even = query.length - (query.length % 4);
  for (let i = 0; i < even; i += 4) {
    a += rows[from + i]! * query[i]!;
    b += rows[from + i + 1]! * query[i + 1]!;
    c += rows[from + i + 2]! * query[i + 2]!;
    d += rows[from + i + 3]! * query[i + 3]!;
  }
  for (let i = even; i < query.length; i++) a += rows[from + i]! * query[i]!;
  return a + b + c + d;
}

function dotBytes(rows: Int8Array, from: number, query: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < query.length; i++) sum += rows[from + i]! * query[i]!;
  return sum;
}

/**
 * Writes a vector at length one into `unit`, which is as long.
 * @throws PinnaceError `invalid_argument` for no dimensions or more than 8,192, for numbers that are not finite, and for a vector of
 * zeros, which points nowhere.
 */
export function toUnit<Numbers extends Float32Array | Float64Array>(vector: ArrayLike<number>, unit: Numbers): Numbers {
  const { length } = vector;
  if (length === 0 || length > 8_192) throw invalidVector('it must have 1 to 8,192 dimensions', 'wrong_dimensions');
  let largest = 0; // numbers may be so large or small that their squares overflow or vanish
  for (let i = 0; i < length; i++) largest = Math.max(largest, Math.abs(vector[i]!));
  if (!Number.isFinite(largest)) throw invalidVector('one of its numbers is not finite', 'not_finite');
  if (largest === 0) throw invalidVector('all of its numbers are zero', 'zero_vector');
  let squares = 0;
  for (let i = 0; i < length; i++) squares += (vector[i]! / largest) ** 2;
  const factor = 1 / Math.sqrt(squares);
  for (let i = 0; i < length; i++) unit[i] = (vector[i]! / largest) * factor;
  return unit;
}

export function requireDimensions(length: number, dimensions: number): void {
  if (length === dimensions) return;
  throw invalidVector(`it has ${length} dimensions, not ${dimensions}`, 'wrong_dimensions');
}

function invalidVector(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use a vector: ${why}`, { details: { reason } });
}

function createTop(size: number, before: (a: number, b: number) => boolean) {
  const scores = new Float64Array(size).fill(-Infinity);
  const rows = new Int32Array(size).fill(-1);
  let count = 0;
  const last = size - 1;
  return {
    /** What a row must reach; more than that, or as much and a smaller id. */
    least: (): number => scores[last]!,
    offer(score: number, row: number): void {
      const isBetter = (at: number): boolean => {
        const other = scores[at] ?? 0;
        return other < score || (other === score && before(row, rows[at]!));
      };
      if (count === size && !isBetter(last)) return;
      let at = Math.min(count, last);
      while (at > 0 && isBetter(at - 1)) {
        scores[at] = scores[at - 1]!;
        rows[at] = rows[at - 1]!;
        at--;
      }
      scores[at] = score;
      rows[at] = row;
      if (count < size) count++;
    },
    entries: (): { readonly row: number; readonly score: number }[] =>
      Array.from({ length: count }, (_, at) => ({ row: rows[at]!, score: scores[at]! })),
  };
}
