/** What differs between two texts, word by word. */

export interface Piece {
  readonly text: string;
  readonly isDifferent: boolean;
}

/** Both texts in pieces: what they share is the same in both. */
export interface WordDiff {
  readonly left: readonly Piece[];
  readonly right: readonly Piece[];
}

/** More words than these, between what both texts begin and end with, are shown as one difference. */
const mostWords = 1_200;

/** Compares two texts by their longest common subsequence of words. */
export function diffWords(left: string, right: string): WordDiff {
  const [a, b] = [wordsOf(left), wordsOf(right)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const [mine, theirs] = [a.slice(start, a.length - end), b.slice(start, b.length - end)];
  const isLong = mine.length > mostWords || theirs.length > mostWords;
  const shared = isLong ? new Map<number, number>() : commonWords(mine, theirs);
  const inMine = new Set(shared.keys());
  const inTheirs = new Set(shared.values());
  const pieces = (words: readonly string[], inner: readonly string[], common: ReadonlySet<number>): readonly Piece[] =>
    joined([
      ...words.slice(0, start).map((text) => ({ text, isDifferent: false })),
      ...inner.map((text, i) => ({ text, isDifferent: !common.has(i) })),
      ...words.slice(words.length - end).map((text) => ({ text, isDifferent: false })),
    ]);
  return { left: pieces(a, mine, inMine), right: pieces(b, theirs, inTheirs) };
}

function wordsOf(text: string): readonly string[] {
  return text.match(/\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
}

/** The places of the common words: those of `a`, and where they are in `b`. */
function commonWords(a: readonly string[], b: readonly string[]): ReadonlyMap<number, number> {
  const width = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const found = new Map<number, number>();
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) found.set(i++, j++);
    else if (at(i + 1, j) >= at(i, j + 1)) i++;
    else j++;
  }
  return found;
}

/** Neighbors of one kind become one piece. */
function joined(pieces: readonly Piece[]): readonly Piece[] {
  const out: Piece[] = [];
  for (const { text, isDifferent } of pieces) {
    const last = out.at(-1);
    if (last?.isDifferent === isDifferent) out[out.length - 1] = { text: last.text + text, isDifferent };
    else out.push({ text, isDifferent });
  }
  return out;
}
