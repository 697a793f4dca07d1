/** The terms of an index: text becomes terms, and terms become small numbers. */

import { stem } from './stem.ts';
import { stopWords } from './stop-words.ts';
import { wordsOf } from './words.ts';

/** Numbers terms. A term that no tool says any more gives its number back. */
export interface Vocabulary {
  /** The number of a term that some tool says. */
  id(term: string): number | undefined;
  /** The number of a term, a new one when it has none. */
  intern(term: string): number;
  /** Forgets the term with this number. */
  release(id: number): void;
  /** All terms by number; empty text where a number is free. */
  readonly terms: readonly string[];
}

/** Makes a vocabulary with nothing in it. */
export function createVocabulary(): Vocabulary {
  const ids = new Map<string, number>();
  const terms: string[] = [];
  const free: number[] = [];
  return {
    terms,
    id: (term) => ids.get(term),
    intern(term) {
      const known = ids.get(term);
      if (known !== undefined) return known;
      const id = free.pop() ?? terms.length;
      ids.set(term, id);
      terms[id] = term;
      return id;
    },
    release(id) {
      ids.delete(terms[id]!);
      terms[id] = '';
      free.push(id);
    },
  };
}

/** Gives the words that say something. A text of nothing but stop words keeps them: a tool may be named "find". */
export function contentWords(text: string): string[] {
  const words = wordsOf(text);
  const content = words.filter((word) => !stopWords.has(word));
  return content.length > 0 ? content : words;
}

/** Gives the text as terms: the stems of its words. */
export function termsOf(text: string): string[] {
  const terms = contentWords(text);
  for (const [i, word] of terms.entries()) terms[i] = termOf(word);
  return terms;
}

/** Stems are looked up again and again; what is kept of them is bounded. */
const stems = new Map<string, string>();
const mostStems = 50_000;
/** No name of anything is longer; a "word" of a megabyte is not worth its memory. */
const longestWord = 64;

/** Gives the term for a word in lower case. */
export function termOf(word: string): string {
  if (word.length > longestWord) return word.slice(0, longestWord);
  const known = stems.get(word);
  if (known !== undefined) return known;
  if (stems.size >= mostStems) stems.clear();
  const term = stem(word);
  stems.set(word, term);
  return term;
}
