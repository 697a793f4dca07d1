/** Pages of listings, and the tokens that continue them. A token serves only the query that it came from. */

import * as v from 'valibot';
import { PinnaceError } from './errors.ts';
import { canonicalJson } from './json.ts';
import { sha256 } from './hash.ts';

/** One page. */
export interface Page<T> {
  readonly items: readonly T[];
  /** Continues the listing; absent on the last page. */
  readonly nextPageToken?: string;
}

/** Which page. */
export interface PageOptions {
  /** The most items, 1 to 200; 50 when absent. */
  readonly limit?: number;
  /** The `nextPageToken` of the page before; the first page when absent. */
  readonly pageToken?: string | undefined;
}

/** Items of a page where the caller names no number. */
export const defaultLimit = 50;
/** The most items of a page. */
export const maxLimit = 200;

/** What a token holds: a digest of the query, and the place where the next page starts. */
const Token = v.strictObject({ q: v.string(), a: v.string() });

/** Returns the limit of a page. @throws PinnaceError `invalid_argument` for one that no page has. */
export function limitOf({ limit = defaultLimit }: PageOptions): number {
  if (Number.isInteger(limit) && limit >= 1 && limit <= maxLimit) return limit;
  throw new PinnaceError('invalid_argument', `Cannot list: "limit" must be 1 to ${maxLimit}`, {
    details: { reason: 'invalid_limit' },
  });
}

/** Returns the token of the page that starts behind `after`. */
export async function writePageToken(query: unknown, after: string): Promise<string> {
  const text = JSON.stringify({ q: await digestOf(query), a: after });
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Reads where the page starts. @throws PinnaceError `invalid_argument` for a token that is none, or is of another query. */
export async function readPageToken(query: unknown, token: string): Promise<string> {
  const parsed = v.safeParse(Token, decode(token));
  if (!parsed.success) return refuse(notOurs);
  if (parsed.output.q !== await digestOf(query)) return refuse('it belongs to another query; repeat that one');
  return parsed.output.a;
}

/** Reads a place that is not text: `read` returns `undefined` for what no page wrote. Rejects as `readPageToken`. */
export async function readPagePlace<T>(
  query: unknown,
  token: string,
  read: (after: string) => T | undefined,
): Promise<T> {
  return read(await readPageToken(query, token)) ?? refuse(notOurs);
}

/** Reads a place that is a whole number. */
export function pageNumber(after: string): number | undefined {
  return /^\d{1,15}$/.test(after) ? Number(after) : undefined;
}

function decode(token: string): unknown {
  try {
    return JSON.parse(atob(token.replaceAll('-', '+').replaceAll('_', '/')));
  } catch {
    return undefined;
  }
}

async function digestOf(query: unknown): Promise<string> {
  return (await sha256(canonicalJson(query))).slice(0, 16);
}

const notOurs = 'it is not one that a page gave';

function refuse(why: string): never {
  throw new PinnaceError('invalid_argument', `Cannot use the page token: ${why}, or leave it out to start anew`, {
    details: { reason: 'invalid_page_token' },
  });
}
