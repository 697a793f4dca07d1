/** Measures how many candidates the codes must return to include the best rows, and how similar unrelated rows are. */

import type { CosineSpread } from '../../../src/grounding/confidence.ts';
import type { Turns } from '../../../src/base/turns.ts';
import { buckets, columnsOf } from './codes.ts';
import { countBuckets, createScanRoom, type FirstPass, scanAll, searchExactly } from './search.ts';
import { cosineOf, type Rows, vectorAt } from './segments.ts';
import { toUnit } from './unit.ts';

/** How rows are searched, and what is known of it. */
export interface Tuning extends FirstPass {
  /** `exact`: every row; `codes`: a first pass by codes. */
  readonly path: 'exact' | 'codes';
  /** The share of the best ten that is found, over the sampled queries; `undefined` before it was measured. */
  readonly recall: number | undefined;
  /** The rows there were when it was measured. */
  readonly rows: number;
}

/** Rows up to which all are scored exactly. */
export const mostExact = 5_000;
const sampledQueries = 64;
/** What is aimed at on the sample, so that 0.99 holds beyond it. */
const wantedRecall = 0.996;
/** With more candidates than this share, the codes are not worth their while. */
const mostCandidates = 0.2;
/** What is worth trying: to read a half or three quarters of the columns, or all. */
const shares = [0.5, 0.75, 1] as const;
/** What scoring a row exactly costs, in columns that could be read of its code. */
const exactCost = 240;

/** What holds before anything was measured: all columns, and a fiftieth of the rows. */
export function defaultTuning({ ids, dimensions }: Rows): Tuning {
  const candidates = Math.max(1_000, Math.ceil(ids.length / 50));
  const path = ids.length > mostExact ? 'codes' : 'exact';
  return { path, candidates, columns: columnsOf(dimensions), recall: undefined, rows: 0 };
}

/**
 * Measures with queries that lie between two rows, nearer to one of them. For each of their true best ten rows it is counted how
 * many rows the codes put before it: that many candidates find it. Of the first passes that find enough, the cheapest is taken.
 */
export async function measureTuning(rows: Rows, turns: Turns): Promise<Tuning> {
  const total = rows.ids.length;
  const random = createRandom(total);
  const all = columnsOf(rows.dimensions);
  const room = createScanRoom(rows);
  const passes = shares.map((share) => ({
    columns: Math.max(2, Math.ceil((all * share) / 2) * 2),
    needed: [] as number[],
  }));
  for (let i = 0; i < sampledQueries; i++) {
    const query = between(rows, random);
    if (!query) continue;
    const best = await searchExactly(rows, query, { topK: 10, turns });
    for (const { columns, needed } of passes) {
      const bucketOf = await scanAll(rows, query, { columns, turns, room });
      const before = cumulate(countBuckets(bucketOf, room));
      for (const { row } of best) needed.push(before[bucketOf[row]!]! + 1);
    }
  }
  const measured = passes.map((pass) => toTuning(pass, total)).toSorted((a, b) => costOf(a) - costOf(b));
  return measured[0] ?? { ...defaultTuning(rows), rows: total };
}

function toTuning({ columns, needed }: { readonly columns: number; readonly needed: number[] }, rows: number): Tuning {
  needed.sort((a, b) => a - b);
  const enough = needed[Math.min(needed.length - 1, Math.ceil(needed.length * wantedRecall))] ?? rows;
  const candidates = Math.max(300, Math.ceil(enough * 1.25));
  if (candidates > rows * mostCandidates) return { path: 'exact', candidates: rows, columns, recall: 1, rows };
  const recall = needed.filter((count) => count <= candidates).length / needed.length;
  return { path: 'codes', candidates, columns, recall, rows };
}

function costOf({ path, columns, candidates, rows }: Tuning): number {
  return path === 'exact' ? rows * exactCost : rows * columns + candidates * exactCost;
}

/** The rows whose cosines show the similarity of unrelated rows. */
const sampledPairs = 1_000;
/** Few pairs say little of the deviation: so many of a usual one are added. */
const priorPairs = 20;
const priorDeviation = 0.1;

/** Measures how cosines of random pairs of rows are spread. */
export function measureSpread(rows: Rows): CosineSpread {
  const { ids, live } = rows;
  const pairs = Math.min(sampledPairs, (live * (live - 1)) / 2);
  const random = createRandom(live);
  const liveRow = (): number => {
    let row = Math.floor(random() * ids.length);
    while (ids[row] === undefined) row = (row + 1) % ids.length;
    return row;
  };
  const cosines: number[] = [];
  const other = new Float64Array(rows.dimensions);
  while (cosines.length < pairs) {
    const [first, second] = [liveRow(), liveRow()];
    if (first === second) continue;
    other.set(vectorAt(rows, second));
    cosines.push(cosineOf(rows, first, other));
  }
  const mean = cosines.reduce((sum, cosine) => sum + cosine, 0) / Math.max(1, pairs);
  const squares = cosines.reduce((sum, cosine) => sum + (cosine - mean) ** 2, 0);
  const deviation = Math.sqrt((squares + priorPairs * priorDeviation ** 2) / (pairs + priorPairs));
  return {
    mean: (mean * pairs) / (pairs + priorPairs),
    deviation: pairs < sampledPairs ? deviation : Math.sqrt(squares / pairs) || 1e-6,
  };
}

function between(rows: Rows, random: () => number): Float64Array | undefined {
  const [near, far] = [0, 0].map(() => Math.floor(random() * rows.ids.length)) as [number, number]; // there are two
  if (rows.ids[near] === undefined) return undefined;
  const other = vectorAt(rows, far);
  const mixed = vectorAt(rows, near).map((value, i) => 0.7 * value + 0.3 * other[i]!);
  return mixed.some((value) => value !== 0) ? toUnit(mixed) : undefined;
}

/** Replaces the counts of each bucket by the rows with codes in higher ones; none before rows that have no codes. */
function cumulate(counts: Int32Array): Int32Array {
  let sum = counts[buckets] = 0;
  for (let i = buckets - 1; i >= 0; i--) {
    sum += counts[i]!;
    counts[i] = sum - counts[i]!;
  }
  return counts;
}

/** The same numbers for the same number of rows (mulberry32). */
function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
