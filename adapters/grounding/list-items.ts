/** Lists items by filters alone. */

import { compileFilters } from '../../src/contracts/filter.ts';
import type { GroundingRequest, SourceHit } from '../../src/contracts/grounding-source.ts';
import { plainHit, type SearchContext } from './item-engine.ts';
import { readItem, type StoredItem } from './item.ts';
import { createTurns } from '../../src/base/turns.ts';

/** An item that passes all filters is what was asked for. */
export const listedConfidence = 0.98;

/** Lists the items that pass the filters, the latest first. */
export async function listItems(
  { filters, topK }: GroundingRequest,
  { items, version, signal }: SearchContext,
): Promise<SourceHit[]> {
  const passes = compileFilters<StoredItem>(filters, readItem);
  const turns = createTurns(signal);
  const found: StoredItem[] = [];
  for (const item of items.values()) {
    await turns.next();
    if (passes(item)) found.push(item);
  }
  found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  return found.slice(0, topK).map((item) => ({
    ...plainHit(item, version),
    score: 0,
    scoreKind: 'exact',
    confidence: listedConfidence,
    matched: [],
  }));
}
