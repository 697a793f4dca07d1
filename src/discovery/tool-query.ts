/** Reads a query for tools: its words with what else says the same, its clauses, and which words are side by side. */

import { type Alternative, alternativesOf, type Concept, rarityOf } from '../search/ranking.ts';
import type { Reading, SearchIndex } from '../search/search-index.ts';
import { englishStopWords, stem } from '../search/terms.ts';
import type { Thesaurus } from '../search/thesaurus.ts';
import { repairsOf } from '../search/vocabulary.ts';
import { partsOf, visitParts } from '../search/words.ts';

/** Two words that follow each other in the query. */
export interface Phrase {
  readonly first: number;
  readonly second: number;
  readonly idf: number;
}

/** A query as the ranking sees it. */
export interface ToolQuery {
  readonly concepts: readonly Concept[];
  readonly phrases: readonly Phrase[];
  /** The places of the concepts in each clause that has some; none when the query is a single clause. */
  readonly clauses: readonly (readonly number[])[];
}

/** What requests for tools say besides: no tool is about it. */
const requestFillers = 'find help look provide s show';

const stopWords: ReadonlySet<string> = new Set(`${englishStopWords} ${requestFillers}`.split(/\s+/));

/** How the texts of tools become terms. */
export const toolReading: Reading = {
  visit: visitParts,
  maskOf: (word) => Number(stopWords.has(word)),
  languageOf: () => 1,
};

/** Bounds on a query from a stranger; no request of a person comes near. */
const longestQuery = 8192;
const mostConcepts = 64;
const mostClauses = 32;
/** In longer queries an unknown word is a name or a number rather than a slip. */
const longestRepaired = 6;
/** What a word counts that was made of a typing slip or of two. */
const repairWorth = 0.8;
/** What a word gains that the query says again, per logarithm of how often. */
const repetitionGain = 0.5;

/** Reads the text of a query against the terms of an index. */
export function readToolQuery(query: string, index: SearchIndex, thesaurus: Thesaurus): ToolQuery {
  const text = query.slice(0, longestQuery);
  const words = contentWords(text);
  const stems = words.map(stem);
  const counts = new Map<string, number>();
  for (const one of stems) counts.set(one, (counts.get(one) ?? 0) + 1);
  const joined = joinedWords(words, index);
  const total = index.live;
  const concepts = [...counts].slice(0, mostConcepts).map(([one, count]): Concept => {
    const word = words[stems.indexOf(one)]!;
    const rarity = rarityOf(index.frequencyOf(index.numberOf(one)), total);
    const synonyms = [...thesaurus.get(one) ?? []].filter(([synonym]) => !counts.has(synonym));
    const others = new Map([...synonyms, ...(joined.get(one) ?? [])]);
    const known = alternativesOf(index, [[one, 1], ...others], { rarity, total });
    const alternatives = known.length > 0 || words.length > longestRepaired ? known : repaired(word, index, rarity);
    return { word, stem: one, rarity, weight: 1 + repetitionGain * Math.log(count), alternatives };
  });
  return { concepts, phrases: phrasesOf(stems, index), clauses: clausesOf(text, concepts) };
}

/** Returns the words that say something. A text of nothing but stop words keeps them: a tool may be named "find". */
function contentWords(text: string): readonly string[] {
  const words = partsOf(text);
  const content = words.filter((word) => !stopWords.has(word));
  return content.length > 0 ? content : words;
}

/** "screen shot" also matches "screenshot": known words by the stem of their first part. */
function joinedWords(words: readonly string[], index: SearchIndex): ReadonlyMap<string, [string, number][]> {
  const joined = new Map<string, [string, number][]>();
  for (const [at, word] of words.slice(0, -1).entries()) {
    const one = stem(`${word}${words[at + 1]}`);
    if (index.numberOf(one) !== undefined) joined.set(stem(word), [[one, repairWorth]]);
  }
  return joined;
}

function repaired(word: string, index: SearchIndex, rarity: number): Alternative[] {
  const worths = repairsOf(index, word).map((term) => [term, repairWorth] as const);
  return alternativesOf(index, worths, { rarity, total: index.live });
}

/** A dot or comma within a number, an address or a name does not end a clause. */
const clauseEnd = /[.?!;:,](?=\s|$)|\n|\b(?:and|also|after|before|but|or|plus|then)\b/i;

function clausesOf(text: string, concepts: readonly Concept[]): readonly (readonly number[])[] {
  const places = new Map(concepts.map((concept, place) => [concept.stem, place]));
  const clauses = text.split(clauseEnd, mostClauses).map((clause) => {
    return [...new Set(partsOf(clause).flatMap((word) => places.get(stem(word)) ?? []))];
  }).filter((clause) => clause.length > 0);
  return clauses.length > 1 ? clauses : [];
}

function phrasesOf(stems: readonly string[], index: SearchIndex): Phrase[] {
  const phrases = new Map<string, Phrase>();
  const idf = (term: number): number => rarityOf(index.frequencyOf(term), index.live);
  for (const [at, one] of stems.slice(0, mostConcepts).entries()) {
    const [first, second] = [index.numberOf(one), index.numberOf(stems[at + 1] ?? '')];
    if (first === undefined || second === undefined) continue;
    phrases.set(`${first} ${second}`, { first, second, idf: idf(first) + idf(second) });
  }
  return [...phrases.values()];
}
