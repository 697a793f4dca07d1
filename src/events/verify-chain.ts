/** Checking a chain of events: its hashes, its head, its indexes, and an anchor that the caller stored elsewhere. */

import { type CheckedRecord, readRecord } from './checked-record.ts';
import { PinnaceError } from '../base/errors.ts';
import { hashOf, type Head, headOf, numberOf, origin, type StoredChain, type StoredEvent } from './event-records.ts';
import type { Entry } from '../contracts/storage.ts';
import { findStray, findUnindexed } from './verify-index.ts';

/** Why a chain can be broken. */
export const breakReasons = [
  /** An entry does not exist, though later ones or the head name it. */
  'entry_missing',
  /** An entry was changed, or is in the wrong place. */
  'entry_mismatch',
  /** The head has another hash than the last entry, or is not a head. */
  'head_mismatch',
  /** Entries exist behind the head: it was rolled back or removed. */
  'entries_beyond_head',
  /** An entry lacks an index row: queries do not find it. */
  'index_missing',
  /** An index row names an entry that does not exist or does not match. */
  'index_mismatch',
  /** The chain ends before the anchor. */
  'anchor_missing',
  /** The chain has another hash at the anchor. */
  'anchor_mismatch',
] as const;

/** One of them. */
export type BreakReason = (typeof breakReasons)[number];

interface Break {
  readonly brokenAt: number;
  readonly reason: BreakReason;
}

/** The result of checking a chain. */
export interface Verification extends Partial<Break> {
  readonly ok: boolean;
  /** How many events were checked before the break. */
  readonly checked: number;
  /** The current end of the chain: store it elsewhere and pass it as `anchor` later. */
  readonly head: ChainAnchor;
  /** The number of the event where the chain is broken; where one record has several, of the first. 0: an index row without a number. */
  readonly brokenAt?: number;
  /** Present where the chain is broken. */
  readonly reason?: BreakReason;
  /** The retention has removed the entry at the anchor, so only the length of the chain was compared. */
  readonly anchorExpired?: true;
}

/** The end of a chain at some time, stored outside of the storage. */
export interface ChainAnchor {
  readonly seq: number;
  readonly hash: string;
}

/** How a chain is checked. */
export interface VerifyOptions {
  /** Stops the check. */
  readonly signal?: AbortSignal | undefined;
  /** What the chain must still contain. */
  readonly anchor?: ChainAnchor | undefined;
}

interface Walk extends VerifyOptions {
  readonly head: Head;
}

interface Walked {
  readonly checked: number;
  /** The index rows of all records that were read. */
  readonly rows: number;
  /** What is before the first record that is stored. */
  readonly start: Head | undefined;
  readonly end: Head | undefined;
  readonly broken?: Break | undefined;
}

/**
 * Reads the whole chain page by page, and computes it again. Without an anchor it cannot detect a storage that was rolled back
 * consistently.
 *
 * @throws PinnaceError `invalid_argument` for an anchor that no chain can have.
 */
export async function verifyChain(chain: StoredChain<StoredEvent>, options: VerifyOptions): Promise<Verification> {
  const { signal, anchor } = options;
  if (anchor) checkAnchor(anchor);
  const head = await readHead(chain);
  if (anchor && head.seq < anchor.seq) {
    return { ok: false, checked: 0, head, brokenAt: head.seq + 1, reason: 'anchor_missing' };
  }
  const walked = await walk(chain, { ...options, head });
  const { checked, rows: count, start = head } = walked;
  const broken = walked.broken ?? endBreak(walked, { head, anchor });
  const stray = broken ? undefined : await findStray(chain, { first: start.seq + 1, last: head.seq, count, signal });
  const found = stray === undefined ? broken : { brokenAt: stray, reason: 'index_mismatch' as const };
  if (found) return { ok: false, checked, head, ...found };
  return { ok: true, checked, head, ...(anchor && anchor.seq < start.seq && { anchorExpired: true }) };
}

function checkAnchor(anchor: ChainAnchor): void {
  if (isHead(anchor)) return;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot verify against this anchor: pass the `seq` and `hash` of the `head` that an earlier verification returned',
    { details: { reason: 'anchor_invalid' } },
  );
}

function isHead(value: Partial<Head> | null): value is Head {
  return Number.isSafeInteger(value?.seq) && Number(value?.seq) >= 0 && /^[0-9a-f]{64}$/.test(String(value?.hash));
}

/** Stored heads have more fields, which are not the caller's. What is not a head is before all entries, and matches none. */
async function readHead({ storage, prefix }: StoredChain<StoredEvent>): Promise<Head> {
  const head = headOf(await storage.get([...prefix, 'head']));
  return isHead(head) ? { seq: head.seq, hash: head.hash } : { seq: 0, hash: '' };
}

async function walk(chain: StoredChain<StoredEvent>, options: Walk): Promise<Walked> {
  const { storage, prefix, ttl, form: { records: name, readAtOnce } } = chain;
  const prefixOfRecords = [...prefix, name];
  const first = ttl.ttlMs === undefined ? origin : undefined; // else the beginning may have expired
  let walked: Walked = { checked: 0, rows: 0, start: first, end: first };
  let after = [...prefixOfRecords, 0];
  for (;;) {
    options.signal?.throwIfAborted();
    const page = await storage.list({ prefix: prefixOfRecords, after, limit: readAtOnce });
    walked = await walkPage(chain, page, { ...options, walked });
    const last = page.at(-1);
    if (walked.broken || !last || page.length < readAtOnce || numberOf(last) > options.head.seq) return walked;
    after = [...last.key];
  }
}

async function walkPage(
  chain: StoredChain<StoredEvent>,
  page: readonly Entry[],
  { head, anchor, signal, walked }: Walk & { readonly walked: Walked },
): Promise<Walked> {
  let { start, end, broken }: Pick<Walked, 'start' | 'end' | 'broken'> = walked;
  const records: CheckedRecord[] = [];
  for (const entry of page) {
    if (numberOf(entry) > head.seq) {
      broken = await beyondBreak(chain, entry);
      break;
    }
    const record = readRecord(chain, entry);
    const before = end ?? startOf(record);
    broken = await entryBreak(record, { number: numberOf(entry), before });
    if (broken || !record || !before) break;
    const next = { seq: before.seq + record.count, hash: record.hash };
    broken = anchorBreak(anchor, { before, end: next });
    if (broken) break;
    records.push(record);
    start ??= before;
    end = next;
  }
  const unindexed = await findUnindexed(chain, records, signal);
  if (unindexed !== undefined) broken = { brokenAt: unindexed, reason: 'index_missing' };
  const counted = records.filter(({ number }) => unindexed === undefined || number < unindexed);
  const checked = walked.checked + counted.reduce((sum, { count }) => sum + count, 0);
  const rows = walked.rows + records.reduce((sum, { places }) => sum + places.length, 0);
  return { checked, rows, start, end, broken };
}

/** A commit writes entry and head together: the head that is read after the entry is at the entry, or behind it. */
async function beyondBreak(chain: StoredChain<StoredEvent>, entry: Entry): Promise<Break | undefined> {
  const { seq } = await readHead(chain);
  return seq >= numberOf(entry) ? undefined : { brokenAt: numberOf(entry), reason: 'entries_beyond_head' };
}

/** What is before the first record that is stored: where the entries before it have expired, it alone knows. */
function startOf(record: CheckedRecord | undefined): Head | undefined {
  if (!record) return undefined;
  return record.number === 1 ? origin : { seq: record.number - 1, hash: record.prevHash };
}

async function entryBreak(
  record: CheckedRecord | undefined,
  { number, before }: { readonly number: number; readonly before: Head | undefined },
): Promise<Break | undefined> {
  const brokenAt = before ? before.seq + 1 : number || 0; // a key may have been written without a number
  if (before && number > brokenAt) return { brokenAt, reason: 'entry_missing' };
  const isNext = record && number === brokenAt && record.prevHash === before?.hash;
  if (isNext && record.hash === await hashOf(record.prevHash, record.text)) return undefined;
  return { brokenAt, reason: 'entry_mismatch' };
}

/** Only the end of a record has a hash: an anchor inside one is not of this chain. */
function anchorBreak(
  anchor: ChainAnchor | undefined,
  { before, end }: { readonly before: Head; readonly end: Head },
): Break | undefined {
  if (!anchor || anchor.seq < before.seq || anchor.seq > end.seq) return undefined;
  const there = anchor.seq === before.seq ? before : end;
  const isSame = there.seq === anchor.seq && there.hash === anchor.hash;
  return isSame ? undefined : { brokenAt: anchor.seq, reason: 'anchor_mismatch' };
}

function endBreak({ end: last }: Walked, { head, anchor }: Walk): Break | undefined {
  const end = last ?? head; // everything has expired
  if (end.seq < head.seq) return { brokenAt: end.seq + 1, reason: 'entry_missing' };
  if (!isHead(head) || end.seq !== head.seq || end.hash !== head.hash) {
    return { brokenAt: end.seq, reason: 'head_mismatch' };
  }
  return anchorBreak(anchor, { before: end, end });
}
