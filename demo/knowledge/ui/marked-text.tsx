import type { ComponentChildren, JSX } from 'preact';

type Range = readonly [from: number, to: number];

/** A text with highlights; its content is always plain text. */
export function MarkedText({ text, ranges }: { text: string; ranges: readonly Range[] }): JSX.Element {
  const pieces: ComponentChildren[] = [];
  let at = 0;
  for (const [from, to] of ranges.toSorted(([a], [b]) => a - b)) {
    if (from < at || to > text.length) continue;
    pieces.push(text.slice(at, from), <mark key={from}>{text.slice(from, to)}</mark>);
    at = to;
  }
  pieces.push(text.slice(at));
  return <>{pieces}</>;
}

/** Some of a text around its first marks, on a few lines. */
export function snippetOf(
  text: string,
  ranges: readonly Range[],
): { readonly text: string; readonly ranges: readonly Range[] } {
  const first = ranges[0]?.[0] ?? 0;
  const from = first > before ? startOfWord(text, first - before) : 0;
  const end = Math.min(text.length, from + length);
  const to = end < text.length
    ? Math.max(from + 1, text.lastIndexOf(' ', end) > from ? text.lastIndexOf(' ', end) : end)
    : end;
  const lead = from > 0 ? '… ' : '';
  return {
    text: `${lead}${text.slice(from, to)}${to < text.length ? ' …' : ''}`,
    ranges: ranges.filter(([start, last]) => start >= from && last <= to).map(([start, last]): Range => [
      start - from + lead.length,
      last - from + lead.length,
    ]),
  };
}

const before = 70;
const length = 260;

function startOfWord(text: string, at: number): number {
  const space = text.slice(at, at + 30).search(/\s/);
  return space < 0 ? at : at + space + 1;
}
