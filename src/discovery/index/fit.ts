/** Estimates whether any tool fits: the best of a hundred bad answers is still a bad answer. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import type { Query } from './query.ts';
import { nameGain, type Ranked } from './ranking.ts';

/** Below this probability, `tool_find` says that probably nothing fits. */
export const lowFit = 0.17;

/** How many hits together may cover a request, which may need more than one tool. */
export const fitHits = 5;

/**
 * The weights of a logistic model, fitted to the development requests with and without a tool in their catalog. In five-fold
 * cross-validation on them the calibration error is 0.02; other catalogs may differ more.
 */
const weights = { start: -3.27, covered: 4.08, named: 1.49, rarest: 1.24, lost: -0.68 };

/**
 * Returns the probability that a tool fits the query, 0 to 1, from four facts: how much of the query's idf the best tool explains,
 * and how many words that is; whether its name says what the best five tools cover; the rarest word that it says; and the share of
 * the idf of words that no tool says. A description explains less of a word than a name, a synonym half.
 */
export function fitOf(query: Query, hits: readonly Ranked[], collection: Collection): number {
  const [best] = hits;
  if (!best) return 0;
  const { byBest, byAll, lost, rarest } = coverageOf(query, hits, collection);
  const named = best.name / (nameGain * (best.sum + best.phrase));
  const length = Math.log(1 + query.concepts.length);
  const evidence = weights.start + weights.covered * byBest * length + weights.named * byAll * named +
    weights.rarest * rarest + weights.lost * lost * length;
  return 1 / (1 + Math.exp(-evidence));
}

interface Coverage {
  /** The shares of the query's idf that the best tool explains, that the best five explain together, and that no tool says. */
  readonly byBest: number;
  readonly byAll: number;
  readonly lost: number;
  /** The highest score of one word in the best tool, beside the idf of a word that no tool says. */
  readonly rarest: number;
}

function coverageOf(
  { concepts }: Query,
  hits: readonly Ranked[],
  { vocabulary, postings, slots }: Collection,
): Coverage {
  const sum = { all: 0, byBest: 0, byAll: 0, lost: 0 };
  const first = hits[0]!.parts; // the caller has checked that there is one
  for (const [i, { term }] of concepts.entries()) {
    const id = vocabulary.ids.get(term);
    const idf = idfOf(id === undefined ? 0 : countOf(postings, id), slots.size);
    const best = Math.max(...hits.slice(0, fitHits).map(({ parts }) => parts[i]!));
    sum.all += idf;
    sum.byBest += Math.min(first[i]!, idf);
    sum.byAll += Math.min(best, idf);
    if (id === undefined) sum.lost += idf;
  }
  return {
    byBest: sum.byBest / sum.all,
    byAll: sum.byAll / sum.all,
    lost: sum.lost / sum.all,
    rarest: Math.max(...first) / idfOf(0, slots.size),
  };
}
