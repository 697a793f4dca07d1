/** Some of a text around the words that were found. */

import type { Excerpt } from '../control/search-control.ts';

/** How much text stands before and behind the first word, in UTF-16 code units. */
const [before, behind] = [40, 120];

/** Returns the place with the most of the terms, and the `whole` text that it is of; nothing where none has any. */
export function excerptOf(
  texts: readonly string[],
  terms: readonly string[],
): Excerpt & { readonly whole: string } | undefined {
  const pattern = new RegExp(terms.map((term) => term.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('|'), 'giu');
  let best: { readonly whole: string; readonly at: number; readonly count: number } | undefined;
  for (const whole of texts) {
    const [first] = whole.matchAll(pattern);
    if (!first) continue;
    const near = whole.slice(first.index, first.index + behind).toLowerCase();
    const count = terms.filter((term) => near.includes(term)).length;
    if (!best || count > best.count) best = { whole, at: first.index, count };
  }
  if (!best) return undefined;
  const { whole, at } = best;
  const [from, to] = [Math.max(0, at - before), Math.min(whole.length, at + behind)];
  const text = `${from > 0 ? '…' : ''}${whole.slice(from, to).toWellFormed().replaceAll(/\s/g, ' ')}${
    to < whole.length ? '…' : ''
  }`;
  const ranges = Array.from(text.matchAll(pattern), ({ index, 0: { length } }) => [index, index + length] as const);
  return { text, ranges, whole };
}
