/** Selects the part of a hit's text to show: the one with the most matches. */

/** A part of a text. Ranges are in UTF-16 code units of the part. */
export interface Excerpt {
  readonly content: string;
  /** Where the part is in the text; absent if it is the whole text. */
  readonly contentRange?: readonly [number, number];
  readonly ranges: readonly (readonly [number, number])[];
}

/** Returns at most `most` code units of the text, from a line's or a word's beginning before the densest matches. */
export function excerptOf(
  text: string,
  ranges: readonly (readonly [number, number])[],
  { most = 2_000 }: { readonly most?: number } = {},
): Excerpt {
  if (text.length <= most) return { content: text, ranges };
  const from = beginningBefore(text, densest(ranges, most));
  const to = endBefore(text, Math.min(text.length, from + most));
  const inside = ranges.filter(([start, end]) => start >= from && end <= to);
  return {
    content: text.slice(from, to),
    contentRange: [from, to],
    ranges: inside.map(([start, end]) => [start - from, end - from]),
  };
}

/** The start of the window with the most matches. */
function densest(ranges: readonly (readonly [number, number])[], most: number): number {
  let [best, bestCount, first] = [0, 0, 0];
  for (let last = 0; last < ranges.length; last++) {
    while (ranges[last]![1] - ranges[first]![0] > most * 0.8) first++;
    if (last - first + 1 > bestCount) [best, bestCount] = [ranges[first]![0], last - first + 1];
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
