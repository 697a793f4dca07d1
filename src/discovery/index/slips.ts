/** Typing slips: one letter too many, too few, another one, or two exchanged. */

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

/** Whether what is left after the common beginning and the common end is no more than one slip. */
function isOneSlipAway(a: string, b: string): boolean {
  let start = 0;
  while (start < a.length && a.charCodeAt(start) === b.charCodeAt(start)) start++;
  let [endA, endB] = [a.length, b.length];
  while (endA > start && endB > start && a.charCodeAt(endA - 1) === b.charCodeAt(endB - 1)) {
    [endA, endB] = [endA - 1, endB - 1];
  }
  const [leftA, leftB] = [endA - start, endB - start];
  if (leftA <= 1 && leftB <= 1) return leftA + leftB > 0;
  return leftA === 2 && leftB === 2 && a[start] === b[start + 1] && a[start + 1] === b[start];
}
