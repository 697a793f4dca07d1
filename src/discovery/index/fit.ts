/** Estimates whether any tool fits: the best of a thousand unrelated tools says some of the query by chance. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import type { Query } from './query.ts';
import type { Ranked } from './ranking.ts';

/** Below this probability, `tool_find` says that probably nothing fits. */
export const lowFit = 0.23;

/** So many hits must be ranked to estimate the fit; the last of them stands for the crowd. */
export const fittingHits = 30;

/**
 * Returns the probability that a tool fits the query, 0 to 1, from the best {@link fittingHits} hits. The weights of the logistic
 * model were fitted to the development requests with and without a tool in catalogs of 10 to 5,007 tools. The docs state its errors
 * on requests and catalogs that it was not fitted to.
 */
export function fitOf(
  { concepts }: Query,
  hits: readonly Ranked[],
  { vocabulary, postings, slots }: Collection,
): number {
  const [best] = hits;
  if (!best) return 0;
  const { size } = slots;
  let [all, missed, lost] = [0, 0, 0]; // idf of all words, of what the best tool does not say, of the words that no tool says
  const words = concepts.map(({ term, alternatives }, i): Word => {
    const count = countOf(postings, vocabulary.ids.get(term) ?? -1);
    const idf = idfOf(count, size);
    all += idf;
    missed += idf - Math.min(best.parts[i]!, idf);
    if (count === 0) lost += idf;
    const sayers = alternatives.reduce((sum, { id }) => sum + countOf(postings, id), 0);
    return { idf, rarity: Math.log(size / sayers) };
  });
  const compared = hits.slice(0, fittingHits);
  const scores = compared.map(({ sum, phrase, name }) => sum + phrase + name);
  const highest = Math.max(...scores);
  const crowd = scores.length < fittingHits ? 0 : Math.min(...scores);
  const ahead = Math.log(highest / (crowd + Math.min(leastCrowd, idfOf(0, size) / 2)));
  const said = (0.89 * highest - 0.63 * lost) / all * Math.log(1 + words.length) - 0.003 * missed;
  const apart = 0.81 * ahead + 0.115 * surpriseOf(compared, words) - 0.25 * Math.log(size);
  return 1 / (1 + Math.exp(0.6 - said - apart));
}

/** A word of the query as the catalog knows it. */
interface Word {
  readonly idf: number;
  /** How unlikely a tool is to say the word or a synonym. A tool that says several of them counts several times. */
  readonly rarity: number;
}

/**
 * What is added to the score of the crowd, the thirtieth: what thirty tools say as well as the best one distinguishes nothing, and one
 * weak hit is not far ahead of none. A catalog of a few tools has lower scores.
 */
const leastCrowd = 2;

/**
 * How unlikely it is that a tool says so many of the words, if it says each independently of the others: the rarities of the words
 * that it says, less the logarithm of the ways to choose that many of the query. A tool that does what the query is about says
 * several of its rare words together.
 */
function surpriseOf(hits: readonly Ranked[], words: readonly Word[]): number {
  return Math.max(...hits.map(({ parts, phrase }) => {
    let [surprise, count] = [phrase, 0];
    for (const [i, { idf, rarity }] of words.entries()) {
      if (parts[i] === 0) continue;
      surprise += Math.min(1, parts[i]! / idf) * rarity - Math.log((words.length - count) / (count + 1));
      count++;
    }
    return surprise;
  }));
}
