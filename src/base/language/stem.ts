/** Stems of words: "listing", "listed" and "lists" become one term (M. F. Porter, 1980). */

import { stemmer } from 'stemmer';

/** Returns the stem of an English word in lower case; any other text stays as it is. */
export function stem(word: string): string {
  return /^[a-z]{3,}$/.test(word) ? stemmer(word) : word;
}
