/** The two ways to the best rows: every one exactly, or all by their codes and the best few exactly. */

import type { Turns } from '../../../src/base/turns.ts';
import { buckets, type Scan, scanSegment, tablesOf } from './codes.ts';
import { cosineOf, type Rows, segmentRows } from './segments.ts';
import { createTop } from './top.ts';

/** A row and its cosine. */
export interface Scored {
  readonly row: number;
  readonly score: number;
}

/** The input of a search. */
export interface SearchOptions {
  readonly topK: number;
  /** The only rows that count, in any order; all when absent. */
  readonly allowed?: Uint32Array | undefined;
  readonly turns: Turns;
}

/** What a first pass does. */
export interface FirstPass {
  /** How many rows it returns, or slightly more. */
  readonly candidates: number;
  /** The columns of codes that it reads. */
  readonly columns: number;
}

/** Rows that are scored between two looks at the clock. */
const perLook = 256;
/** The bucket of rows that have no codes: always candidates. */
const uncoded = buckets;

/** Returns the best rows, by all their cosines. */
export async function searchExactly(rows: Rows, query: Float64Array, options: SearchOptions): Promise<Scored[]> {
  const { allowed, turns, topK } = options;
  const total = allowed?.length ?? rows.ids.length;
  const { ids } = rows;
  const top = createTop(topK, (a, b) => (ids[a] ?? '') < (ids[b] ?? ''));
  for (let from = 0; from < total; from += perLook) {
    await turns.next();
    const end = Math.min(total, from + perLook);
    for (let i = from; i < end; i++) {
      const row = allowed ? allowed[i]! : i;
      if (ids[row] === undefined) continue;
      const score = cosineOf(rows, row, query);
      if (score >= top.least()) top.offer(score, row);
    }
  }
  return top.entries();
}

/**
 * Returns the best rows: the codes say which may be among them, and those are scored exactly. Rows that have no codes yet are scored
 * anyway. Equal estimates are all candidates.
 */
export async function searchByCodes(
  rows: Rows,
  query: Float64Array,
  { candidates, columns, ...options }: SearchOptions & FirstPass,
): Promise<Scored[]> {
  const spare = spareRooms.get(rows);
  spareRooms.delete(rows); // a search that starts meanwhile creates its own
  const room = spare && rows.ids.length <= spare.bucketOf.length ? spare : createScanRoom(rows);
  const bucketOf = await scanAll(rows, query, { columns, turns: options.turns, room });
  const least = leastBucket(countBuckets(bucketOf, room, options.allowed), candidates);
  const near = options.allowed ? nearOf(options.allowed, bucketOf, least) : nearRows(bucketOf, least);
  spareRooms.set(rows, room);
  return await searchExactly(rows, query, { ...options, allowed: near });
}

/** The memory of one scan at a time. */
export interface ScanRoom {
  readonly bucketOf: Uint16Array;
  readonly counts: Int32Array;
}

/** Of the latest search, for the next one: hundreds of kilobytes each time are work for the collection of garbage. */
const spareRooms = new WeakMap<Rows, ScanRoom>();

/** Returns room for scans of these rows, and of a quarter more. */
export function createScanRoom({ ids }: Rows): ScanRoom {
  return { bucketOf: new Uint16Array(Math.ceil(ids.length * 1.25)), counts: new Int32Array(buckets + 1) };
}

/** Returns the bucket of every row, which the next scan with the same room overwrites. */
export async function scanAll(
  rows: Rows,
  query: Float64Array,
  { columns, turns, room }: { readonly columns: number; readonly turns: Turns; readonly room: ScanRoom },
): Promise<Uint16Array> {
  const bucketOf = room.bucketOf.subarray(0, rows.ids.length).fill(uncoded);
  const scan: Scan = { query, tables: tablesOf(query), columns, bucketOf, sums: new Float32Array(segmentRows) };
  for (const [at, { codes }] of rows.segments.entries()) {
    await turns.next();
    if (codes) scanSegment(codes, scan, at * segmentRows);
  }
  return bucketOf;
}

/** How many rows are in each bucket, until the room is used again. */
export function countBuckets(bucketOf: Uint16Array, { counts }: ScanRoom, allowed?: Uint32Array): Int32Array {
  counts.fill(0);
  if (allowed) { for (let i = 0; i < allowed.length; i++) counts[bucketOf[allowed[i]!]!]!++; }
  else for (let row = 0; row < bucketOf.length; row++) counts[bucketOf[row]!]!++;
  return counts;
}

/** The bucket from which on there are so many rows with codes. */
function leastBucket(counts: Int32Array, candidates: number): number {
  let least = buckets;
  for (let found = 0; least > 0 && found < candidates;) found += counts[--least]!;
  return least;
}

function nearRows(bucketOf: Uint16Array, least: number): Uint32Array {
  const near: number[] = [];
  for (let row = 0; row < bucketOf.length; row++) if (bucketOf[row]! >= least) near.push(row);
  return Uint32Array.from(near);
}

function nearOf(allowed: Uint32Array, bucketOf: Uint16Array, least: number): Uint32Array {
  return allowed.filter((row) => bucketOf[row]! >= least);
}
