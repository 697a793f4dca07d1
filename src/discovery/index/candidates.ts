/** Finds the tools worth ranking: those with the greatest sums over the words of the query. */

import { grownLength } from './arena.ts';
import type { Collection } from './collection.ts';
import type { IndexedTool } from './fields.ts';
import type { Concept, Query } from './query.ts';

/** Whether a tool may be found. */
export type Accept = (tool: IndexedTool) => boolean;

/** Working memory for scores by slot, all zero between uses. */
export interface Scratch {
  totals: Float64Array;
  /** What the present word has given so far: it counts only by its best alternative. */
  current: Float64Array;
  /** The rank of a candidate, counted from 1. */
  places: Int32Array;
}

/** Creates working memory. */
export function createScratch(): Scratch {
  return { totals: new Float64Array(0), current: new Float64Array(0), places: new Int32Array(0) };
}

/** Returns the slots of the best tools, best first, equal ones in the order of registration. */
export function findCandidates(
  query: Query,
  collection: Collection,
  { scratch, limit, accept }: { scratch: Scratch; limit: number; accept: Accept },
): number[] {
  const { tools } = collection.documents;
  if (scratch.totals.length < tools.length) growScratch(scratch, grownLength(scratch.totals.length, tools.length));
  const touched: number[] = [];
  for (const concept of query.concepts) addConcept(concept, collection, { scratch, touched });
  try {
    return bestOf(touched, collection, { totals: scratch.totals, limit, accept });
  } finally { // also when `accept` throws, which is not ours
    for (const slot of touched) scratch.totals[slot] = 0;
  }
}

function growScratch(scratch: Scratch, length: number): void {
  scratch.totals = new Float64Array(length);
  scratch.current = new Float64Array(length);
  scratch.places = new Int32Array(length);
}

function addConcept(
  { alternatives }: Concept,
  { postings }: Collection,
  { scratch: { totals, current }, touched }: { scratch: Scratch; touched: number[] },
): void {
  const { slots, weights, starts, counts } = postings;
  const last = alternatives.length - 1;
  for (const [i, { id, factor, idf }] of alternatives.entries()) {
    const gain = factor * idf;
    const end = starts[id]! + counts[id]!;
    for (let at = starts[id]!; at < end; at++) {
      const slot = slots[at]!;
      const value = gain * weights[at]!;
      const before = i === 0 ? 0 : current[slot]!;
      if (value <= before) continue;
      if (totals[slot] === 0) touched.push(slot);
      totals[slot]! += value - before;
      if (i < last) current[slot] = value; // nothing compares with the last
    }
  }
  for (const { id } of alternatives.slice(0, -1)) {
    const end = starts[id]! + counts[id]!;
    for (let at = starts[id]!; at < end; at++) current[slots[at]!] = 0;
  }
}

/** Up to this many, a sorted list into which each better one is put is quicker than to sort all. */
const longestList = 1000;

function bestOf(
  touched: readonly number[],
  { documents: { tools, orders } }: Collection,
  { totals, limit, accept }: { totals: Float64Array; limit: number; accept: Accept },
): number[] {
  const compare = (a: number, b: number): number => totals[b]! - totals[a]! || orders[a]! - orders[b]!;
  if (limit > longestList) return touched.filter((slot) => accept(tools[slot]!)).toSorted(compare).slice(0, limit);
  const best: number[] = [];
  let least = 0; // the total of the last, once the list is full
  for (const slot of touched) {
    if (totals[slot]! < least) continue;
    const last = best[limit - 1];
    if (last !== undefined && compare(slot, last) > 0) continue;
    if (!accept(tools[slot]!)) continue;
    let at = best.length;
    while (at > 0 && compare(slot, best[at - 1]!) < 0) at--;
    best.splice(at, 0, slot);
    if (best.length > limit) best.pop();
    if (best.length === limit) least = totals[best[limit - 1]!]!;
  }
  return best;
}
