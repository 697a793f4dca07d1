/** What was probably meant by a word that is not known. */

/** How to suggest. */
export interface SuggestOptions {
  readonly limit?: number;
  /** What else a candidate is called; the candidate itself, when absent. */
  readonly namesOf?: (candidate: string) => readonly string[];
}

const longestWord = 64;

/** Returns the candidates that are spelled most like the word, the nearest first; none when nothing is near. */
export function suggest(
  word: string,
  candidates: Iterable<string>,
  { limit = 3, namesOf = (candidate) => [candidate] }: SuggestOptions = {},
): string[] {
  const wanted = word.slice(0, longestWord).toLowerCase();
  const near: { candidate: string; distance: number }[] = [];
  for (const candidate of candidates) {
    const distance = Math.min(...namesOf(candidate).map((name) => distanceOf(wanted, name.toLowerCase())));
    if (distance <= Math.max(1, Math.floor(wanted.length / 3))) near.push({ candidate, distance });
  }
  const least = Math.min(...near.map(({ distance }) => distance));
  return near
    .filter(({ distance }) => distance <= least + 1)
    .toSorted((a, b) => a.distance - b.distance)
    .slice(0, limit)
    .map(({ candidate }) => candidate);
}

/** How many letters have to be added, dropped or replaced; half of one when only an end is missing. */
function distanceOf(a: string, b: string): number {
  if (a.length > 2 && b.startsWith(a)) return 0.5;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = at(row, j - 1) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(replaced, at(row, j) + 1, at(next, j - 1) + 1));
    }
    row = next;
  }
  return at(row, b.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Infinity;
}
