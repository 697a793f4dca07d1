/** Collects the pages of a list. */

import { isRecord } from '../../src/base/is-record.ts';
import type { McpContentList } from '../../src/contracts/mcp/mcp-connector.ts';
import { invalidAnswer, tooMuch } from './failures.ts';

export interface ListOptions {
  readonly page: (cursor: string | undefined) => Promise<unknown>;
  readonly field: 'tools' | 'prompts' | 'resources' | 'resourceTemplates';
  readonly bytesRead: () => number;
  readonly maxBytes: number;
  readonly maxPages: number;
  readonly maxItems: number;
}

export const toolLimits = { field: 'tools', maxPages: 64, maxItems: 2000 } as const;
export const contentLimits = { maxPages: 200, maxItems: 10_000 } as const;

const maxCursorLength = 4096;

/**
 * Returns the definitions of all pages, unparsed.
 * @throws PinnaceError `budget_exceeded` for a list without end, `unavailable` for a response that is not a list.
 */
export async function listAll(options: ListOptions): Promise<readonly unknown[]> {
  const { maxBytes, maxItems, maxPages } = options;
  const { items, beyond } = await listSome(options);
  if (beyond === 'items') throw tooMuch(`it lists more than ${maxItems} tools`, { maxTools: maxItems });
  if (beyond === 'bytes') throw tooMuch(`its list is longer than ${maxBytes} bytes`, { maxBytes });
  if (beyond === 'pages') throw tooMuch(`its list has more than ${maxPages} pages`, { maxPages });
  return items;
}

/**
 * Returns the definitions of the first pages, as far as the limits allow.
 * @throws PinnaceError `unavailable` for a response that is not a list.
 */
export async function listFirst(options: ListOptions): Promise<McpContentList> {
  const { items, beyond } = await listSome(options);
  return { items: items.slice(0, options.maxItems), isCut: beyond !== undefined };
}

async function listSome(
  { page, field, bytesRead, maxBytes, maxItems, maxPages }: ListOptions,
): Promise<{ readonly items: readonly unknown[]; readonly beyond?: 'items' | 'bytes' | 'pages' }> {
  const before = bytesRead();
  const items: unknown[] = [];
  const seen = new Set<string>();
  for (let cursor: string | undefined; seen.size < maxPages;) {
    const next = readPage(await page(cursor), field);
    items.push(...next.items);
    if (items.length > maxItems) return { items, beyond: 'items' };
    if (bytesRead() - before > maxBytes) return { items, beyond: 'bytes' };
    if (next.cursor === undefined || seen.has(next.cursor)) return { items: unlike(items) }; // in a circle: this is all there is
    seen.add(next.cursor);
    cursor = next.cursor;
  }
  return { items, beyond: 'pages' };
}

/** A page that is read again repeats its definitions. */
function unlike(items: readonly unknown[]): readonly unknown[] {
  return [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
}

function readPage(
  data: unknown,
  field: ListOptions['field'],
): { readonly items: readonly unknown[]; readonly cursor: string | undefined } {
  const { [field]: items, nextCursor: given } = isRecord(data) ? data : {};
  const nextCursor = typeof given === 'number' && given !== 0 ? String(given) : given;
  if (items === null) return { items: [], cursor: undefined }; // a list without items, in Go
  if (!Array.isArray(items)) throw invalidAnswer(field === 'tools' ? 'its list has no tools' : 'its list has no items');
  if (!nextCursor) return { items, cursor: undefined };
  if (typeof nextCursor === 'string' && nextCursor.length <= maxCursorLength) return { items, cursor: nextCursor };
  throw invalidAnswer(`the cursor of its list is not a string of at most ${maxCursorLength} characters`);
}
