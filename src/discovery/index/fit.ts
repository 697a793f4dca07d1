/** Estimates whether any tool fits: the best of a hundred bad answers is still a bad answer. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import type { Query } from './query.ts';
import type { Ranked } from './ranking.ts';

/** Below this probability, `tool_find` says that probably nothing fits. */
export const lowFit = 0.18;

/** The rank of the tool that stands for the crowd: so many hits must be ranked to estimate the fit. */
export const crowdRank = 30;

/**
 * Returns the probability that a tool fits the query, 0 to 1, from the best {@link crowdRank} hits. The weights of the logistic model
 * were fitted to the development requests with and without a tool in their catalog. The docs state its errors on requests that it
 * was not fitted to.
 */
export function fitOf({ concepts }: Query, hits: readonly Ranked[], collection: Collection): number {
  const [best] = hits;
  if (!best) return 0;
  const { vocabulary, postings, slots } = collection;
  let [all, covered, lost] = [0, 0, 0]; // idf of all words, of what the best tool says, of the words that no tool says
  for (const [i, { term }] of concepts.entries()) {
    const id = vocabulary.ids.get(term);
    const idf = idfOf(id === undefined ? 0 : countOf(postings, id), slots.size);
    all += idf;
    covered += Math.min(best.parts[i]!, idf);
    if (id === undefined) lost += idf;
  }
  const said = (2.6 * covered - 1.29 * lost) / all * Math.log(1 + concepts.length);
  return 1 / (1 + Math.exp(2.56 - said - 1.77 * aheadOf(hits, slots.size)));
}

/** What is added to the score of the crowd: otherwise one weak hit would be far ahead of none. */
const leastCrowd = 2;

/**
 * How far the best tool is ahead of the thirtieth: what thirty tools say as well as the best one distinguishes nothing. A catalog of
 * a few tools has lower scores.
 */
function aheadOf(hits: readonly Ranked[], size: number): number {
  const scores = hits.slice(0, crowdRank).map(({ sum, phrase, name }) => sum + phrase + name);
  const crowd = scores.length < crowdRank ? 0 : Math.min(...scores);
  return Math.log(Math.max(...scores) / (crowd + Math.min(leastCrowd, idfOf(0, size) / 2)));
}
