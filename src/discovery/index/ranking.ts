/**
 * How tools are ranked. Plain TF-IDF in the form that works (the words of the field: BM25F), and five rules on top.
 *
 * **Words.** Names and texts are cut into words; `camelCase`, `snake_case`, `kebab-case` and `HTTPRequest` come apart, Chinese,
 * Japanese and Korean become pairs of characters. Case is dropped, stop words and the fillers of requests ("help", "please") too,
 * and what is left is stemmed (Porter). A text of stop words only keeps them.
 *
 * **How much a tool says a term.** Every mention counts the weight of its field, less in a field that is longer than usual:
 * `weight / (1 - e + e * length / usualLength)` (`fieldRules`). The sum `x` over all mentions saturates: `2.2 * x / (x + 1.2)`. The
 * usual lengths are constants, not this catalogue's averages: so what a tool says depends on nothing but the tool, and adding
 * or removing another changes none of it.
 *
 * **How distinctive a term is.** `idf = ln(1 + (N - n + 0.5) / (n + 0.5))` when `n` of `N` tools say it.
 *
 * **The sum.** A word of the query adds `factor * idf * how much` to a tool's score. The word itself has factor 1, a synonym of the small
 * thesaurus 0.5, a repaired typing slip 0.8, each with at most the idf of the word itself; only the best of these counts. A word that
 * the query repeats counts `1 + 0.5 * ln(times)`. The best hundred sums go on; the rules see only them.
 *
 * 1. *Clause.* Of a query of several clauses, each tool gains the root of the sum of the squares of what it says of each clause: a
 *    tool that says much of one clause is a better answer than one that says a little of each.
 * 2. *Phrase.* Two words side by side in the query, and side by side in name or description, add 0.35 of their idf.
 * 3. *Name.* The share of the name that the query says (by idf) adds up to 0.4 of the score: `get_weather` is a better answer to
 *    "weather" than `get_weather_station_owner`.
 * 4. *Server.* Tools of one server (`server__tool`) lift each other, by 0.8 of a half of the server's best score, a quarter of its
 *    second, and an eighth of its third. A tool without a server is its own group.
 * 5. *Covered.* Tools are picked one by one. What a picked tool says already, counts 10 % less for those after it: a request that
 *    needs two tools finds both.
 *
 * Equal scores are in the order of registration. Nothing is random, learned, or requested from a network.
 */

import { type Accept, findCandidates, type Scratch } from './candidates.ts';
import { type Collection, idfOf } from './collection.ts';
import { countOf, weightOf } from './postings.ts';
import type { Alternative, Concept, Query } from './query.ts';

/** What the rules add to the sum over the words. */
export interface RuleScores {
  clause: number;
  phrase: number;
  name: number;
  server: number;
  /** Not above zero. */
  covered: number;
}

/** A tool with its score and where it comes from. */
export interface Ranked extends RuleScores {
  readonly slot: number;
  /** The score of each word of the query. */
  readonly parts: Float64Array;
  sum: number;
  score: number;
}

const clauseGain = 1;
const phraseGain = 0.35;
/** What a name gains that the query says as a whole, beside the score of its words. */
const nameGain = 0.4;
const serverGain = 0.8;
const serverShares = [1 / 2, 1 / 4, 1 / 8];
const coveredLoss = 0.1;
const fewestCandidates = 100;

/** Returns the best tools for a query, best first. A smaller limit returns the start of the same list, up to a hundred. */
export function rank(
  query: Query,
  collection: Collection,
  { scratch, limit, accept }: { scratch: Scratch; limit: number; accept: Accept },
): Ranked[] {
  const slots = findCandidates(query, collection, { scratch, accept, limit: Math.max(limit, fewestCandidates) });
  const ranked = slots.map((slot) => toRanked(slot, query));
  addWords(ranked, query, { collection, places: scratch.places });
  addClauses(ranked, query);
  addPhrases(ranked, query, collection);
  addNames(ranked, query, collection);
  addServers(ranked, collection);
  return pick(ranked, { query, collection, limit });
}

/** The alternative by which a tool matches a word best, and its score. */
export function bestAlternative(
  { alternatives }: Concept,
  { postings }: Collection,
  slot: number,
): { readonly alternative: Alternative | undefined; readonly value: number } {
  let best: Alternative | undefined;
  let value = 0;
  for (const alternative of alternatives) {
    const { id, idf, factor } = alternative;
    const found = factor * idf * weightOf(postings, { term: id, slot });
    if (found > value) [best, value] = [alternative, found];
  }
  return { alternative: best, value };
}

function toRanked(slot: number, { concepts }: Query): Ranked {
  const parts = new Float64Array(concepts.length);
  return { slot, parts, sum: 0, score: 0, clause: 0, phrase: 0, name: 0, server: 0, covered: 0 };
}

/** Looking a tool up among this many is as quick as passing over all of them. */
const passedPerLookUp = 16;

/** Fills in the score of each word for each tool. */
function addWords(
  ranked: readonly Ranked[],
  { concepts }: Query,
  { collection: { postings }, places }: { collection: Collection; places: Int32Array },
): void {
  for (const [place, { slot }] of ranked.entries()) places[slot] = place + 1;
  for (const [i, { alternatives }] of concepts.entries()) {
    for (const alternative of alternatives) {
      if (countOf(postings, alternative.id) > ranked.length * passedPerLookUp) lookUp(alternative, i);
      else passOver(alternative, i);
    }
  }
  for (const tool of ranked) {
    places[tool.slot] = 0;
    tool.score = tool.sum = tool.parts.reduce((sum, part) => sum + part, 0);
  }

  function lookUp({ id, factor, idf }: Alternative, i: number): void {
    for (const tool of ranked) raise(tool.parts, i, factor * idf * weightOf(postings, { term: id, slot: tool.slot }));
  }

  function passOver({ id, factor, idf }: Alternative, i: number): void {
    const { slots, weights, starts, counts } = postings;
    const end = starts[id]! + counts[id]!;
    for (let at = starts[id]!; at < end; at++) {
      const place = places[slots[at]!]!;
      if (place > 0) raise(ranked[place - 1]!.parts, i, factor * idf * weights[at]!);
    }
  }
}

/** A word counts by its best alternative only. */
function raise(parts: Float64Array, i: number, value: number): void {
  if (value > parts[i]!) parts[i] = value;
}

function addClauses(ranked: readonly Ranked[], { clauses }: Query): void {
  for (const tool of ranked) tool.score += tool.clause = clauseScore(tool.parts, clauses);
}

function clauseScore(parts: Float64Array, clauses: Query['clauses']): number {
  let squares = 0;
  for (const clause of clauses) {
    let sum = 0;
    for (const place of clause) sum += parts[place]!;
    squares += sum * sum;
  }
  return clauseGain * Math.sqrt(squares);
}

function addPhrases(
  ranked: readonly Ranked[],
  { phrases }: Query,
  { documents: { terms, starts, nameLengths, textLengths } }: Collection,
): void {
  for (const tool of ranked) {
    const start = starts[tool.slot]!;
    const description = start + nameLengths[tool.slot]!;
    const end = start + textLengths[tool.slot]!;
    for (const { first, second, idf } of phrases) {
      for (let at = start + 1; at < end; at++) {
        if (terms[at] !== second || terms[at - 1] !== first || at === description) continue;
        tool.phrase += phraseGain * idf;
        break;
      }
    }
    tool.score += tool.phrase;
  }
}

function addNames(ranked: readonly Ranked[], { concepts }: Query, collection: Collection): void {
  const said = new Map<number, number>();
  for (const { alternatives } of concepts) {
    for (const { id, factor } of alternatives) said.set(id, Math.max(said.get(id) ?? 0, Math.min(1, factor)));
  }
  for (const tool of ranked) {
    tool.name = nameGain * tool.score * shareSaid(tool.slot, said, collection);
    tool.score += tool.name;
  }
}

/** The share of a tool's name that the query says, by idf; a word that the name repeats counts once. */
function shareSaid(slot: number, said: ReadonlyMap<number, number>, collection: Collection): number {
  const { documents: { terms, starts, nameLengths }, postings, slots } = collection;
  const start = starts[slot]!;
  const end = start + nameLengths[slot]!;
  let share = 0;
  let total = 0;
  for (let at = start; at < end; at++) {
    const term = terms[at]!;
    if (terms.indexOf(term, start) < at) continue;
    const idf = idfOf(countOf(postings, term), slots.size);
    share += idf * (said.get(term) ?? 0);
    total += idf;
  }
  return total > 0 ? share / total : 0;
}

function addServers(ranked: readonly Ranked[], { documents: { servers } }: Collection): void {
  const groups = Map.groupBy(ranked, ({ slot }) => servers[slot] || slot); // a tool without a server is alone
  for (const members of groups.values()) {
    const scores = members.map(({ score }) => score).toSorted((a, b) => b - a);
    const lift = serverShares.reduce((sum, share, i) => sum + share * (scores[i] ?? 0), 0) * serverGain;
    for (const tool of members) {
      tool.server = lift;
      tool.score += lift;
    }
  }
}

/** Picks the best, lowers what it covers in all others, and so on; beyond the hundredth the order stays as it then is. */
function pick(
  ranked: readonly Ranked[],
  { query: { concepts, clauses }, collection: { documents: { orders } }, limit }: {
    query: Query;
    collection: Collection;
    limit: number;
  },
): Ranked[] {
  const left = ranked.toSorted((a, b) => orders[a.slot]! - orders[b.slot]!);
  const factors = new Float64Array(concepts.length).fill(1);
  const lowered = new Float64Array(concepts.length);
  const picked: Ranked[] = [];
  while (picked.length < Math.min(limit, fewestCandidates) && left.length > 0) {
    const best = left.reduce((a, b) => (b.score > a.score ? b : a));
    left.splice(left.indexOf(best), 1);
    picked.push(best);
    for (const [i, part] of best.parts.entries()) if (part > 0) factors[i]! *= 1 - coveredLoss;
    for (const tool of left) lower(tool, { factors, lowered, clauses });
  }
  const more = limit - picked.length;
  return more > 0 ? [...picked, ...left.toSorted((a, b) => b.score - a.score).slice(0, more)] : picked;
}

function lower(
  tool: Ranked,
  { factors, lowered, clauses }: { factors: Float64Array; lowered: Float64Array; clauses: Query['clauses'] },
): void {
  const full = tool.sum + tool.clause + tool.phrase + tool.name + tool.server;
  let sum = 0;
  for (let i = 0; i < lowered.length; i++) sum += lowered[i] = tool.parts[i]! * factors[i]!;
  tool.score = (full * (sum + clauseScore(lowered, clauses))) / (tool.sum + tool.clause);
  tool.covered = tool.score - full;
}
