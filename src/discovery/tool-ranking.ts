/**
 * How tools are ranked: BM25 over their fields, as `src/search/ranking.ts` adds it up, and five rules on top.
 *
 * **Words.** Names and texts are cut into words; `camelCase`, `snake_case`, `kebab-case` and `HTTPRequest` come apart, Chinese,
 * Japanese and Korean become pairs of characters. Case is dropped, stop words and the fillers of requests ("help", "please") too,
 * and what is left is stemmed (Porter). A text of stop words only keeps them.
 *
 * **How much a tool says a term.** Every mention counts the weight of its field, less in a field that is longer than usual:
 * `weight / (1 - e + e * length / usualLength)` (`toolFields`). The sum `x` over all mentions saturates: `2.2 * x / (x + 1.2)`. The
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

import {
  type Answer,
  answersOf,
  bestSlots,
  giveBack,
  rarityOf,
  type Saturation,
  sumsAtOnce,
} from '../search/ranking.ts';
import { fieldEnd, gap, type SearchIndex } from '../search/search-index.ts';
import type { IndexedTool } from './tool-fields.ts';
import type { ToolQuery } from './tool-query.ts';

/** Whether a tool may be found. */
export type Accept = (tool: IndexedTool) => boolean;

/** An index with what belongs to its slots. */
export interface ToolCollection {
  readonly index: SearchIndex;
  readonly tools: (IndexedTool | undefined)[];
  /** Grows with every registration: equal scores are in this order. */
  readonly orders: number[];
}

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
  readonly words: Float64Array;
  sum: number;
  score: number;
}

const saturation: Saturation = { gain: 1.2, half: 1.2, halfPerLength: 0 };
const clauseGain = 1;
const phraseGain = 0.35;
/** What a name gains that the query says as a whole, beside the score of its words. */
const nameGain = 0.4;
const serverGain = 0.8;
const serverShares = [1 / 2, 1 / 4, 1 / 8];
const coveredLoss = 0.1;
const fewestCandidates = 100;

/** Returns the best tools for a query, best first. A smaller limit returns the start of the same list, up to a hundred. */
export function rankTools(
  query: ToolQuery,
  collection: ToolCollection,
  { limit, accept }: { readonly limit: number; readonly accept: Accept },
): Ranked[] {
  const { index, tools, orders } = collection;
  const sums = sumsAtOnce(index, query.concepts, saturation);
  const slots = bestSlots(index, sums, {
    most: Math.max(limit, fewestCandidates),
    before: (a, b) => orders[a]! < orders[b]!,
    passes: (slot) => accept(tools[slot]!),
  });
  const ranked = slots.map((slot) => toRanked(slot, query));
  addWords(ranked, query, { index, places: sums.best });
  giveBack(index, sums);
  for (const tool of ranked) tool.score += tool.clause = clauseScore(tool.words, query.clauses);
  addPhrases(ranked, query, index);
  addNames(ranked, query, index);
  addServers(ranked, index);
  return pick(ranked, { query, orders, limit });
}

/** Returns by which term a tool matches each word of the query best, and the score of the word. */
export function toolAnswers(
  { concepts }: ToolQuery,
  index: SearchIndex,
  slot: number,
): readonly (Answer | undefined)[] {
  return answersOf(index, concepts, { slot, saturation }).map((answer, at) =>
    answer && { ...answer, value: concepts[at]!.weight * answer.value }
  );
}

function toRanked(slot: number, { concepts }: ToolQuery): Ranked {
  const words = new Float64Array(concepts.length);
  return { slot, words, sum: 0, score: 0, clause: 0, phrase: 0, name: 0, server: 0, covered: 0 };
}

/** Looking a tool up among this many is as quick as passing over all of them. */
const passedPerLookUp = 16;

/** Fills in the score of each word for each tool. `places` has a number for each slot, all zero before and after. */
function addWords(
  ranked: readonly Ranked[],
  { concepts }: ToolQuery,
  { index, places }: { readonly index: SearchIndex; readonly places: Float64Array },
): void {
  for (const [place, { slot }] of ranked.entries()) places[slot] = place + 1;
  for (const [at, { alternatives, weight }] of concepts.entries()) {
    for (const { term, worth, rarity } of alternatives) {
      const full = weight * worth * rarity * (saturation.gain + 1);
      const isLong = index.postings[term]!.length > ranked.length * passedPerLookUp;
      if (isLong) { for (const { slot, words } of ranked) raise(words, at, valueOf(full, index.weightOf(term, slot))); }
      else passOver(ranked, { at, term, full, index, places });
    }
  }
  for (const tool of ranked) {
    places[tool.slot] = 0;
    tool.score = tool.sum = tool.words.reduce((sum, value) => sum + value, 0);
  }
}

function passOver(
  ranked: readonly Ranked[],
  { at, term, full, index, places }: {
    readonly at: number;
    readonly term: number;
    readonly full: number;
    readonly index: SearchIndex;
    readonly places: Float64Array;
  },
): void {
  const { rules: { step, steps }, postings } = index;
  const list = postings[term]!;
  for (let i = 0; i < list.length; i++) {
    const posting = list[i]!;
    const slot = Math.floor(posting / steps);
    const place = places[slot]!;
    if (place > 0) raise(ranked[place - 1]!.words, at, valueOf(full, (posting - slot * steps) * step));
  }
}

function valueOf(full: number, said: number): number {
  return (full * said) / (said + saturation.half);
}

/** A word counts by its best alternative only. */
function raise(words: Float64Array, at: number, value: number): void {
  if (value > words[at]!) words[at] = value;
}

function clauseScore(words: Float64Array, clauses: ToolQuery['clauses']): number {
  let squares = 0;
  for (const clause of clauses) {
    let sum = 0;
    for (const place of clause) sum += words[place]!;
    squares += sum * sum;
  }
  return clauseGain * Math.sqrt(squares);
}

function addPhrases(ranked: readonly Ranked[], { phrases }: ToolQuery, { sequences }: SearchIndex): void {
  if (phrases.length === 0) return;
  const seconds = new Set(phrases.map(({ second }) => second));
  for (const tool of ranked) {
    for (const idf of saidIn(sequences[tool.slot]!, phrases, seconds)) tool.phrase += phraseGain * idf;
    tool.score += tool.phrase;
  }
}

/** The idfs of the phrases that name or description say, the first two fields. */
function saidIn(
  sequence: Int32Array,
  phrases: ToolQuery['phrases'],
  seconds: ReadonlySet<number>,
): readonly number[] {
  const said: number[] = [];
  const done = new Set<number>();
  let [fields, before] = [0, gap];
  for (let at = 0; fields < 2; at++) {
    const term = sequence[at]!;
    if (term === gap) continue;
    if (term === fieldEnd) fields++;
    else if (seconds.has(term)) {
      for (const [i, { first, second, idf }] of phrases.entries()) {
        if (second !== term || first !== before || done.has(i)) continue;
        said.push(idf);
        done.add(i);
      }
    }
    before = term;
  }
  return said;
}

function addNames(ranked: readonly Ranked[], { concepts }: ToolQuery, index: SearchIndex): void {
  const said = new Map<number, number>();
  for (const { alternatives } of concepts) {
    for (const { term, worth } of alternatives) said.set(term, Math.max(said.get(term) ?? 0, worth));
  }
  for (const tool of ranked) {
    tool.name = nameGain * tool.score * shareSaid(tool.slot, said, index);
    tool.score += tool.name;
  }
}

/** The share of a tool's name that the query says, by idf; a word that the name repeats counts once. */
function shareSaid(slot: number, said: ReadonlyMap<number, number>, index: SearchIndex): number {
  const sequence = index.sequences[slot]!;
  let [share, total] = [0, 0];
  for (let at = 0; sequence[at] !== fieldEnd; at++) {
    const term = sequence[at]!;
    if (term === gap || sequence.indexOf(term) < at) continue;
    const idf = idfOf(index, term);
    share += idf * (said.get(term) ?? 0);
    total += idf;
  }
  return total > 0 ? share / total : 0;
}

/** A tool without a server is alone. */
function addServers(ranked: readonly Ranked[], { groups, groupNames }: SearchIndex): void {
  const servers = Map.groupBy(ranked, ({ slot }) => groupNames[groups[slot]!] || slot);
  for (const members of servers.values()) {
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
  { query: { concepts, clauses }, orders, limit }: {
    readonly query: ToolQuery;
    readonly orders: readonly number[];
    readonly limit: number;
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
    for (const [i, value] of best.words.entries()) if (value > 0) factors[i]! *= 1 - coveredLoss;
    for (const tool of left) lower(tool, { factors, lowered, clauses });
  }
  const more = limit - picked.length;
  return more > 0 ? [...picked, ...left.toSorted((a, b) => b.score - a.score).slice(0, more)] : picked;
}

function lower(
  tool: Ranked,
  { factors, lowered, clauses }: { factors: Float64Array; lowered: Float64Array; clauses: ToolQuery['clauses'] },
): void {
  const full = tool.sum + tool.clause + tool.phrase + tool.name + tool.server;
  let sum = 0;
  for (let i = 0; i < lowered.length; i++) sum += lowered[i] = tool.words[i]! * factors[i]!;
  tool.score = (full * (sum + clauseScore(lowered, clauses))) / (tool.sum + tool.clause);
  tool.covered = tool.score - full;
}

/** How distinctive a term is among the tools. */
function idfOf(index: SearchIndex, term: number): number {
  return rarityOf(index.frequencyOf(term), index.live);
}

/** Below this probability, `tool_find` says that probably nothing fits. */
export const lowFit = 0.23;

/** So many hits must be ranked to estimate the fit; the last of them stands for the crowd. */
export const fittingHits = 30;

/**
 * Returns the probability that a tool fits the query, 0 to 1, from the best {@link fittingHits} hits. The weights of the logistic
 * model were fitted to the development requests with and without a tool in catalogs of 10 to 5,007 tools. The docs state its errors
 * on requests and catalogs that it was not fitted to.
 */
export function fitOf({ concepts }: ToolQuery, hits: readonly Ranked[], index: SearchIndex): number {
  const [best] = hits;
  if (!best) return 0;
  const { live: size } = index;
  let [all, missed, lost] = [0, 0, 0]; // idf of all words, of what the best tool does not say, of the words that no tool says
  const words = concepts.map(({ stem, rarity: idf, alternatives }, i): Word => {
    all += idf;
    missed += idf - Math.min(best.words[i]!, idf);
    if (index.numberOf(stem) === undefined) lost += idf;
    const sayers = alternatives.reduce((sum, { term }) => sum + index.frequencyOf(term), 0);
    return { idf, rarity: Math.log(size / sayers) };
  });
  const compared = hits.slice(0, fittingHits);
  const scores = compared.map(({ sum, phrase, name }) => sum + phrase + name);
  const highest = Math.max(...scores);
  const crowd = scores.length < fittingHits ? 0 : Math.min(...scores);
  const ahead = Math.log(highest / (crowd + Math.min(leastCrowd, rarityOf(0, size) / 2)));
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
  return Math.max(...hits.map(({ words: values, phrase }) => {
    let [surprise, count] = [phrase, 0];
    for (const [i, { idf, rarity }] of words.entries()) {
      if (values[i] === 0) continue;
      surprise += Math.min(1, values[i]! / idf) * rarity - Math.log((words.length - count) / (count + 1));
      count++;
    }
    return surprise;
  }));
}
