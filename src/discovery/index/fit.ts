/** Says whether anything fits at all: the best of a hundred bad answers is still a bad answer. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import type { Query } from './query.ts';
import type { Ranked } from './ranking.ts';

/** Below this fit, `tool_find` says that probably nothing fits. */
export const lowFit = 0.25;

/** How many hits together may cover a request, which may need more than one tool. */
export const fitHits = 5;

/**
 * Returns the share of the query's idf, 0 to 1, that the best hits together explain. A word that no tool says counts as the rarest
 * of all; a word said in a description counts for less than one in a name, and a synonym for half.
 */
export function fitOf(
  { concepts }: Query,
  hits: readonly Ranked[],
  { vocabulary, postings, slots }: Collection,
): number {
  let explained = 0;
  let total = 0;
  for (const [i, { term }] of concepts.entries()) {
    const id = vocabulary.ids.get(term);
    const idf = idfOf(id === undefined ? 0 : countOf(postings, id), slots.size);
    const best = Math.max(0, ...hits.slice(0, fitHits).map(({ parts }) => parts[i]!));
    explained += Math.min(best, idf);
    total += idf;
  }
  return total > 0 ? explained / total : 0;
}
