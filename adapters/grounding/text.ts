/** Full text in any script: words by their rarity, their stems and what else says the same. */

import { filterOps } from '../../src/contracts/filter.ts';
import { createItemSource, type ItemSource, type ItemSourceOptions } from './item-source.ts';
import { createTextEngine } from './text/text-engine.ts';

/**
 * Returns a source that finds items by their words. Stop words of English, German, French and Spanish are dropped, English words are
 * stemmed, and a word that no item has is tried as a longer word, a typing slip or a compound.
 *
 * @example
 * const handbook = textSource({ id: 'handbook', storage });
 * await handbook.remember({ tenant: 'local', items: [{ text: 'Trips are booked by the office.' }] }, signal);
 */
export function textSource(options: ItemSourceOptions): ItemSource {
  return createItemSource(options, {
    kind: 'search',
    capabilities: { query: true, embedding: false, filters: filterOps, records: false },
    createEngine: createTextEngine,
  });
}
