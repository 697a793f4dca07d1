/** Typing slips: one letter too many, too few, another one, or two exchanged. */

import { termOf } from './vocabulary.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz';
/** In shorter words nearly every slip gives another word. */
const shortestWord = 5;
const longestWord = 24;

/** Gives the known terms that are one slip away from a word, or from its stem. */
export function slipsOf(word: string, isKnown: (term: string) => boolean): ReadonlySet<string> {
  const found = new Set<string>();
  if (word.length < shortestWord || word.length > longestWord || !/^[a-z]+$/.test(word)) return found;
  for (const written of new Set([word, termOf(word)])) {
    for (const edited of editsOf(written)) if (isKnown(edited)) found.add(edited);
  }
  return found;
}

function* editsOf(word: string): Generator<string> {
  for (let i = 0; i <= word.length; i++) {
    const [before, after] = [word.slice(0, i), word.slice(i)];
    if (after.length > 1) yield `${before}${after[1]}${after[0]}${after.slice(2)}`;
    if (after.length > 0) yield before + after.slice(1);
    for (const letter of letters) {
      yield before + letter + after;
      if (after.length > 0) yield before + letter + after.slice(1);
    }
  }
}
