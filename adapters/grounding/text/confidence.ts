/** From what an item says of a query to the probability that it answers it. */

import { sigmoid } from '../../../src/grounding/confidence.ts';
import type { TextQuery } from './query.ts';
import { type Answered, bestPerWord, type Ranked } from './rank.ts';

/** The place of an item among those that were found. */
interface Place {
  readonly ranked: readonly Ranked[];
  readonly at: number;
}

/** Returns the probability. */
export function confidenceOf(
  { concepts }: TextQuery,
  answers: readonly (Answered | undefined)[],
  { ranked, at }: Place,
): number {
  let [total, matched, value] = [0, 0, 0];
  for (const [i, { rarity }] of concepts.entries()) {
    total += rarity;
    matched += rarity * (answers[i]?.worth ?? 0);
    value += answers[i]?.value ?? 0;
  }
  const score = value / (total * bestPerWord);
  const below = ranked[at]!.score / ranked[0]!.score;
  return sigmoid(11 * (score * (matched / total) - 0.33)) * below;
}
