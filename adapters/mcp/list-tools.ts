/** Collects the pages of `tools/list`. */

import { invalidAnswer, tooMuch } from './failures.ts';

/** The source of the pages, and the limits of reading them. */
export interface ListOptions {
  readonly page: (cursor: string | undefined) => Promise<unknown>;
  /** The bytes that were read so far. */
  readonly bytesRead: () => number;
  /** The longest list, in bytes. */
  readonly maxBytes: number;
}

const maxPages = 64;
const maxTools = 2000;
const maxCursorLength = 4096;

/**
 * Returns the definitions of all pages, unparsed.
 *
 * @throws PinnaceError `budget_exceeded` for a list without end, `unavailable` for a response that is not a list.
 */
export async function listAllTools({ page, bytesRead, maxBytes }: ListOptions): Promise<readonly unknown[]> {
  const before = bytesRead();
  const tools: unknown[] = [];
  const seen = new Set<string>();
  for (let cursor: string | undefined; seen.size < maxPages;) {
    const next = readPage(await page(cursor));
    tools.push(...next.tools);
    if (tools.length > maxTools) throw tooMuch(`it lists more than ${maxTools} tools`, { maxTools });
    if (bytesRead() - before > maxBytes) throw tooMuch(`its list is longer than ${maxBytes} bytes`, { maxBytes });
    if (next.cursor === undefined) return tools;
    if (seen.has(next.cursor)) throw invalidAnswer('the pages of its list lead in a circle');
    seen.add(next.cursor);
    cursor = next.cursor;
  }
  throw tooMuch(`its list has more than ${maxPages} pages`, { maxPages });
}

function readPage(data: unknown): { readonly tools: readonly unknown[]; readonly cursor: string | undefined } {
  const { tools, nextCursor } = (data ?? {}) as { readonly tools?: unknown; readonly nextCursor?: unknown };
  if (!Array.isArray(tools)) throw invalidAnswer('its list has no tools');
  if (nextCursor === undefined || nextCursor === null) return { tools, cursor: undefined };
  if (typeof nextCursor === 'string' && nextCursor.length <= maxCursorLength) return { tools, cursor: nextCursor };
  throw invalidAnswer(`the cursor of its list is not a string of at most ${maxCursorLength} characters`);
}
