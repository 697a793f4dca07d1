/** The terms of an index: text becomes terms, and terms become small numbers. */

import { BoundedMap } from '../../base/bounded-map.ts';
import { termsOf } from '../../search/terms.ts';

/** Numbers terms. A term that no tool uses any more releases its number. */
export interface Vocabulary {
  readonly ids: Map<string, number>;
  /** All terms by number; empty text where a number is free. */
  readonly terms: string[];
  readonly free: number[];
  /** The terms of words that are not their own stems: a slip is in a word, not in its stem. */
  readonly words: BoundedMap<string, string>;
}

/** More words than tools have; the oldest are forgotten. */
const mostWords = 200_000;

/** Creates an empty vocabulary. */
export function createVocabulary(): Vocabulary {
  return { ids: new Map(), terms: [], free: [], words: new BoundedMap(mostWords) };
}

/** Returns the terms of a text by number; a term that is new gets one. */
export function numberTerms(vocabulary: Vocabulary, text: string): number[] {
  const { words } = vocabulary;
  return termsOf(text, (word, term) => void (words.has(word) || words.set(word, term)))
    .map((term) => numberTerm(vocabulary, term));
}

/** Removes the term with this number. */
export function releaseTerm({ ids, terms, free }: Vocabulary, id: number): void {
  ids.delete(terms[id]!);
  terms[id] = '';
  free.push(id);
}

function numberTerm({ ids, terms, free }: Vocabulary, term: string): number {
  const known = ids.get(term);
  if (known !== undefined) return known;
  const id = free.pop() ?? terms.length;
  ids.set(term, id);
  terms[id] = term;
  return id;
}
