/** The terms of a text index by number, and which words of a text become terms. */

import { stem } from '../../../src/search/terms.ts';
import { languageOf, maskCount, stopMaskOf } from '../../../src/search/languages.ts';
import { visitWords } from '../../../src/search/words.ts';

/** What the index knows of a word: the number of its term, and the languages that drop it. */
export interface KnownWord {
  readonly term: number;
  readonly stopMask: number;
}

/** Terms by number. */
export interface Vocabulary {
  readonly numbers: Map<string, number>;
  readonly terms: string[];
  /** Every word that was indexed, up to {@link mostWords}. */
  readonly words: Map<string, KnownWord>;
  /** Numbers of terms by their first character and length, for words that are misspelled or not complete. */
  readonly shapes: Map<string, number[]>;
  /** The same of words that are not their own terms: a slip is in a word, not in its stem. */
  readonly wordShapes: Map<string, string[]>;
}

/** In a sequence of terms: a word that is dropped. */
export const gap = -1;

/** Creates a vocabulary without terms. */
export function createVocabulary(): Vocabulary {
  return { numbers: new Map(), terms: [], words: new Map(), shapes: new Map(), wordShapes: new Map() };
}

/** Returns the number of a term; a new term gets one. */
export function numberTerm({ numbers, terms, shapes }: Vocabulary, term: string): number {
  const known = numbers.get(term);
  if (known !== undefined) return known;
  const number = terms.push(term) - 1;
  numbers.set(term, number);
  const shape = shapeOf(term[0]!, term.length);
  const alike = shapes.get(shape);
  if (alike) alike.push(number);
  else shapes.set(shape, [number]);
  return number;
}

/** The key of terms with this first character and length. */
export function shapeOf(first: string, length: number): string {
  return `${first}${length}`;
}

/**
 * Returns the numbers of the terms of each text, in order, with gaps for the stop words of the language of all of them. Where
 * nothing would be left of a text, its stop words are terms too.
 */
export function sequencesOf(vocabulary: Vocabulary, texts: readonly string[]): number[][] {
  const counts = new Uint32Array(maskCount);
  const found = texts.map((text) => {
    const words: KnownWord[] = [];
    visitWords(text, (word) => {
      const known = knownWord(vocabulary, word);
      counts[known.stopMask]!++;
      words.push(known);
    });
    return words;
  });
  const language = languageOf(counts);
  return found.map((words) => {
    const terms = words.map(({ term, stopMask }) => stopMask & language ? gap : term);
    return terms.some((term) => term !== gap) ? terms : words.map(({ term }) => term);
  });
}

/** More distinct words than a language has: further ones are not remembered, and found without slips. */
const mostWords = 500_000;

/** Returns what the vocabulary knows of a word in lower case; a new term gets a number. */
export function knownWord(vocabulary: Vocabulary, word: string): KnownWord {
  return vocabulary.words.get(word) ?? addWord(vocabulary, word, numberTerm(vocabulary, stem(word)));
}

/** Adds a word with the number of its term. */
export function addWord({ words, wordShapes, terms }: Vocabulary, word: string, term: number): KnownWord {
  const made = { term, stopMask: stopMaskOf(word) };
  if (words.size >= mostWords) return made;
  words.set(word, made);
  if (terms[term] === word) return made;
  const shape = shapeOf(word[0]!, word.length);
  const alike = wordShapes.get(shape);
  if (alike) alike.push(word);
  else wordShapes.set(shape, [word]);
  return made;
}
