/** What was done to a record: who, when, and what differs. */

import { isRecord } from '../base/is-record.ts';
import { canonicalJson, pointerBelow } from '../base/json.ts';
import { type Page, pageNumber, type PageOptions, readPagePlace, writePageToken } from '../base/page.ts';
import type { Storage } from '../contracts/storage.ts';
import { historyKey, type RecordScope } from './owner.ts';

/** Who writes. */
export interface Author {
  readonly type: 'user' | 'system';
  readonly id: string;
  readonly tenant?: string;
}

export type RegistryAction = 'register' | 'update' | 'disable' | 'enable' | 'remove' | 'bind' | 'unbind' | 'import';

/** One change of a record. */
export interface HistoryEntry {
  /** The revision that it made. A removal makes one too. */
  readonly revision: number;
  /** ISO 8601, UTC. */
  readonly at: string;
  readonly by: Author;
  readonly action: RegistryAction;
  readonly changes: readonly Difference[];
}

/** A change as it is stored: with the id of its commit, by which a writer knows its own. */
export interface StoredEntry extends HistoryEntry {
  readonly commit: string;
}

/** Reads a page, the last change first. Revisions have no gaps, so a page is a range of numbers. */
export async function readHistory(
  storage: Storage,
  { kind, owner, id, last, limit, pageToken }: PageOptions & RecordScope & {
    readonly id: string;
    /** The last revision of the record. */
    readonly last: number;
    readonly limit: number;
  },
): Promise<Page<HistoryEntry>> {
  const query = ['history', owner ?? null, kind, id];
  const from = pageToken === undefined ? last : await readPagePlace(query, pageToken, pageNumber);
  const end = Math.max(0, from - limit); // not on this page
  const prefix = historyKey({ kind, owner }, id);
  const entries = await storage.list({ prefix, after: [...prefix, end], limit });
  const items = entries.map(({ value }) => withoutCommit(value as StoredEntry)) // written with their records
    .filter(({ revision }) => revision <= from).toReversed();
  return { items, ...(end > 0 && { nextPageToken: await writePageToken(query, String(end)) }) };
}

function withoutCommit({ commit: _, ...entry }: StoredEntry): HistoryEntry {
  return entry;
}

/** One difference. Without `from` something was added, without `to` removed. */
export interface Difference {
  /** A JSON Pointer (RFC 6901); empty for the record as a whole. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

/** Lists the differences, in the order of the fields. Objects are compared field by field, lists as wholes. */
export function differencesOf(from: unknown, to: unknown, path = ''): readonly Difference[] {
  if (canonicalJson(from) === canonicalJson(to)) return [];
  if (!isRecord(from) || !isRecord(to)) {
    return [{ path, ...(from !== undefined && { from }), ...(to !== undefined && { to }) }];
  }
  const names = new Set([...Object.keys(from), ...Object.keys(to)]);
  return [...names].flatMap((name) => differencesOf(from[name], to[name], pointerBelow(path, name)));
}
