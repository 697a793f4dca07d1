/** The terms of an index by number, the words that became them, and which known terms a strange word may have meant. */

import { stem } from './terms.ts';
import { isHalfPair, isOneSlipAway } from './words.ts';

/** What a vocabulary knows of a word: the number of its term, and the languages that drop it. */
export interface KnownWord {
  readonly term: number;
  readonly stopMask: number;
}

/** More distinct words than a language has: further ones are not remembered, and found without slips. */
const mostWords = 500_000;

export class Vocabulary {
  readonly numbers = new Map<string, number>();
  readonly terms: string[] = [];
  /** Every word that was read, up to {@link mostWords}. */
  readonly words = new Map<string, KnownWord>();
  /** Numbers of terms by their first character and length, for words that are misspelled or not complete. */
  readonly #shapes = new Map<string, number[]>();
  /** The same of words that are not their own terms: a slip is in a word, not in its stem. */
  readonly #wordShapes = new Map<string, string[]>();
  /** How many of the terms have shapes, and the words that have none yet. */
  #shapedTerms = 0;
  #unshapedWords: string[] = [];
  readonly #maskOf: (word: string) => number;

  constructor(maskOf: (word: string) => number) {
    this.#maskOf = maskOf;
  }

  know(word: string): KnownWord {
    return this.words.get(word) ?? this.addWord(word, this.addTerm(stem(word)));
  }

  addTerm(term: string): number {
    const known = this.numbers.get(term);
    if (known !== undefined) return known;
    const number = this.terms.push(term) - 1;
    this.numbers.set(term, number);
    return number;
  }

  addWord(word: string, term: number): KnownWord {
    const known = { term, stopMask: this.#maskOf(word) };
    if (this.words.size >= mostWords) return known;
    this.words.set(word, known);
    if (this.terms[term] !== word) this.#unshapedWords.push(word);
    return known;
  }

  /** Prepares for words that are misspelled. The first such word does it too, which holds the event loop in a large index. */
  shape(): void {
    for (; this.#shapedTerms < this.terms.length; this.#shapedTerms++) {
      const term = this.terms[this.#shapedTerms]!;
      addTo(this.#shapes, shapeOf(term[0]!, term.length), this.#shapedTerms);
    }
    for (const word of this.#unshapedWords) addTo(this.#wordShapes, shapeOf(word[0]!, word.length), word);
    if (this.#unshapedWords.length > 0) this.#unshapedWords = [];
  }

  ofShape(first: string, length: number): readonly number[] {
    this.shape();
    return this.#shapes.get(shapeOf(first, length)) ?? [];
  }

  wordsOfShape(first: string, length: number): readonly string[] {
    this.shape();
    return this.#wordShapes.get(shapeOf(first, length)) ?? [];
  }
}

function shapeOf(first: string, length: number): string {
  return `${first}${length}`;
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}

/** In a shorter word, nearly every slip makes another word. */
const shortestSlip = 5;
const shortestPart = 4;
const shortestPrefix = 3;
const longestTerm = 40;
/** Of more terms than this, none is likely to be the one that was meant. */
const mostLike = 8;
const mostPairs = 100;

/** Terms in use, as an index knows them. */
interface TermsInUse {
  readonly vocabulary: Vocabulary;
  numberOf(term: string): number | undefined;
  frequencyOf(term: number): number;
}

/** Returns the terms that an unknown word may have meant: two words written as one, or else words with one typing slip. */
export function repairsOf(index: TermsInUse, word: string): readonly string[] {
  for (let at = shortestPart; at <= word.length - shortestPart; at++) {
    const parts = [stem(word.slice(0, at)), stem(word.slice(at))];
    if (parts.every((part) => index.numberOf(part) !== undefined)) return parts;
  }
  return [...new Set([...wordSlipsOf(index, word), ...slipsOf(index, word), ...slipsOf(index, stem(word))])]
    .slice(0, mostLike);
}

/** Returns longer terms that start with the stem, none where there are too many; the pairs that have a single character. */
export function longerTerms(index: TermsInUse, start: string): readonly string[] {
  if (isHalfPair(start)) {
    return index.vocabulary.terms.filter((term, number) =>
      term.length === start.length + 1 && term.includes(start) && index.frequencyOf(number) > 0
    ).slice(0, mostPairs);
  }
  if (start.length < shortestPrefix) return [];
  const longer: string[] = [];
  for (let length = start.length + 1; length <= longestTerm; length++) {
    longer.push(...termsLike(index, { first: start[0]!, length }, (term) => term.startsWith(start)));
    if (longer.length > mostLike) return [];
  }
  return longer;
}

/** Terms that are one slip away from the word. The first letter must be right. */
function slipsOf(index: TermsInUse, word: string): readonly string[] {
  return lengthsOfSlips(word).flatMap((length) =>
    termsLike(index, { first: word[0]!, length }, (term) => isOneSlipAway(word, term))
  );
}

/** Terms of words that are one slip away from the word as it was typed, whatever their endings. */
function wordSlipsOf(index: TermsInUse, word: string): readonly string[] {
  const { vocabulary } = index;
  return lengthsOfSlips(word).flatMap((length) =>
    vocabulary.wordsOfShape(word[0]!, length).flatMap((like) => {
      const { term } = vocabulary.words.get(like)!;
      return index.frequencyOf(term) > 0 && isOneSlipAway(word, like) ? [vocabulary.terms[term]!] : [];
    })
  );
}

function lengthsOfSlips({ length }: string): readonly number[] {
  return length < shortestSlip || length > longestTerm ? [] : [length, length - 1, length + 1];
}

function termsLike(
  index: TermsInUse,
  { first, length }: { readonly first: string; readonly length: number },
  isLike: (term: string) => boolean,
): readonly string[] {
  const { terms } = index.vocabulary;
  return index.vocabulary.ofShape(first, length)
    .flatMap((number) => index.frequencyOf(number) > 0 && isLike(terms[number]!) ? [terms[number]!] : []);
}
