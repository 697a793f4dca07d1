/** Lists the records of a kind that fit a query, page by page. */

import * as v from 'valibot';
import { parse } from '../base/parse.ts';
import type { CatalogRecords, RecordKind } from './record-kinds.ts';
import { limitOf, type Page, readPageToken, writePageToken } from '../base/page.ts';
import { type Access, mayRead, ownerOf } from './owner.ts';
import { scan, type ScanOptions } from './scan.ts';

const Filter = v.pipe(v.string(), v.minLength(1), v.maxLength(200));

/** Which records, and which page of them. All that is given must fit. */
export const RegistryQuery = v.strictObject({
  /** All of these; for a tool its keywords are its tags. */
  tags: v.optional(v.pipe(v.array(Filter), v.maxLength(20))),
  visibility: v.optional(v.picklist(['public', 'internal', 'hidden', 'disabled'])),
  state: v.optional(v.picklist(['active', 'disabled'])),
  /** The type of a tool, the kind of a provider or data source. */
  type: v.optional(Filter),
  /** Stands, in whatever case, in id, name, title, role, description, tags or keywords. */
  text: v.optional(Filter),
  /** The most records on a page, 1 to 200; 50 when absent. */
  limit: v.optional(v.number()),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(2000))),
});
export type RegistryQuery = v.InferInput<typeof RegistryQuery>;

/**
 * Gives a page. Whatever is there from the first page to the last is given exactly once, also while others write.
 * @throws PinnaceError `invalid_argument` for a query that is none, and a token of another query.
 */
export async function listRecords<Kind extends RecordKind>(
  options: ScanOptions & { readonly access: Access },
  kind: Kind,
  query: RegistryQuery,
): Promise<Page<CatalogRecords[Kind]>> {
  const { limit: given, pageToken, ...filter } = parse(RegistryQuery, query, { what: 'the query' });
  const limit = limitOf(given === undefined ? {} : { limit: given });
  const { access } = options;
  const owner = ownerOf(access);
  const tokenKey = ['list', owner ?? null, kind, filter];
  const after = pageToken === undefined ? undefined : await readPageToken(tokenKey, pageToken);
  const items: CatalogRecords[Kind][] = [];
  for await (const record of scan(options, { kind, owner, after })) {
    if (!mayRead(record, access) || !fits(record, filter)) continue;
    const last = items.at(-1);
    if (items.length === limit && last) return { items, nextPageToken: await writePageToken(tokenKey, last.id) };
    items.push(record);
  }
  return { items };
}

/** The fields that some kinds have. */
interface Filtered {
  readonly id: string;
  readonly tags?: readonly string[];
  readonly keywords?: readonly string[];
  readonly visibility?: string;
  readonly state: string;
  readonly type?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly title?: string | undefined;
  readonly role?: string;
  readonly description?: string;
}

type Filters = Omit<v.InferOutput<typeof RegistryQuery>, 'limit' | 'pageToken'>;

function fits(record: Filtered, { tags, visibility, state, type, text }: Filters): boolean {
  const own = record.tags ?? record.keywords ?? [];
  return (tags ?? []).every((tag) => own.includes(tag)) &&
    (visibility === undefined || record.visibility === visibility) &&
    (state === undefined || record.state === state) &&
    (type === undefined || (record.type ?? record.kind) === type) &&
    (text === undefined || textOf(record, own).includes(text.toLowerCase()));
}

function textOf({ id, name, title, role, description }: Filtered, tags: readonly string[]): string {
  return [id, name, title, role, description, ...tags].join('\n').toLowerCase();
}
