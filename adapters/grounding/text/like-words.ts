/** What a word may have meant that no item has: a longer word, one with a typing slip, or two words written as one. */

import { isOneSlipAway } from '../../../src/search/words.ts';
import { stem } from '../../../src/search/terms.ts';
import type { TextIndex } from './text-index.ts';
import { shapeOf } from './vocabulary.ts';

/** A term that is like a word. */
export interface LikeWord {
  readonly term: string;
  readonly worth: number;
}

const [prefixWorth, slipWorth, partWorth] = [0.4, 0.5, 0.5];
const shortestPrefix = 3;
const shortestSlip = 5;
const shortestPart = 4;
/** Of more terms than this, none is likely to be the one that was meant. */
const mostLike = 8;
const longestTerm = 40;

/** Returns terms that are in use and like the word. */
export function likeWords(index: TextIndex, word: string, stemmed: string): LikeWord[] {
  const parts = partsOf(index, word);
  if (parts.length > 0) return parts.map((term) => ({ term, worth: partWorth }));
  const slips = new Set([...wordSlipsOf(index, word), ...slipsOf(index, word), ...slipsOf(index, stemmed)]);
  if (slips.size > 0) return [...slips].slice(0, mostLike).map((term) => ({ term, worth: slipWorth }));
  const longer = stemmed.length >= shortestPrefix ? longerOf(index, stemmed) : [];
  return longer.length > mostLike ? [] : longer.map((term) => ({ term, worth: prefixWorth }));
}

/** Two words in use that are written as one. */
function partsOf({ vocabulary, frequencies }: TextIndex, word: string): string[] {
  const inUse = (term: string): boolean => (frequencies[vocabulary.numbers.get(term) ?? -1] ?? 0) > 0;
  for (let at = shortestPart; at <= word.length - shortestPart; at++) {
    const parts = [stem(word.slice(0, at)), stem(word.slice(at))];
    if (parts.every(inUse)) return parts;
  }
  return [];
}

function longerOf(index: TextIndex, start: string): string[] {
  const found: string[] = [];
  for (let length = start.length + 1; length <= longestTerm && found.length <= mostLike; length++) {
    found.push(...termsLike(index, { first: start[0]!, length }, (term) => term.startsWith(start)));
  }
  return found;
}

/** Terms that are one letter more, less or different, or have two exchanged. The first letter must be right. */
function slipsOf(index: TextIndex, word: string): string[] {
  if (word.length < shortestSlip || word.length > longestTerm) return [];
  const found: string[] = [];
  for (const length of [word.length, word.length - 1, word.length + 1]) {
    found.push(...termsLike(index, { first: word[0]!, length }, (term) => isOneSlipAway(word, term)));
  }
  return found;
}

/** Terms of words in use that are one slip away from the word as it was typed, whatever their endings. */
function wordSlipsOf({ vocabulary: { wordShapes, words, terms }, frequencies }: TextIndex, word: string): string[] {
  if (word.length < shortestSlip || word.length > longestTerm) return [];
  const found: string[] = [];
  for (const length of [word.length, word.length - 1, word.length + 1]) {
    for (const like of wordShapes.get(shapeOf(word[0]!, length)) ?? []) {
      const { term } = words.get(like)!;
      if ((frequencies[term] ?? 0) > 0 && isOneSlipAway(word, like)) found.push(terms[term]!);
    }
  }
  return found;
}

function termsLike(
  { vocabulary: { shapes, terms }, frequencies }: TextIndex,
  { first, length }: { readonly first: string; readonly length: number },
  isLike: (term: string) => boolean,
): string[] {
  const found: string[] = [];
  for (const number of shapes.get(shapeOf(first, length)) ?? []) {
    if ((frequencies[number] ?? 0) > 0 && isLike(terms[number]!)) found.push(terms[number]!);
  }
  return found;
}
