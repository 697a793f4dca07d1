/**
 * From what an item says of a query to two probabilities: that the source answers the query at all, and that this item does.
 *
 * Both are logistic regressions, fitted to the judged development questions, with the thesaurus and without (see docs/grounding.md). The
 * features are shares, so that they mean the same in every collection, and an item that says nothing of the query changes none of them by much.
 */

import { sigmoid } from '../../../src/grounding/confidence.ts';
import type { TextQuery } from './query.ts';
import { type Answered, bestPerWord, type Ranked } from './rank.ts';

/** How much of a query an item answers. */
interface Evidence {
  /** The share of the query's words, by rarity, each by what the match is worth. */
  readonly share: number;
  /** The same of the words themselves, without others that mean the same. */
  readonly exact: number;
  /** The share of the score that an ideal item would get. */
  readonly score: number;
  /** How many of the query's words it says, and the share of words, by rarity, that no item says. */
  readonly said: number;
  readonly unknown: number;
}

/** The two probabilities. */
export interface TextConfidence {
  /** That the item answers the query. */
  readonly confidence: number;
  /** That anything here answers it, judged by this item. */
  readonly answered: number;
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
export function confidencesOf(
  query: TextQuery,
  ranked: readonly Ranked[],
  answers: readonly (readonly (Answered | undefined)[])[],
): TextConfidence[] {
  const things = Math.max(1, query.concepts.length / wordsOfOne);
  return answers.map((own, at) => {
    const { share, exact, score, said, unknown } = evidenceOf(query, own);
    const evidence = -4.86 + 3.59 * share + 21.1 * score + 0.62 * Math.log(1 + said) - 3.78 * unknown;
    const answered = sigmoid(Math.max(-4, Math.min(4, evidence)));
    const rank = Math.log(1 + at / things); // of several things, as many items are the first ones
    const below = Math.log(ranked[at]!.score / ranked[0]!.score) / things;
    const gap = Math.min(mostGap, 1 - (ranked[at + 1]?.score ?? 0) / ranked[at]!.score);
    const isIt = sigmoid(-0.6 - 0.98 * rank + 2.15 * gap + 1.81 * below + 5.36 * Math.max(0, exact - nearlyAll));
    return { confidence: answered * isIt, answered };
  });
}

function evidenceOf({ concepts }: TextQuery, answers: readonly (Answered | undefined)[]): Evidence {
  let [total, share, exact, score, said, unknown] = [0, 0, 0, 0, 0, 0];
  for (const [at, { rarity, isKnown, isPartOfUnknown }] of concepts.entries()) {
    const { worth = 0, value = 0 } = answers[at] ?? {};
    const counted = isPartOfUnknown ? partShare : 1;
    total += rarity;
    share += rarity * worth * counted;
    if (worth === 1) exact += rarity * counted;
    score += value * counted;
    if (worth > 0) said++;
    if (!isKnown) unknown += rarity;
  }
  const expected = total / Math.max(1, (concepts.length / usualWords) ** longerShare);
  return {
    share: Math.min(1, share / expected),
    exact: exact / total,
    score: Math.min(1, score / (expected * bestPerWord)),
    said,
    unknown: unknown / total,
  };
}
