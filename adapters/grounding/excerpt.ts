/** Selects the part of a hit's text to show: the one where the answer is. */

/** A part of a text. Ranges are in UTF-16 code units of the part. */
export interface Excerpt {
  readonly content: string;
  /** Where the part is in the text; absent if it is the whole text. */
  readonly contentRange?: readonly [number, number];
  readonly ranges: readonly (readonly [number, number])[];
}

/** A range of a match, with what matched and what that is worth; without them every match counts the same. */
export type MarkedRange = readonly [from: number, to: number, what?: string | undefined, worth?: number | undefined];

/** Returns at most `most` code units of the text, from a line's or a word's beginning before the matches that are worth most. */
export function excerptOf(
  text: string,
  ranges: readonly MarkedRange[],
  { most = 2_000 }: { readonly most?: number } = {},
): Excerpt {
  const plain = (by: number) => ([start, end]: MarkedRange) => [start - by, end - by] as const;
  if (text.length <= most) return { content: text, ranges: ranges.map(plain(0)) };
  const from = beginningBefore(text, bestStart(ranges, most));
  const to = endBefore(text, Math.min(text.length, from + most));
  const inside = ranges.filter(([start, end]) => start >= from && end <= to);
  return { content: text.slice(from, to), contentRange: [from, to], ranges: inside.map(plain(from)) };
}

/** A match of something that is in the window already counts this share. */
const repeatedShare = 0.1;

/** The start of the window whose matches are worth most: different ones rather than many of one. */
function bestStart(ranges: readonly MarkedRange[], most: number): number {
  let [best, bestWorth, first, worth] = [0, 0, 0, 0];
  const counts = new Map<string, number>();
  const worthOf = ([from, , what = String(from), value = 1]: MarkedRange): { what: string; value: number } => ({
    what,
    value,
  });
  for (let last = 0; last < ranges.length; last++) {
    const { what, value } = worthOf(ranges[last]!);
    const count = counts.get(what) ?? 0;
    counts.set(what, count + 1);
    worth += count === 0 ? value : repeatedShare * value;
    for (; ranges[last]![1] - ranges[first]![0] > most * 0.8; first++) {
      const gone = worthOf(ranges[first]!);
      const left = counts.get(gone.what)! - 1;
      counts.set(gone.what, left);
      worth -= left === 0 ? gone.value : repeatedShare * gone.value;
    }
    if (worth > bestWorth + 1e-9) [best, bestWorth] = [ranges[first]![0], worth];
  }
  return best;
}

function beginningBefore(text: string, at: number): number {
  const line = text.lastIndexOf('\n', Math.max(0, at - 1)) + 1;
  if (at - line <= 200) return line;
  const space = text.lastIndexOf(' ', at - 40) + 1;
  return at - space <= 200 ? space : splitSafe(text, at);
}

function endBefore(text: string, at: number): number {
  if (at === text.length) return at;
  const space = Math.max(text.lastIndexOf(' ', at), text.lastIndexOf('\n', at));
  return at - space <= 200 ? space : splitSafe(text, at);
}

/** Moves a position out of a surrogate pair. */
function splitSafe(text: string, at: number): number {
  const code = text.charCodeAt(at);
  return code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
}
