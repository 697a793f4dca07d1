/** Checking a chain of events: its hashes, its head, its indexes, and an anchor that the caller stored elsewhere. */

import {
  type Break,
  type ChainAnchor,
  eventFields,
  placesOf,
  type Verification,
  type VerifyOptions,
} from './event-query.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Entry } from '../contracts/storage.ts';
import { readPages } from '../log/commits.ts';
import { hashOf, type Head, headOf, type LoggedEvent, numberOf, origin, type StoredRecords } from './event-records.ts';

type StoredChain = StoredRecords<LoggedEvent>;

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
export async function verifyChain(chain: StoredChain, options: VerifyOptions): Promise<Verification> {
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
async function readHead({ storage, prefix }: StoredChain): Promise<Head> {
  const head = headOf(await storage.get([...prefix, 'head']));
  return isHead(head) ? { seq: head.seq, hash: head.hash } : { seq: 0, hash: '' };
}

async function walk(chain: StoredChain, options: Walk): Promise<Walked> {
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
  chain: StoredChain,
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
    const record = readRecord(entry);
    const before = end ?? startOf(record);
    broken = await entryBreak(record, { number: numberOf(entry), before });
    if (broken || !record || !before) break;
    const next = { seq: record.number, hash: record.hash };
    broken = anchorBreak(anchor, { before, end: next });
    if (broken) break;
    records.push(record);
    start ??= before;
    end = next;
  }
  const unindexed = await findUnindexed(chain, records, signal);
  if (unindexed !== undefined) broken = { brokenAt: unindexed, reason: 'index_missing' };
  const counted = records.filter(({ number }) => unindexed === undefined || number < unindexed);
  const checked = walked.checked + counted.length;
  const rows = walked.rows + records.reduce((sum, { places }) => sum + places.length, 0);
  return { checked, rows, start, end, broken };
}

/** A commit writes entry and head together: the head that is read after the entry is at the entry, or behind it. */
async function beyondBreak(chain: StoredChain, entry: Entry): Promise<Break | undefined> {
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
  if (isNext && record.hash === await hashOf(record.prevHash, record.event)) return undefined;
  return { brokenAt, reason: 'entry_mismatch' };
}

function anchorBreak(
  anchor: ChainAnchor | undefined,
  { before, end }: { readonly before: Head; readonly end: Head },
): Break | undefined {
  if (!anchor || anchor.seq < before.seq || anchor.seq > end.seq) return undefined;
  const there = anchor.seq === before.seq ? before : end;
  return there.hash === anchor.hash ? undefined : { brokenAt: anchor.seq, reason: 'anchor_mismatch' };
}

function endBreak({ end: last }: Walked, { head, anchor }: Walk): Break | undefined {
  const end = last ?? head; // everything has expired
  if (end.seq < head.seq) return { brokenAt: end.seq + 1, reason: 'entry_missing' };
  if (!isHead(head) || end.seq !== head.seq || end.hash !== head.hash) {
    return { brokenAt: end.seq, reason: 'head_mismatch' };
  }
  return anchorBreak(anchor, { before: end, end });
}

const readsAtOnce = 50;
const rowsAtOnce = 500;

/** The rows of one place: the numbers of the records that have it, in order. */
interface PlaceRows {
  readonly place: Key;
  readonly numbers: number[];
}

/** Returns the number of the first of these consecutive records that lacks an index row. */
async function findUnindexed(
  chain: StoredChain,
  records: readonly CheckedRecord[],
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const places = [...rowsByPlace(records)];
  let first: number | undefined;
  for (let at = 0; at < places.length; at += readsAtOnce) {
    signal?.throwIfAborted();
    const some = places.slice(at, at + readsAtOnce);
    first = least(first, ...await Promise.all(some.map((rows) => findMissing(chain, rows))));
  }
  return first;
}

function rowsByPlace(records: readonly CheckedRecord[]): Iterable<PlaceRows> {
  const rows = new Map<string, PlaceRows>();
  for (const { number, places } of records) {
    for (const place of places) {
      const id = JSON.stringify(place);
      const known = rows.get(id) ?? { place, numbers: [] };
      known.numbers.push(number);
      rows.set(id, known);
    }
  }
  return rows.values();
}

/** One list covers a place when nothing is wrong. */
async function findMissing(
  { storage, prefix, form }: StoredChain,
  { place, numbers }: PlaceRows,
): Promise<number | undefined> {
  const keys = [...prefix, ...place];
  const [first = 0] = numbers;
  const rows = await storage.list({ prefix: keys, after: [...keys, first - 1], limit: numbers.length });
  if (numbers.every((number, i) => rows[i]?.key.at(-1) === number)) return undefined;
  for (const number of numbers) {
    if (await storage.get([...keys, number])) continue;
    // A row expires with its record: the row is missing only if the record outlives it.
    if (await storage.get([...prefix, form.records, number])) return number;
  }
  return undefined;
}

interface ExpectedRows {
  /** The number of the oldest record that was checked. */
  readonly first: number;
  /** The number of the last event that was checked. */
  readonly last: number;
  /** How many rows the records up to it have. */
  readonly count: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Returns the least number in an index row whose record does not exist or does not match; 0 where a row has no number. All records
 * up to `last` must have their rows, so that an equal count proves that there are no others.
 */
async function findStray(
  chain: StoredChain,
  { first, last, count, signal }: ExpectedRows,
): Promise<number | undefined> {
  let found = 0;
  let stray: number | undefined;
  for await (const rows of readRows(chain, signal)) {
    const later = rows.filter((row) => !(numberOf(row) <= last)); // also those without a number
    found += rows.length - later.length;
    stray = least(stray, await leastStray(chain, later));
  }
  if (found === count && await isStored(chain, first)) return stray;
  for await (const rows of readRows(chain, signal)) stray = least(stray, await leastStray(chain, rows));
  return stray;
}

/** While the oldest record is stored none has expired, and rows cannot have expired in place of strays. */
async function isStored({ storage, prefix, form }: StoredChain, number: number): Promise<boolean> {
  return await storage.get([...prefix, form.records, number]) !== undefined;
}

async function* readRows(
  { storage, prefix }: StoredChain,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Entry[], void> {
  for (const field of eventFields) {
    for await (const rows of readPages(storage, { prefix: [...prefix, field], limit: rowsAtOnce })) {
      signal?.throwIfAborted();
      yield rows;
    }
  }
}

async function leastStray(chain: StoredChain, rows: readonly Entry[]): Promise<number | undefined> {
  let stray: number | undefined;
  for (let at = 0; at < rows.length; at += readsAtOnce) {
    const some = rows.slice(at, at + readsAtOnce);
    const strays = await Promise.all(some.map(async (row) => await isStray(chain, row) ? seqOf(row) : undefined));
    stray = least(stray, ...strays);
  }
  return stray;
}

async function isStray(chain: StoredChain, row: Entry): Promise<boolean> {
  const { storage, prefix, form } = chain;
  const number = seqOf(row);
  if (number === 0 || row.key.length !== prefix.length + 3) return true;
  const entry = await storage.get([...prefix, form.records, number]);
  if (!entry) return await storage.get(row.key) !== undefined; // unless both have just expired
  const place = JSON.stringify(row.key.slice(prefix.length, -1));
  return !readRecord(entry)?.places.some((known) => JSON.stringify(known) === place);
}

function seqOf({ key }: Entry): number {
  const number = key.at(-1);
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : 0;
}

function least(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}

/** What verification compares. Its hash is not checked yet. */
interface CheckedRecord extends Pick<LoggedEvent, 'event' | 'prevHash' | 'hash'> {
  /** The number in its key. */
  readonly number: number;
  /** The ends of the keys of its index rows, without the number. */
  readonly places: readonly Key[];
}

/** Reads a record; returns `undefined` for a value that is not a record, or that has another number than its key. */
function readRecord(entry: Entry): CheckedRecord | undefined {
  const number = numberOf(entry);
  try {
    const { seq, event, prevHash, hash } = entry.value as LoggedEvent; // only the audit writes it; a changed one is reported
    return seq === number ? { number, event, prevHash, hash, places: placesOf(event) } : undefined;
  } catch {
    return undefined; // a changed value can have any shape
  }
}
