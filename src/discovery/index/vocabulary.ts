/** The terms of an index: text becomes terms, and terms become small numbers. */

import { BoundedMap } from '../../base/bounded-map.ts';
import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';
import { partsOf } from '../../base/language/words.ts';

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

/** Returns the words that say something. A text of nothing but stop words keeps them: a tool may be named "find". */
export function contentWords(text: string): string[] {
  const words = partsOf(text);
  const content = words.filter((word) => !stopWords.has(word));
  return content.length > 0 ? content : words;
}

/** Returns the text as terms: the stems of its content words. `onStem` receives the words that have another stem. */
export function termsOf(text: string, onStem?: (word: string, term: string) => void): string[] {
  const words = partsOf(text);
  const terms: string[] = [];
  for (const word of words) { // one look-up for each word: they take a third of the time of a build
    const term = lookUp(word);
    if (!term) continue;
    terms.push(term);
    if (term !== word) onStem?.(word, term);
  }
  return terms.length > 0 ? terms : words.map(stem);
}

/** Returns the term for a word in lower case. */
export function termOf(word: string): string {
  return lookUp(word) || stem(word);
}

/** How many words are cached with their terms. */
const mostKnown = 50_000;
const known = new BoundedMap<string, string>(mostKnown);

/** The term for a word; empty for a stop word. */
function lookUp(word: string): string {
  const found = known.get(word);
  if (found !== undefined) return found;
  const term = stopWords.has(word) ? '' : stem(word);
  known.set(word, term);
  return term;
}
