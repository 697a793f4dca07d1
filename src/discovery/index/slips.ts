/** Words of the index that are one typing slip away from a word. */

import { isOneSlipAway } from '../../search/words.ts';

/** In shorter words, nearly every typo makes another word. */
const shortestWord = 5;
const longestWord = 24;

/** Returns those of the terms that are one slip away from a word. Its first letter must be right. */
export function slipsOf(word: string, terms: Iterable<string>): string[] {
  if (word.length < shortestWord || word.length > longestWord) return [];
  const found: string[] = [];
  const first = word.charCodeAt(0);
  for (const term of terms) {
    if (Math.abs(term.length - word.length) > 1 || term.charCodeAt(0) !== first) continue;
    if (isOneSlipAway(word, term)) found.push(term);
  }
  return found;
}
