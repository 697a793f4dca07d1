/** Pages of listings that several parts of a host give. A cursor serves only its principal and its listing. */

import { isRecord } from '../../../../src/base/is-record.ts';
import { readPageToken, writePageToken } from '../../../../src/base/page.ts';
import type { Principal } from '../../../../src/base/principal.ts';
import type { McpPage, McpPageOptions } from './reader.ts';

/** The most items of a page. */
export const pageSize = 200;

/** Returns a page of one part of a listing. */
export type PagePart<Item> = (page: McpPageOptions) => Promise<McpPage<Item>> | McpPage<Item>;

/** Where a page starts: the part, and the part's own cursor. */
interface Place {
  readonly part: number;
  readonly cursor?: string | undefined;
}

/**
 * Returns the page of a listing, one part after the other.
 *
 * @throws PinnaceError `invalid_argument` for a cursor that no page of this caller gave.
 */
export async function pageOf<Item>(
  parts: readonly PagePart<Item>[],
  { listing, principal: { tenant, subject }, cursor }: {
    readonly listing: string;
    readonly principal: Principal;
    readonly cursor: string | undefined;
  },
): Promise<McpPage<Item>> {
  const query = [listing, tenant, subject];
  const items: Item[] = [];
  let place: Place = cursor === undefined ? { part: 0 } : placeOf(await readPageToken(query, cursor));
  while (items.length < pageSize) {
    const part = parts[place.part];
    if (!part) return { items };
    const page = await part({ limit: pageSize - items.length, ...(place.cursor !== undefined && place) });
    items.push(...page.items);
    const { nextCursor } = page;
    place = nextCursor === undefined ? { part: place.part + 1 } : { part: place.part, cursor: nextCursor };
  }
  if (place.part >= parts.length) return { items };
  return { items, nextCursor: await writePageToken(query, JSON.stringify(place)) };
}

function placeOf(text: string): Place {
  const place: unknown = JSON.parse(text);
  const { part, cursor } = isRecord(place) ? place : {};
  return {
    part: typeof part === 'number' && part >= 0 ? part : 0,
    cursor: typeof cursor === 'string' ? cursor : undefined,
  };
}

/** Returns the part of a list in memory. */
export function listedPart<Item>(items: readonly Item[]): PagePart<Item> {
  return ({ limit, cursor }) => {
    const from = cursor !== undefined && /^\d{1,9}$/.test(cursor) ? Number(cursor) : 0;
    const end = from + limit;
    return { items: items.slice(from, end), nextCursor: end < items.length ? String(end) : undefined };
  };
}
