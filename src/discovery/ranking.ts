/**
 * How tools are ranked. Plain TF-IDF in the form that works (the words of the field: BM25F), and four rules on top.
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
 * **How much a term tells.** `idf = ln(1 + (N - n + 0.5) / (n + 0.5))` when `n` of `N` tools say it.
 *
 * **The sum.** A word of the query gives a tool `factor * idf * how much`. The word itself has factor 1, a synonym of the small
 * thesaurus 0.5, a repaired typing slip 0.8; only the best of these counts. A word that the query repeats counts
 * `1 + 0.5 * ln(times)`. The best hundred sums go on; the rules see only them.
 *
 * 1. *Phrase.* Two words side by side in the query, and side by side in name or description, add 0.35 of their idf.
 * 2. *Name.* The share of the name that the query says (by idf) adds up to 0.4 of the score: `get_weather` is a better answer to
 *    "weather" than `get_weather_station_owner`.
 * 3. *Server.* Tools of one server (`server__tool`) lift each other, by 0.4 of a half of the server's best score, a quarter of its
 *    second, and an eighth of its third. A tool without a server stands for itself.
 * 4. *Covered.* Tools are picked one by one. What a picked tool says already, counts 10 % less for those after it: a request that
 *    needs two tools finds both.
 *
 * Equal scores stand in the order of registration. Nothing is random, learnt, or asked of a network.
 */

import { type Accept, findCandidates, type Scratch } from './candidates.ts';
import { type Collection, idfOf } from './collection.ts';
import { nameTerms } from './documents.ts';
import { splitName } from './fields.ts';
import { countOf, weightOf } from './postings.ts';
import type { Alternative, Concept, Query } from './query.ts';

/** What the rules add to the sum over the words. */
export interface RuleScores {
  phrase: number;
  name: number;
  server: number;
  /** Not above zero. */
  covered: number;
}

/** A tool with its score and where it comes from. */
export interface Ranked extends RuleScores {
  readonly slot: number;
  /** What each word of the query gives. */
  readonly parts: Float64Array;
  readonly sum: number;
  score: number;
}

const phraseGain = 0.35;
const nameGain = 0.4;
const serverGain = 0.4;
const serverShares = [1 / 2, 1 / 4, 1 / 8];
const coveredLoss = 0.1;
const fewestCandidates = 100;

/** Gives the best tools for a query, best first. A smaller limit gives the beginning of the same list, up to a hundred. */
export function rank(
  query: Query,
  collection: Collection,
  { scratch, limit, accept }: { scratch: Scratch; limit: number; accept: Accept },
): Ranked[] {
  const slots = findCandidates(query, collection, { scratch, accept, limit: Math.max(limit, fewestCandidates) });
  const ranked = slots.map((slot) => toRanked(slot, query, collection));
  addPhrases(ranked, query, collection);
  addNames(ranked, query, collection);
  addServers(ranked, collection);
  return pick(ranked, collection, limit);
}

/** The alternative by which a tool says a word best, and what that gives. */
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

function toRanked(slot: number, { concepts }: Query, collection: Collection): Ranked {
  const parts = new Float64Array(concepts.length);
  let sum = 0;
  for (const [i, concept] of concepts.entries()) sum += parts[i] = bestAlternative(concept, collection, slot).value;
  return { slot, parts, sum, score: sum, phrase: 0, name: 0, server: 0, covered: 0 };
}

/** Numbers of terms stay below this, so a pair of them is one exact number. */
const pairBase = 2 ** 26;

function addPhrases(ranked: readonly Ranked[], { phrases }: Query, { documents }: Collection): void {
  if (phrases.length === 0) return;
  const idfs = new Map(phrases.map(({ first, second, idf }) => [first * pairBase + second, idf]));
  const { terms, starts, nameLengths, textLengths } = documents;
  for (const tool of ranked) {
    const start = starts[tool.slot]!;
    const nameEnd = start + nameLengths[tool.slot]!;
    const end = start + textLengths[tool.slot]!;
    const found = new Set<number>();
    for (let at = start + 1; at < end; at++) {
      if (at !== nameEnd) found.add(terms[at - 1]! * pairBase + terms[at]!);
    }
    for (const [pair, idf] of idfs) if (found.has(pair)) tool.phrase += phraseGain * idf;
    tool.score += tool.phrase;
  }
}

function addNames(ranked: readonly Ranked[], { concepts }: Query, { documents, postings, slots }: Collection): void {
  const said = new Map<number, number>();
  for (const { id, factor } of concepts.flatMap(({ alternatives }) => alternatives)) {
    said.set(id, Math.max(said.get(id) ?? 0, Math.min(1, factor)));
  }
  for (const tool of ranked) {
    let covered = 0;
    let total = 0;
    for (const term of nameTerms(documents, tool.slot)) {
      const idf = idfOf(countOf(postings, term), slots.size);
      covered += idf * (said.get(term) ?? 0);
      total += idf;
    }
    tool.name = total > 0 ? (nameGain * tool.score * covered) / total : 0;
    tool.score += tool.name;
  }
}

function addServers(ranked: readonly Ranked[], { documents: { tools } }: Collection): void {
  const serverOf = ({ slot }: Ranked): string => splitName(tools[slot]!.name).server || `__${slot}`;
  const servers = Map.groupBy(ranked, serverOf);
  for (const members of servers.values()) {
    const scores = members.map(({ score }) => score).sort((a, b) => b - a);
    const lift = serverShares.reduce((sum, share, i) => sum + share * (scores[i] ?? 0), 0) * serverGain;
    for (const tool of members) {
      tool.server = lift;
      tool.score += lift;
    }
  }
}

/** Picks the best, lowers what it covers in all others, and so on. */
function pick(ranked: readonly Ranked[], { documents: { orders } }: Collection, limit: number): Ranked[] {
  const left = ranked.toSorted((a, b) => orders[a.slot]! - orders[b.slot]!);
  const full = new Map(left.map((tool) => [tool, tool.score]));
  const kept = new Float64Array(ranked[0]?.parts.length ?? 0).fill(1);
  const picked: Ranked[] = [];
  while (picked.length < limit && left.length > 0) {
    const best = left.reduce((a, b) => (b.score > a.score ? b : a));
    left.splice(left.indexOf(best), 1);
    picked.push(best);
    for (const [i, part] of best.parts.entries()) if (part > 0) kept[i]! *= 1 - coveredLoss;
    for (const tool of left) lower(tool, { full: full.get(tool)!, kept });
  }
  return picked;
}

function lower(tool: Ranked, { full, kept }: { full: number; kept: Float64Array }): void {
  let sum = 0;
  for (let i = 0; i < kept.length; i++) sum += tool.parts[i]! * kept[i]!;
  tool.score = (full * sum) / tool.sum;
  tool.covered = tool.score - full;
}
