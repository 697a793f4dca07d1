/**
 * How texts are ranked, and how sure the answer is.
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

import { sigmoid } from '../../../src/grounding/calibration.ts';
import type { Turns } from '../../../src/base/turns.ts';
import {
  type Answer,
  answersOf,
  bestSlots,
  giveBack,
  type Saturation,
  type Sums,
  sumsInTurns,
} from '../../../src/search/ranking.ts';
import { fieldEnd, type SearchIndex } from '../../../src/search/search-index.ts';
import { textThesaurus } from '../../../src/search/thesaurus.ts';
import { readTextQuery, type TextQuery } from './text-query.ts';

export interface FoundText extends TextConfidence {
  readonly slot: number;
  readonly score: number;
  readonly answers: readonly (Answer | undefined)[];
}

export interface TextSearch {
  readonly allowed: Uint32Array | undefined;
  readonly topK: number;
  readonly turns: Turns;
}

/** Returns the best texts for a query, the best first; of equal ones the one with the smaller id. */
export async function searchTexts(
  index: SearchIndex,
  text: string,
  { allowed, topK, turns }: TextSearch,
): Promise<FoundText[]> {
  const query = await readTextQuery(text, index, { thesaurus: await textThesaurus(), turns });
  const ranked = await rankTexts(index, query, { allowed, topK, turns });
  await turns.next();
  const shown = ranked.slice(0, topK);
  const present = saturationOf(index);
  const answers = shown.map(({ slot }) => answersOf(index, query.concepts, { slot, saturation: present }));
  const confidences = confidencesOf(query, ranked, answers);
  return shown.map((one, at) => ({ ...one, ...confidences[at]!, answers: answers[at]! }));
}

interface Ranked {
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

async function rankTexts(
  index: SearchIndex,
  query: TextQuery,
  { allowed, topK, turns }: TextSearch,
): Promise<Ranked[]> {
  const { ids } = index;
  const sums = await sumsInTurns(index, query.concepts, { saturation: saturationOf(index), turns });
  applyCoverage(query, sums);
  liftGroups(index, sums);
  await turns.next();
  const passes = allowed && createFilter(allowed, sums.scores.length);
  const before = (a: number, b: number): boolean => ids[a]! < ids[b]!;
  const ranked = bestSlots(index, sums, { most: Math.max(topK, mostInspected), before, passes })
    .map((slot): Ranked => ({ slot, score: sums.scores[slot]! }));
  giveBack(index, sums);
  await turns.next();
  const numbers = numbersOf(query);
  const inspected = ranked.slice(0, mostInspected).map((one) => withNearness(index, query, { ...one, numbers }));
  inspected.sort((a, b) => b.score - a.score || (before(a.slot, b.slot) ? -1 : 1));
  return [...inspected, ...ranked.slice(mostInspected)];
}

function createFilter(allowed: Uint32Array, size: number): (slot: number) => boolean {
  const passes = new Uint8Array(size);
  for (const slot of allowed) passes[slot] = 1;
  return (slot) => passes[slot] === 1;
}

function saturationOf({ live, totalLength }: SearchIndex): Saturation {
  const meanLength = (totalLength + usualItems * usualLength) / (live + usualItems);
  return {
    gain: saturation,
    half: saturation * (1 - lengthShare),
    halfPerLength: (saturation * lengthShare) / meanLength,
  };
}

function applyCoverage({ concepts }: TextQuery, { scores, covered, touched }: Sums): void {
  const total = concepts.reduce((sum, { rarity }) => sum + rarity, 0);
  for (const slot of touched) scores[slot]! *= 1 - coverageShare + (coverageShare * covered[slot]!) / total;
}

function liftGroups({ groups, groupSizes, ids, furtherItems }: SearchIndex, { scores, touched }: Sums): void {
  if (furtherItems === 0) return;
  const means = new Float64Array(groupSizes.length);
  for (const slot of touched) {
    const group = groups[slot]!;
    const size = groupSizes[group]!;
    if (size > 1 && ids[slot] !== undefined) means[group]! += scores[slot]! / size;
  }
  for (const slot of touched) scores[slot]! += groupShare * means[groups[slot]!]!;
}

/** The concepts by the terms of their own words. */
function numbersOf({ concepts }: TextQuery): ReadonlyMap<number, number> {
  return new Map(concepts.flatMap(({ alternatives: [own] }, at) => own?.worth === 1 ? [[own.term, at]] : []));
}

/** Adds what the words that are neighbors in the query get for being near each other in the item. */
function withNearness(
  { sequences }: SearchIndex,
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

/** The most that one word can add, by its rarity. */
const bestPerWord = saturation + 1;

/**
 * The two probabilities of a text: that it answers the query, and that anything here answers it, judged by this text.
 * Both are logistic regressions, fitted to the judged development questions, with the thesaurus and without (see docs/grounding.md). The
 * features are shares, so that they mean the same in every collection, and an item that says nothing of the query changes none of them by much.
 */
export interface TextConfidence {
  readonly confidence: number;
  readonly answered: number;
}

interface Evidence {
  /** The share of the query's words, by rarity, each by what the match is worth. */
  readonly share: number;
  /** The same of the words themselves, without others that mean the same. */
  readonly exact: number;
  /** The share of the score that an ideal item would get. */
  readonly score: number;
  /** How many of the query's words it says, and the share of words, by rarity, that no item says. */
  readonly words: number;
  readonly unknown: number;
}

/** More distance to the next item says no more. */
const mostGap = 0.6;
/** No item has all words of a story: beyond so many words, a smaller share is enough. */
const usualWords = 8;
const longerShare = 0.7;
/** What a part of a name that no item has counts: an item that says "press" need not be about WordPress. */
const partShare = 0.5;
/** An item with more than this share of the words themselves is what was asked for, or nearly. */
const nearlyAll = 0.75;

/** A query of more words asks for several things at once, one for so many words. */
const wordsOfOne = 6;

/** Returns the probabilities of the items, which are in the order of their ranks, by what each says of the words of the query. */
function confidencesOf(
  query: TextQuery,
  ranked: readonly Ranked[],
  answers: readonly (readonly (Answer | undefined)[])[],
): TextConfidence[] {
  const things = Math.max(1, query.concepts.length / wordsOfOne);
  return answers.map((said, at) => {
    const { share, exact, score, words, unknown } = evidenceOf(query, said);
    const evidence = -4.86 + 3.59 * share + 21.1 * score + 0.62 * Math.log(1 + words) - 3.78 * unknown;
    const answered = sigmoid(Math.max(-4, Math.min(4, evidence)));
    const rank = Math.log(1 + at / things); // of several things, as many items are the first ones
    const below = Math.log(ranked[at]!.score / ranked[0]!.score) / things;
    const gap = Math.min(mostGap, 1 - (ranked[at + 1]?.score ?? 0) / ranked[at]!.score);
    const isIt = sigmoid(-0.6 - 0.98 * rank + 2.15 * gap + 1.81 * below + 5.36 * Math.max(0, exact - nearlyAll));
    return { confidence: answered * isIt, answered };
  });
}

function evidenceOf({ concepts }: TextQuery, answers: readonly (Answer | undefined)[]): Evidence {
  let [total, share, exact, score, words, unknown] = [0, 0, 0, 0, 0, 0];
  for (const [at, { rarity, isKnown, isPartOfUnknown }] of concepts.entries()) {
    const { alternative: { worth } = { worth: 0 }, value = 0 } = answers[at] ?? {};
    const counted = isPartOfUnknown ? partShare : 1;
    total += rarity;
    share += rarity * worth * counted;
    if (worth === 1) exact += rarity * counted;
    score += value * counted;
    if (worth > 0) words++;
    if (!isKnown) unknown += rarity;
  }
  const expected = total / Math.max(1, (concepts.length / usualWords) ** longerShare);
  return {
    share: Math.min(1, share / expected),
    exact: exact / total,
    score: Math.min(1, score / (expected * bestPerWord)),
    words,
    unknown: unknown / total,
  };
}
