/** Rows of vectors in segments of 4,096. Rows are appended and marked dead, never moved, so readers need not wait. */

import { codeMore, codeSegment, type RowReader, type SegmentCodes } from './codes.ts';
import type { Turns } from '../../../src/base/turns.ts';
import { dotBytes, dotFloats } from './dot.ts';

/** Rows in one segment. */
export const segmentRows = 4_096;

/** How vectors are stored: as 32-bit floats, or as one byte a dimension, which needs less memory. */
export type VectorFormat = 'float32' | 'int8';

/** Some thousand rows. */
export interface Segment {
  /** Row after row; of floats, or of bytes. */
  floats: Float32Array;
  bytes: Int8Array;
  /** What a byte is worth, by row. */
  scales: Float32Array;
  count: number;
  /** Of the first rows, or of none. */
  codes: SegmentCodes | undefined;
}

/** All rows, by number. */
export interface Rows {
  readonly dimensions: number;
  readonly format: VectorFormat;
  readonly segments: Segment[];
  /** By row: the id, and `undefined` when the row is dead. */
  readonly ids: (string | undefined)[];
  live: number;
}

/** Returns no rows. */
export function createRows(dimensions: number, format: VectorFormat): Rows {
  return { dimensions, format, segments: [], ids: [], live: 0 };
}

/** Adds a row of length one and returns its number. */
export function appendRow(rows: Rows, id: string, unit: ArrayLike<number>): number {
  const { dimensions, format, segments, ids } = rows;
  let segment = segments.at(-1);
  if (!segment || segment.count === segmentRows) {
    segment = emptySegment();
    segments.push(segment);
  }
  grow(segment, rows);
  const from = segment.count * dimensions;
  if (format === 'float32') segment.floats.set(unit, from);
  else segment.scales[segment.count] = writeBytes(segment.bytes, from, unit);
  segment.count++;
  rows.live++;
  return ids.push(id) - 1;
}

/** Marks a row as dead. */
export function killRow(rows: Rows, row: number): void {
  if (rows.ids[row] === undefined) return;
  rows.ids[row] = undefined;
  rows.live--;
}

/** The cosine of a row with a query of length one. */
export function cosineOf({ dimensions, format, segments }: Rows, row: number, query: Float64Array): number {
  const segment = segments[row >>> 12]!;
  const at = row & (segmentRows - 1);
  if (format === 'float32') return dotFloats(segment.floats, at * dimensions, query);
  return dotBytes(segment.bytes, at * dimensions, query) * segment.scales[at]!;
}

/** A row. Not to be changed. */
export function vectorAt({ dimensions, format, segments }: Rows, row: number): Float32Array {
  const { floats, bytes, scales } = segments[row >>> 12]!;
  const at = row & (segmentRows - 1);
  const from = at * dimensions;
  if (format === 'float32') return floats.subarray(from, from + dimensions);
  return Float32Array.from(bytes.subarray(from, from + dimensions), (byte) => byte * scales[at]!);
}

/** Rows without codes that are left as they are: scoring them is cheaper than it looks. */
const fewestUncoded = 256;

/** Creates codes where many rows have none, and again for a segment that has grown to twice what its mean was made of. */
export async function codeRows(rows: Rows, turns: Turns): Promise<void> {
  const { dimensions } = rows;
  for (const segment of rows.segments) {
    const { codes, count } = segment;
    const isFull = count === segmentRows;
    if (count === codes?.coded || (!isFull && count - (codes?.coded ?? 0) < fewestUncoded)) continue;
    const reader = { dimensions, capacity: segmentRows, turns, ...floatsOf(segment, rows) };
    if (codes && count < 2 * codes.centred) await codeMore(codes, count, reader);
    else segment.codes = await codeSegment(count, reader);
  }
}

/** Reads the rows of a segment as floats: in place, or decoded one at a time. */
function floatsOf(segment: Segment, { dimensions, format }: Rows): Pick<RowReader, 'floats' | 'placeOf'> {
  if (format === 'float32') return { floats: segment.floats, placeOf: (at) => at * dimensions };
  const floats = new Float32Array(dimensions);
  return {
    floats,
    placeOf(at) {
      const from = at * dimensions;
      for (let i = 0; i < dimensions; i++) floats[i] = segment.bytes[from + i]! * segment.scales[at]!;
      return 0;
    },
  };
}

function emptySegment(): Segment {
  const none = new Float32Array();
  return { floats: none, bytes: new Int8Array(), scales: none, count: 0, codes: undefined };
}

/** Reserves more the more there are, so that few vectors take little memory and many are rarely copied. */
function grow(segment: Segment, { dimensions, format, segments }: Rows): void {
  const reserved = format === 'float32' ? segment.floats.length : segment.bytes.length;
  if (segment.count * dimensions < reserved) return;
  const least = segments.length === 1 ? 32 : segments.length < 5 ? 1_024 : segmentRows;
  const size = Math.min(segmentRows, Math.max(least, segment.count * 2));
  if (format === 'float32') {
    const floats = new Float32Array(size * dimensions);
    floats.set(segment.floats);
    segment.floats = floats;
    return;
  }
  const bytes = new Int8Array(size * dimensions);
  bytes.set(segment.bytes);
  const scales = new Float32Array(size);
  scales.set(segment.scales);
  Object.assign(segment, { bytes, scales });
}

function writeBytes(bytes: Int8Array, from: number, unit: ArrayLike<number>): number {
  let largest = 0;
  for (let i = 0; i < unit.length; i++) largest = Math.max(largest, Math.abs(unit[i]!));
  for (let i = 0; i < unit.length; i++) bytes[from + i] = Math.round((unit[i]! / largest) * 127);
  return largest / 127;
}
