/**
 * One bit a dimension (the idea of RaBitQ). Subtracts the mean from a segment's vectors and stores only the signs and one factor,
 * |x|²/Σ|x|, which makes the estimate unbiased. The query keeps its numbers: one look-up reads eight signs. Signs are stored in
 * columns of 32, so that a scan can stop after some of the dimensions, and reads few tables at a time.
 */

import type { Turns } from '../../../src/base/turns.ts';

/** The codes of one segment. */
export interface SegmentCodes {
  /** Column after column, `capacity` words of 32 signs each. */
  readonly words: Int32Array;
  readonly factors: Float32Array;
  readonly centre: Float64Array;
  /** The rows that the center is the mean of. */
  readonly centred: number;
  /** The rows that have codes. */
  coded: number;
}

/** Where rows are read for coding. */
export interface RowReader {
  readonly dimensions: number;
  /** Rows there is room for. */
  readonly capacity: number;
  readonly floats: Float32Array;
  /** Where the row starts in the floats, once it is stored. */
  readonly placeOf: (at: number) => number;
  readonly turns: Turns;
}

/** The columns of so many dimensions, an even number: two are scanned at once. */
export function columnsOf(dimensions: number): number {
  return Math.ceil(dimensions / 64) * 2;
}

/** A mean of so many rows is as good as one of all. */
const mostCentred = 1_024;
/** Rows that are coded between two looks at the clock: few, because the first ones run before the code is compiled. */
const perLook = 64;

/** Creates the codes of the first `count` rows, in turns. */
export async function codeSegment(count: number, reader: RowReader): Promise<SegmentCodes> {
  const { dimensions, capacity, floats, placeOf, turns } = reader;
  const centre = new Float64Array(dimensions);
  const step = Math.ceil(count / mostCentred);
  let summed = 0;
  for (let at = 0; at < count; at += step) {
    if (summed++ % perLook === 0) await turns.next();
    addTo(centre, floats, placeOf(at));
  }
  for (let i = 0; i < dimensions; i++) centre[i]! /= summed;
  const words = new Int32Array(capacity * columnsOf(dimensions));
  const codes = { words, factors: new Float32Array(capacity), centre, centred: count, coded: 0 };
  await codeMore(codes, count, reader);
  return codes;
}

/** Creates the codes of the rows up to `count` that have none. */
export async function codeMore(codes: SegmentCodes, count: number, reader: RowReader): Promise<void> {
  const { dimensions, floats, placeOf, turns } = reader;
  const difference = new Float32Array(Math.ceil(dimensions / 32) * 32);
  const signs = new Int32Array(difference.buffer);
  for (let at = codes.coded; at < count; at++) {
    if (at % perLook === 0) await turns.next();
    codes.factors[at] = subtract(difference, floats, { from: placeOf(at), centre: codes.centre });
    writeSigns(codes, signs, at);
  }
  codes.coded = count;
}

function addTo(sum: Float64Array, floats: Float32Array, from: number): void {
  for (let i = 0; i < sum.length; i++) sum[i]! += floats[from + i]!;
}

/** Writes a row less the center, and returns its factor. */
function subtract(
  difference: Float32Array,
  floats: Float32Array,
  { from, centre }: { readonly from: number; readonly centre: Float64Array },
): number {
  let sum = 0;
  let squares = 0;
  for (let i = 0; i < centre.length; i++) {
    const value = floats[from + i]! - centre[i]!;
    difference[i] = value;
    sum += Math.abs(value);
    squares += value * value;
  }
  return sum === 0 ? 0 : squares / sum;
}

/** The highest bit of a float is its sign: no branch that could be guessed wrongly, for half of them would be. */
function writeSigns({ words, factors }: SegmentCodes, signs: Int32Array, at: number): void {
  for (let column = 0; column * 32 < signs.length; column++) {
    let negative = 0;
    for (let i = column * 32 + 31; i >= column * 32; i--) negative = (negative << 1) | (signs[i]! >>> 31);
    words[column * factors.length + at] = ~negative;
  }
}

/** For each eight signs and each of their 256 values: the sum of the query's components with those signs. */
export function tablesOf(query: Float64Array): Float32Array {
  const tables = new Float32Array(columnsOf(query.length) * 1024);
  for (let byte = 0; byte * 8 < query.length; byte++) {
    const base = byte * 256;
    const end = Math.min(8, query.length - byte * 8);
    let none = 0;
    for (let bit = 0; bit < end; bit++) none -= query[byte * 8 + bit]!;
    tables[base] = none;
    for (let signs = 1; signs < 256; signs++) {
      const lowest = 31 - Math.clz32(signs & -signs);
      const step = lowest < end ? 2 * query[byte * 8 + lowest]! : 0;
      tables[base + signs] = tables[base + (signs & (signs - 1))]! + step;
    }
  }
  return tables;
}

/** The resolution of estimates: cosines from -1.5 (estimates overshoot) to 1.5 in so many steps. */
export const buckets = 16_384;
const perCosine = buckets / 3;

/** What one scan reads and writes. */
export interface Scan {
  readonly query: Float64Array;
  readonly tables: Float32Array;
  /** The columns that are read, an even number: of the first dimensions, thirty-two each. */
  readonly columns: number;
  /** The bucket of every row: higher is nearer. */
  readonly bucketOf: Uint16Array;
  /** Room for a segment's sums. */
  readonly sums: Float32Array;
}

/** Estimates the cosines of a segment's rows and writes their buckets from `first` on. */
export function scanSegment({ words, factors, centre, coded }: SegmentCodes, scan: Scan, first: number): void {
  const { query, tables, columns, bucketOf, sums } = scan;
  const capacity = factors.length;
  sums.fill(0);
  for (let column = 0; column < columns; column += 2) {
    const from = column * capacity;
    addColumns(words.subarray(from, from + 2 * capacity), tables.subarray(column * 1024, (column + 2) * 1024), sums);
  }
  let offset = 0;
  for (let i = 0; i < query.length; i++) offset += query[i]! * centre[i]!;
  const base = (offset + 1.5) * perCosine;
  for (let at = 0; at < coded; at++) {
    const bucket = (sums[at]! * factors[at]! * perCosine + base) | 0;
    bucketOf[first + at] = bucket < 0 ? 0 : bucket >= buckets ? buckets - 1 : bucket;
  }
}

/** Two columns at once: half of the loads and stores of sums. */
function addColumns(words: Int32Array, tables: Float32Array, sums: Float32Array): void {
  const { length } = sums;
  for (let at = 0; at < length; at++) {
    const a = words[at]!;
    const b = words[at + length]!;
    sums[at]! += tables[a & 255]! + tables[256 + ((a >>> 8) & 255)]! + tables[512 + ((a >>> 16) & 255)]! +
      tables[768 + (a >>> 24)]! + tables[1024 + (b & 255)]! + tables[1280 + ((b >>> 8) & 255)]! +
      tables[1536 + ((b >>> 16) & 255)]! + tables[1792 + (b >>> 24)]!;
  }
}
