/** An item as sources keep it, and what of it filters can read. */

import { PinnaceError } from '../../src/base/errors.ts';
import { type GroundingItem, type GroundingOrigin, readField } from '../../src/contracts/grounding-source.ts';
import { canonicalJson, checkData } from '../../src/base/json.ts';
import { sha256 } from '../../src/base/hash.ts';
import { copyOf } from '../storage/changes.ts';
import { createTurns } from '../../src/base/turns.ts';

/** A stored item. Times are milliseconds since 1970. */
export interface StoredItem {
  readonly id: string;
  readonly text: string;
  readonly title?: string;
  readonly uri: string;
  readonly path?: string;
  readonly lines?: readonly [number, number];
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly updatedAt: number;
  readonly expiresAt?: number;
}

export interface StoredRow {
  readonly item: StoredItem;
  readonly vector?: Float32Array;
}

const ownFields = ['id', 'title', 'uri', 'path', 'text', 'updatedAt'] as const;

/**
 * Reads a field for a filter: of the metadata first, since files of values have columns such as "id" and "title", then the item's
 * own. With a `$` before its name, as in `$id`, the item's own is read whatever the metadata has.
 */
export function readItem(item: StoredItem, field: string): unknown {
  const isOwn = field.startsWith('$');
  const known = isOwn ? undefined : readField(item.metadata, field);
  if (known !== undefined) return known;
  const own = ownFields.find((name) => name === (isOwn ? field.slice(1) : field));
  if (own === undefined) return isOwn ? readField(item.metadata, field) : undefined;
  return own === 'updatedAt' ? new Date(item.updatedAt).toISOString() : item[own];
}

/**
 * Returns the items in the form that is stored.
 * @throws PinnaceError `invalid_argument` if one is not an item, or two have the same id.
 */
export async function toStoredItems(
  items: readonly GroundingItem[],
  { sourceId, now, signal }: { readonly sourceId: string; readonly now: number; readonly signal: AbortSignal },
): Promise<StoredItem[]> {
  if (items.length === 0 || items.length > 1000) throw invalidItem('between 1 and 1,000 are taken at once');
  const turns = createTurns(signal);
  const stored: StoredItem[] = [];
  for (const item of items) {
    await turns.next();
    stored.push(await toStoredItem(item, { sourceId, now }));
  }
  if (new Set(stored.map(({ id }) => id)).size < stored.length && items.some(({ id }) => id !== undefined)) {
    throw invalidItem('two have the same id');
  }
  return [...new Map(stored.map((item) => [item.id, item])).values()];
}

export function originOf({ uri, path, lines, updatedAt }: StoredItem, version: string): GroundingOrigin {
  return {
    uri,
    ...(path !== undefined && { path }),
    ...(lines && { lines }),
    version,
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

async function toStoredItem(
  item: GroundingItem,
  { sourceId, now }: { sourceId: string; now: number },
): Promise<StoredItem> {
  const { text, title, path, lines, ttlMs, metadata = {} } = item;
  if (typeof text !== 'string' || text === '' || text.length > 262_144) {
    throw invalidItem('its text must be 1 to 262,144 long');
  }
  checkData({ text, title, path, metadata, id: item.id, uri: item.uri });
  if (JSON.stringify(metadata).length > 65_536) throw invalidItem('its metadata is longer than 65,536');
  if (ttlMs !== undefined && !(ttlMs > 0)) throw invalidItem('its ttlMs must be more than 0');
  const id = item.id ?? (await sha256(canonicalJson([text, title ?? null, item.uri ?? null, metadata]))).slice(0, 32);
  if (id === '' || id.length > 256) throw invalidItem('its id must be 1 to 256 long');
  return {
    id,
    text,
    ...(title !== undefined && { title }),
    uri: item.uri ?? `${sourceId}/${encodeURIComponent(id)}`,
    ...(path !== undefined && { path }),
    ...(lines && { lines: [lines[0], lines[1]] as const }),
    metadata: copyOf(metadata) as StoredItem['metadata'], // a copy has the same shape
    updatedAt: now,
    ...(ttlMs !== undefined && { expiresAt: now + ttlMs }),
  };
}

export function invalidItem(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot keep an item: ${why}`, { details: { reason: 'invalid_item' } });
}
