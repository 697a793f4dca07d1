/** Names in source code. */

/** Whether a word of a sentence is a name in code: it has an underscore, a capital inside, or digits between letters. */
export function looksLikeName(word: string): boolean {
  return /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(word) && /[_$]|\p{Ll}\p{Lu}|\p{L}\p{N}+\p{L}/u.test(word);
}
