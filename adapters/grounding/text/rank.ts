/**
 * How items are ranked.
 *
 * **How much an item says a word.** BM25 over one length: a mention in the title counts 1.5, in the text 1, in the path 0.5; the sum
 * saturates and counts less in an item that is longer than usual.
 * **A word of the query** counts by the best of what answers it: the word itself, or another word of the thesaurus, a longer word, a
 * repaired slip, each at its worth and never rarer than the word itself. A word that the query repeats counts more. A word that the
 * items have together with another one near it in the query ("credit", "card") counts down to half.
 * **The rules.** An item that has few of the words of the query loses up to a fifth. Parts of one file lift each other by 0.3 of
 * their mean. Words that are neighbors in the query and near each other in the item add up to 0.8 of the rarity of the more
 * common one, in a long query up to 2.
 */

import { createTop } from '../vector/top.ts';
import type { Turns } from '../../../src/base/turns.ts';
import type { Alternative, Concept, TextQuery } from './query.ts';
import { fieldEnd, halvesOf, type TextIndex } from './text-index.ts';

/** An item with its score. */
export interface Ranked {
  readonly slot: number;
  readonly score: number;
}

const saturation = 1.4;
const lengthShare = 0.8;
const coverageShare = 0.2;
const groupShare = 0.3;
const nearGain = 0.8;
/** How much more nearness counts in a story, of whose many words every item has some. */
const nearGainOfLong = 1.5;
const nearest = 8;
/** So many usual items count with those of the index: in a small one, another item changes little. */
const usualItems = 200;
const usualLength = 100;
/** The rules that look into an item are applied to so many: the order of the first ones is the same for every request. */
const mostInspected = 30;
/** Postings that are read between two looks at the clock. */
const perLook = 10_000;

/** What a search adds up, by slot. */
interface Sums {
  readonly scores: Float64Array;
  readonly covered: Float64Array;
  /** The best of the alternatives of the current concept. */
  readonly best: Float64Array;
  readonly touched: number[];
}

/** The limits of a search. */
export interface RankOptions {
  /** The only slots that count; all when absent. */
  readonly allowed: Uint32Array | undefined;
  readonly topK: number;
  readonly turns: Turns;
}

/** Returns at least `topK` of the best items, the best first; of equal ones the one with the smaller id. */
export async function rankItems(
  index: TextIndex,
  query: TextQuery,
  { allowed, topK, turns }: RankOptions,
): Promise<Ranked[]> {
  const sums = takeSums(index);
  for (const concept of query.concepts) await addConcept(index, concept, { sums, turns });
  applyCoverage(query, sums);
  liftGroups(index, sums);
  await turns.next();
  const top = selectBest(index, sums, { allowed, most: Math.max(topK, mostInspected) });
  giveBack(index, sums);
  await turns.next();
  const numbers = numbersOf(query);
  const ranked = top.map(({ row, score }): Ranked => ({ slot: row, score }));
  const inspected = ranked.slice(0, mostInspected).map((one) => withNearness(index, query, { ...one, numbers }));
  const ids = index.ids;
  inspected.sort((a, b) => b.score - a.score || (ids[a.slot]! < ids[b.slot]! ? -1 : 1));
  return [...inspected, ...ranked.slice(mostInspected)];
}

/** The sums of the latest search of an index, all zero, for the next one. */
const spareSums = new WeakMap<TextIndex, Sums>();

function takeSums(index: TextIndex): Sums {
  const size = index.ids.length;
  const spare = spareSums.get(index);
  spareSums.delete(index);
  if (spare && spare.scores.length >= size) return spare;
  const room = Math.ceil(size * 1.25);
  return { scores: new Float64Array(room), covered: new Float64Array(room), best: new Float64Array(room), touched: [] };
}

function giveBack(index: TextIndex, sums: Sums): void {
  for (const slot of sums.touched) sums.scores[slot] = sums.covered[slot] = 0;
  sums.touched.length = 0;
  spareSums.set(index, sums);
}

/** Adds what every item says of a word. */
async function addConcept(
  index: TextIndex,
  { alternatives, rarity, weight }: Concept,
  { sums: { scores, covered, best, touched }, turns }: { readonly sums: Sums; readonly turns: Turns },
): Promise<void> {
  const mine: number[] = [];
  for (const alternative of alternatives) {
    const list = index.postings[alternative.term] ?? [];
    for (let from = 0; from < list.length; from += perLook) {
      await turns.next();
      readPostings(index, alternative, { best, mine, list, from });
    }
  }
  await turns.next();
  for (let at = 0; at < mine.length; at++) {
    const slot = mine[at]!;
    if (scores[slot] === 0) touched.push(slot);
    scores[slot]! += weight * best[slot]!;
    covered[slot]! += rarity;
    best[slot] = 0;
  }
}

/** Reads the postings of the list that are read in one piece. */
function readPostings(
  { lengths, live, totalLength }: TextIndex,
  { worth, rarity }: Alternative,
  { best, mine, list, from }: {
    readonly best: Float64Array;
    readonly mine: number[];
    readonly list: readonly number[];
    readonly from: number;
  },
): void {
  const full = worth * rarity * (saturation + 1);
  const fixed = saturation * (1 - lengthShare);
  const perWord = (saturation * lengthShare) / meanLength({ live, totalLength });
  const { length } = best;
  const end = Math.min(list.length, from + perLook);
  for (let at = from; at < end; at++) {
    const posting = list[at]!;
    const slot = posting >> 8;
    if (slot >= length) break; // it came during the search
    const count = (posting & 255) / 2;
    const value = (full * count) / (count + fixed + perWord * lengths[slot]!);
    const before = best[slot]!;
    if (value <= before) continue;
    if (before === 0) mine.push(slot);
    best[slot] = value;
  }
}

function meanLength({ live, totalLength }: Pick<TextIndex, 'live' | 'totalLength'>): number {
  return (totalLength + usualItems * usualLength) / (live + usualItems);
}

function applyCoverage({ concepts }: TextQuery, { scores, covered, touched }: Sums): void {
  const total = concepts.reduce((sum, { rarity }) => sum + rarity, 0);
  for (const slot of touched) scores[slot]! *= 1 - coverageShare + (coverageShare * covered[slot]!) / total;
}

function liftGroups({ groups, groupSizes, ids, furtherParts }: TextIndex, { scores, touched }: Sums): void {
  if (furtherParts === 0) return;
  const means = new Float64Array(groupSizes.length);
  for (const slot of touched) {
    const group = groups[slot]!;
    const size = groupSizes[group]!;
    if (size > 1 && ids[slot] !== undefined) means[group]! += scores[slot]! / size;
  }
  for (const slot of touched) scores[slot]! += groupShare * means[groups[slot]!]!;
}

function selectBest(
  { ids }: TextIndex,
  { scores, touched }: Sums,
  { allowed, most }: { readonly allowed: Uint32Array | undefined; readonly most: number },
) {
  const top = createTop(most, (a, b) => ids[a]! < ids[b]!);
  const offer = (slot: number): void => {
    const score = scores[slot]!;
    if (score > 0 && score >= top.least() && ids[slot] !== undefined) top.offer(score, slot);
  };
  if (allowed && allowed.length < touched.length) allowed.forEach(offer);
  else if (!allowed) touched.forEach(offer);
  else {
    const passes = new Uint8Array(scores.length);
    for (const slot of allowed) passes[slot] = 1;
    for (const slot of touched) if (passes[slot] === 1) offer(slot);
  }
  return top.entries();
}

/** The concepts by the terms of their own words. */
function numbersOf({ concepts }: TextQuery): ReadonlyMap<number, number> {
  return new Map(concepts.flatMap(({ alternatives: [own] }, at) => own?.worth === 1 ? [[own.term, at]] : []));
}

/** Adds what the words that are neighbors in the query get for being near each other in the item. */
function withNearness(
  { sequences }: TextIndex,
  { concepts, pairs, length }: TextQuery,
  { slot, score, numbers }: {
    readonly slot: number;
    readonly score: number;
    readonly numbers: ReadonlyMap<number, number>;
  },
): Ranked {
  if (pairs.length === 0) return { slot, score };
  const distances = distancesIn(sequences[slot]!, { numbers, pairs, concepts: concepts.length });
  let gain = 0;
  for (const [at, [one, other]] of pairs.entries()) {
    const distance = distances[at]!;
    if (distance <= nearest) gain += Math.min(concepts[one]!.rarity, concepts[other]!.rarity) / distance;
  }
  return { slot, score: score + nearGain * (1 + nearGainOfLong * length) * gain };
}

/** A place so far before an item that nothing is near it. */
const nowhere = -1_000_000;

/** The shortest distance of each pair; a large one where they are not in one field. */
function distancesIn(
  sequence: Int32Array,
  { numbers, pairs, concepts }: {
    readonly numbers: ReadonlyMap<number, number>;
    readonly pairs: TextQuery['pairs'];
    readonly concepts: number;
  },
): number[] {
  const shortest = pairs.map(() => Infinity);
  const latest = new Int32Array(concepts).fill(nowhere);
  const bits = new Uint8Array(256);
  for (const term of numbers.keys()) bits[term & 255] = 1;
  const { length } = sequence;
  for (let at = 0; at < length; at++) {
    const term = sequence[at]!;
    if (term === fieldEnd) latest.fill(nowhere);
    if (bits[term & 255] === 0 || term < 0) continue;
    const concept = numbers.get(term);
    if (concept === undefined) continue;
    latest[concept] = at;
    for (let pair = 0; pair < pairs.length; pair++) {
      const one = pairs[pair]![0];
      const other = pairs[pair]![1];
      if (one !== concept && other !== concept) continue;
      const distance = at - latest[one === concept ? other : one]!;
      if (distance < shortest[pair]!) shortest[pair] = distance;
    }
  }
  return shortest;
}

/** What an item says of each word of the query: the best of the alternatives. */
export interface Answered {
  readonly worth: number;
  readonly value: number;
  readonly term: number;
}

/** Returns what an item says of each word of the query, `undefined` where nothing. */
export function answersOf(index: TextIndex, { concepts }: TextQuery, slot: number): (Answered | undefined)[] {
  const usual = meanLength(index);
  const long = saturation * (1 - lengthShare + (lengthShare * index.lengths[slot]!) / usual);
  return concepts.map(({ alternatives }) => {
    let best: Answered | undefined;
    for (const { term, worth, rarity } of alternatives) {
      const count = halvesOf(index, term, slot) / 2;
      const value = (worth * rarity * (saturation + 1) * count) / (count + long);
      if (value > (best?.value ?? 0)) best = { worth, value, term };
    }
    return best;
  });
}

/** The most that one word can add, by its rarity. */
export const bestPerWord = saturation + 1;
