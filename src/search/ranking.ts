/**
 * What all rankings share: how much an item says of the words of a query (BM25), and which items say most.
 *
 * A word of the query adds `weight * worth * rarity * (s + 1) * x / (x + h)` to the score of an item, `x` being how much the item says
 * it and `h` where it says it half as much as it could. The word counts by the best of its alternatives only: the word itself, or
 * another one that says the same at its worth, never rarer than the word. Rules on top belong to tool search and to text sources.
 *
 * Sums are lent for one search and must be given back all zero; a search that throws does not give them back.
 */

import type { Turns } from '../base/turns.ts';
import type { SearchIndex } from './search-index.ts';

/** A term of the index that answers a word of the query. */
export interface Alternative {
  readonly term: number;
  /** 1 for the word itself, less for another one. */
  readonly worth: number;
  readonly rarity: number;
}

export interface Concept {
  /** As the query has it first, in lower case. */
  readonly word: string;
  readonly stem: string;
  /** How rare the word is; a word that no item has is rarer than all others. */
  readonly rarity: number;
  /** More than 1 for a word that the query repeats. */
  readonly weight: number;
  readonly alternatives: readonly Alternative[];
}

/** How the sum over the mentions of a word saturates: `half` is where it has half of its greatest value. */
export interface Saturation {
  /** The greatest value is one more than this, times the rarity. */
  readonly gain: number;
  readonly half: number;
  /** What is added to `half` for each weighted word of the item. */
  readonly halfPerLength: number;
}

/** How rare a word is that `count` of `total` items have: never nothing, not even for a word that is everywhere. */
export function rarityOf(count: number, total: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5));
}

/** Returns the known terms among these with their worths. Another word counts no more than the word itself, however rare it is. */
export function alternativesOf(
  index: SearchIndex,
  worths: Iterable<readonly [term: string, worth: number]>,
  { rarity, total, mostFrequent = Infinity }: {
    readonly rarity: number;
    readonly total: number;
    /** A term that more items have is no evidence for another word. */
    readonly mostFrequent?: number;
  },
): Alternative[] {
  const alternatives: Alternative[] = [];
  for (const [other, worth] of worths) {
    const term = index.numberOf(other);
    if (term === undefined) continue;
    const frequency = index.frequencyOf(term);
    if (worth < 1 && frequency > mostFrequent) continue;
    alternatives.push({ term, worth, rarity: Math.min(rarity, rarityOf(frequency, total)) });
  }
  return alternatives;
}

export interface Sums {
  readonly scores: Float64Array;
  /** The rarities of the words that the item says. */
  readonly covered: Float64Array;
  /** The slots with a score. */
  readonly touched: number[];
  /** The best of the alternatives of the current concept; zero between concepts. */
  readonly best: Float64Array;
}

const spareSums = new WeakMap<SearchIndex, Sums>();

function takeSums(index: SearchIndex): Sums {
  const size = index.ids.length;
  const spare = spareSums.get(index);
  spareSums.delete(index);
  if (spare && spare.scores.length >= size) return spare;
  const room = Math.ceil(size * 1.25);
  return { scores: new Float64Array(room), covered: new Float64Array(room), best: new Float64Array(room), touched: [] };
}

export function giveBack(index: SearchIndex, sums: Sums): void {
  for (const slot of sums.touched) sums.scores[slot] = sums.covered[slot] = 0;
  sums.touched.length = 0;
  spareSums.set(index, sums);
}

/** Postings that are read in one piece. */
const perPiece = 10_000;

/** Adds up what all items say of the words, in pieces: between two of them, other work may run. */
function* sumsOf(
  index: SearchIndex,
  concepts: readonly Concept[],
  saturation: Saturation,
): Generator<void, Sums> {
  const sums = takeSums(index);
  const { scores, covered, best, touched } = sums;
  for (const { alternatives, rarity, weight } of concepts) {
    const mine: number[] = [];
    for (const alternative of alternatives) {
      const list = index.postings[alternative.term] ?? [];
      for (let from = 0; from < list.length; from += perPiece) {
        yield;
        readPostings(index, alternative, { saturation, best, mine, list, from });
      }
    }
    yield;
    for (let at = 0; at < mine.length; at++) {
      const slot = mine[at]!;
      if (scores[slot] === 0) touched.push(slot);
      scores[slot]! += weight * best[slot]!;
      covered[slot]! += rarity;
      best[slot] = 0;
    }
  }
  return sums;
}

/** Returns the sums without a pause. */
export function sumsAtOnce(index: SearchIndex, concepts: readonly Concept[], saturation: Saturation): Sums {
  const pieces = sumsOf(index, concepts, saturation);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
  }
}

/** Returns the sums, and lets other work run after every few milliseconds. */
export async function sumsInTurns(
  index: SearchIndex,
  concepts: readonly Concept[],
  { saturation, turns }: { readonly saturation: Saturation; readonly turns: Turns },
): Promise<Sums> {
  const pieces = sumsOf(index, concepts, saturation);
  for (;;) {
    const { done, value } = pieces.next();
    if (done) return value;
    await turns.next();
  }
}

function readPostings(
  { rules: { step, steps }, lengths }: SearchIndex,
  { worth, rarity }: Alternative,
  { saturation: { gain, half, halfPerLength }, best, mine, list, from }: {
    readonly saturation: Saturation;
    readonly best: Float64Array;
    readonly mine: number[];
    readonly list: readonly number[];
    readonly from: number;
  },
): void {
  const full = worth * rarity * (gain + 1);
  const perStep = 1 / steps;
  const { length } = best;
  const end = Math.min(list.length, from + perPiece);
  for (let at = from; at < end; at++) {
    const posting = list[at]!;
    const slot = Math.floor(posting * perStep);
    if (slot >= length) break; // it came during the search
    const said = (posting - slot * steps) * step;
    const value = (full * said) / (said + half + (halfPerLength === 0 ? 0 : halfPerLength * lengths[slot]!));
    const before = best[slot]!;
    if (value <= before) continue;
    if (before === 0) mine.push(slot);
    best[slot] = value;
  }
}

/** What an item says of a word of the query, and by which alternative. */
export interface Answer {
  readonly alternative: Alternative;
  readonly value: number;
}

/** Returns what an item says of each word, `undefined` where nothing. */
export function answersOf(
  index: SearchIndex,
  concepts: readonly Concept[],
  { slot, saturation: { gain, half, halfPerLength } }: { readonly slot: number; readonly saturation: Saturation },
): readonly (Answer | undefined)[] {
  const added = half + halfPerLength * index.lengths[slot]!;
  return concepts.map(({ alternatives }) => {
    let best: Answer | undefined;
    for (const alternative of alternatives) {
      const { term, worth, rarity } = alternative;
      const said = index.weightOf(term, slot);
      const value = (worth * rarity * (gain + 1) * said) / (said + added);
      if (value > (best?.value ?? 0)) best = { alternative, value };
    }
    return best;
  });
}

/** Up to this many, a sorted list into which each better one is put is quicker than to sort all. */
const longestList = 1_000;

/** Returns the slots with the greatest scores, the best first; of equal ones the one that is `before`. */
export function bestSlots(
  { ids }: SearchIndex,
  { scores, touched }: Sums,
  { most, before, passes }: {
    readonly most: number;
    readonly before: (a: number, b: number) => boolean;
    /** Absent, every item passes. */
    readonly passes?: ((slot: number) => boolean) | undefined;
  },
): number[] {
  const compare = (a: number, b: number): number => scores[b]! - scores[a]! || (before(a, b) ? -1 : 1);
  const isFound = (slot: number): boolean =>
    scores[slot]! > 0 && ids[slot] !== undefined && (passes === undefined || passes(slot));
  if (most > longestList) return touched.filter(isFound).toSorted(compare).slice(0, most);
  const best: number[] = [];
  let least = 0; // the score of the last, once the list is full
  for (const slot of touched) {
    if (scores[slot]! < least) continue;
    const last = best[most - 1];
    if (last !== undefined && compare(slot, last) > 0) continue;
    if (!isFound(slot)) continue;
    let at = best.length;
    while (at > 0 && compare(slot, best[at - 1]!) < 0) at--;
    best.splice(at, 0, slot);
    if (best.length > most) best.pop();
    if (best.length === most) least = scores[best[most - 1]!]!;
  }
  return best;
}
