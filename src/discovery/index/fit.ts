/** Estimates whether any tool fits: the best of a hundred bad answers is still a bad answer. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import type { Query } from './query.ts';
import { nameGain, type Ranked } from './ranking.ts';

/** Below this probability, `tool_find` says that probably nothing fits. */
export const lowFit = 0.18;

/** How many hits together may cover a request, which may need more than one tool. */
const coveringHits = 5;

/** The rank of the tool that stands for the crowd: so many hits must be ranked to estimate the fit. */
export const crowdRank = 30;

/**
 * The weights of a logistic model, fitted to the development requests with and without a tool in their catalog. The docs state its
 * errors on requests that it was not fitted to.
 */
const weights = { start: -3.42, covered: 2.71, named: 0.64, lost: -0.65, ahead: 1.83 };

/** What the probability depends on. */
export interface FitFacts {
  /** The share of the query's idf that the best tool says, times the logarithm of the number of words. */
  readonly covered: number;
  /** The share that the best five tools say together, times the share of the best tool's name that the query says. */
  readonly named: number;
  /** The share of words that no tool says, times the logarithm of the number of words. */
  readonly lost: number;
  /** How far the best tool is ahead of the thirtieth: the logarithm of the ratio of their scores. */
  readonly ahead: number;
}

/** Returns the probability that a tool fits the query, 0 to 1. A description says less of a word than a name, a synonym half. */
export function fitOf(query: Query, hits: readonly Ranked[], collection: Collection): number {
  const facts = factsOf(query, hits, collection);
  if (!facts) return 0;
  const evidence = weights.start + weights.covered * facts.covered + weights.named * facts.named +
    weights.lost * facts.lost + weights.ahead * facts.ahead;
  return 1 / (1 + Math.exp(-evidence));
}

/** Returns what the fit depends on; `undefined` without hits. Needs the best {@link crowdRank} hits. */
export function factsOf(query: Query, hits: readonly Ranked[], collection: Collection): FitFacts | undefined {
  const [best] = hits;
  if (!best) return undefined;
  const { byBest, byAll, lost } = coverageOf(query, hits.slice(0, coveringHits), collection);
  const length = Math.log(1 + query.concepts.length);
  const said = best.name / (nameGain * (best.sum + best.phrase));
  return {
    covered: byBest * length,
    named: byAll * said,
    lost: lost * length,
    ahead: aheadOf(hits, collection.slots.size),
  };
}

/** What is added to the score of the crowd: otherwise one weak hit would be far ahead of none. */
const leastCrowd = 2;

/** What thirty tools say as well as the best one distinguishes nothing. A catalog of a few tools has lower scores. */
function aheadOf(hits: readonly Ranked[], size: number): number {
  const scores = hits.slice(0, crowdRank).map(({ sum, phrase, name }) => sum + phrase + name);
  const crowd = scores.length < crowdRank ? 0 : Math.min(...scores);
  return Math.log(Math.max(...scores) / (crowd + Math.min(leastCrowd, idfOf(0, size) / 2)));
}

/** The shares of the query's idf that the best tool says, that the best tools say together, and that no tool says. */
function coverageOf({ concepts }: Query, hits: readonly Ranked[], { vocabulary, postings, slots }: Collection) {
  const sum = { all: 0, byBest: 0, byAll: 0, lost: 0 };
  const first = hits[0]!.parts; // the caller has checked that there is one
  for (const [i, { term }] of concepts.entries()) {
    const id = vocabulary.ids.get(term);
    const idf = idfOf(id === undefined ? 0 : countOf(postings, id), slots.size);
    const best = Math.max(...hits.map(({ parts }) => parts[i]!));
    sum.all += idf;
    sum.byBest += Math.min(first[i]!, idf);
    sum.byAll += Math.min(best, idf);
    if (id === undefined) sum.lost += idf;
  }
  return { byBest: sum.byBest / sum.all, byAll: sum.byAll / sum.all, lost: sum.lost / sum.all };
}
