/** Reads a query: its terms, their alternatives, and which are adjacent. */

import { type Collection, idfOf } from './collection.ts';
import { countOf } from './postings.ts';
import { slipsOf } from './slips.ts';
import type { Thesaurus } from '../../search/thesaurus.ts';
import { contentWords, termOf } from '../../search/terms.ts';
import { partsOf } from '../../search/words.ts';

/** A term of the index that answers a word of the query. */
export interface Alternative {
  readonly id: number;
  readonly term: string;
  readonly idf: number;
  /** What a mention counts: 1 for the word itself and less for a synonym, more when the query repeats itself. */
  readonly factor: number;
}

/** One word of the query; a tool gets the best of its alternatives. */
export interface Concept {
  readonly term: string;
  /** As the query has it first, in lower case. */
  readonly word: string;
  readonly alternatives: readonly Alternative[];
}

/** Two words that follow each other in the query. */
export interface Phrase {
  readonly first: number;
  readonly second: number;
  readonly idf: number;
}

/** A query as the ranking sees it. */
export interface Query {
  readonly concepts: readonly Concept[];
  readonly phrases: readonly Phrase[];
  /** The places of the concepts in each clause that has some; none when the query is a single clause. */
  readonly clauses: readonly (readonly number[])[];
}

/** Bounds on a query from a stranger; no request of a person comes near. */
const longestQuery = 8192;
const mostConcepts = 64;
const mostClauses = 32;
/** In longer queries an unknown word is a name or a number rather than a slip. */
const longestRepaired = 6;
/** What a word counts that was made of a typing slip or of two. */
const repairFactor = 0.8;
/** What a word gains that the query says again, per logarithm of how often. */
const repetitionGain = 0.5;

/** Reads the text of a query against the terms of the collection. */
export function readQuery(text: string, collection: Collection, thesaurus: Thesaurus): Query {
  const words = contentWords(text.slice(0, longestQuery));
  const terms = words.map(termOf);
  const counts = new Map<string, number>();
  for (const term of terms) counts.set(term, (counts.get(term) ?? 0) + 1);
  const joined = joinedWords(words, collection);
  const isShort = words.length <= longestRepaired;
  const concepts = [...counts].slice(0, mostConcepts).map(([term, count]): Concept => {
    const repetition = 1 + repetitionGain * Math.log(count);
    const weights = new Map([[term, 1], ...synonymsOf(term, { thesaurus, counts }), ...(joined.get(term) ?? [])]);
    const alternatives = toAlternatives(weights, { collection, repetition });
    const word = words[terms.indexOf(term)]!;
    if (alternatives.length > 0 || !isShort) return { term, word, alternatives };
    return { term, word, alternatives: toAlternatives(repair(word, collection), { collection, repetition }) };
  });
  return { concepts, phrases: phrasesOf(terms, collection), clauses: clausesOf(text.slice(0, longestQuery), concepts) };
}

/** Synonyms that the query does not itself say. */
function synonymsOf(
  term: string,
  { thesaurus, counts }: { thesaurus: Thesaurus; counts: ReadonlyMap<string, number> },
): [string, number][] {
  return [...thesaurus.get(term) ?? []].filter(([synonym]) => !counts.has(synonym));
}

/** "screen shot" also matches "screenshot": known words by the term of their first part. */
function joinedWords(words: readonly string[], { vocabulary }: Collection): Map<string, [string, number][]> {
  const joined = new Map<string, [string, number][]>();
  for (const [i, word] of words.slice(0, -1).entries()) {
    const term = termOf(`${word}${words[i + 1]}`);
    if (vocabulary.ids.get(term) !== undefined) joined.set(termOf(word), [[term, repairFactor]]);
  }
  return joined;
}

/** What an unknown word may have meant: two known words written as one, or a word with one typing slip. */
function repair(word: string, { vocabulary }: Collection): Map<string, number> {
  const meant: string[] = [];
  for (let i = 3; i <= word.length - 3; i++) {
    const parts = [termOf(word.slice(0, i)), termOf(word.slice(i))];
    if (parts.every((part) => vocabulary.ids.get(part) !== undefined)) meant.push(...parts);
  }
  if (meant.length === 0) {
    for (const written of new Set([word, termOf(word)])) meant.push(...slipsOf(written, vocabulary.terms));
    for (const like of slipsOf(word, vocabulary.words.keys())) meant.push(vocabulary.words.get(like)!);
  }
  return new Map(meant.map((term) => [term, repairFactor]));
}

/** Another word counts no more than the word itself, however rare it is: "ticket" must not find bugs before tickets. */
function toAlternatives(
  asked: ReadonlyMap<string, number>,
  { collection, repetition }: { collection: Collection; repetition: number },
): Alternative[] {
  const { vocabulary, postings, slots } = collection;
  let most = Infinity;
  return [...asked].toSorted(([, one], [, other]) => other - one).flatMap(([term, factor]): Alternative[] => {
    const id = vocabulary.ids.get(term);
    if (id === undefined) return [];
    const idf = Math.min(most, idfOf(countOf(postings, id), slots.size));
    if (factor === 1) most = idf;
    return [{ id, term, factor: factor * repetition, idf }];
  });
}

/** A dot or comma within a number, an address or a name does not end a clause. */
const clauseEnd = /[.?!;:,](?=\s|$)|\n|\b(?:and|also|after|before|but|or|plus|then)\b/i;

function clausesOf(text: string, concepts: readonly Concept[]): readonly (readonly number[])[] {
  const places = new Map(concepts.map(({ term }, place) => [term, place]));
  const clauses = text.split(clauseEnd, mostClauses).map((clause) => {
    return [...new Set(partsOf(clause).flatMap((word) => places.get(termOf(word)) ?? []))];
  }).filter((clause) => clause.length > 0);
  return clauses.length > 1 ? clauses : [];
}

function phrasesOf(terms: readonly string[], { vocabulary, postings, slots }: Collection): Phrase[] {
  const phrases = new Map<string, Phrase>();
  for (const [i, term] of terms.slice(0, mostConcepts).entries()) {
    const [first, second] = [vocabulary.ids.get(term), vocabulary.ids.get(terms[i + 1] ?? '')];
    if (first === undefined || second === undefined) continue;
    const idf = idfOf(countOf(postings, first), slots.size) + idfOf(countOf(postings, second), slots.size);
    phrases.set(`${first} ${second}`, { first, second, idf });
  }
  return [...phrases.values()];
}
