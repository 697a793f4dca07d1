/** How strongly two words of an index are associated: how often items have both. */

import { halvesOf, type TextIndex } from './text-index.ts';

/** So many items without both words count with those of the index: in a small one, another item changes little. */
const usualItems = 200;
/** Of a more frequent word, this many items are looked into, evenly spread. */
const mostSampled = 100;

/**
 * Returns how much more often than by chance items have both terms: 0 for no more often, 1 for always (normalized pointwise mutual
 * information). A single item with both is no evidence.
 */
export function associationOf(index: TextIndex, one: number, other: number): number {
  const [first, second] = [index.postings[one]!, index.postings[other]!];
  const [fewer, more, term] = first.length <= second.length ? [first, second, other] : [second, first, one];
  const step = Math.ceil(fewer.length / mostSampled);
  let [found, sampled] = [0, 0];
  for (let at = 0; at < fewer.length; at += step, sampled++) {
    if (halvesOf(index, term, fewer[at]! >> 8) > 0) found++;
  }
  const share = found / sampled;
  const items = index.ids.length + usualItems;
  const usual = more.length / items;
  return found < 2 || share <= usual ? 0 : Math.log(share / usual) / Math.log(items / (share * fewer.length));
}
