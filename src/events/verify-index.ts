/** Checking the indexes of a chain: every record has its rows, and every row has its record. */

import { type CheckedRecord, readRecord } from './checked-record.ts';
import { eventFields } from './event-query.ts';
import { numberOf, type StoredChain, type StoredEvent } from './event-records.ts';
import type { Key } from '../base/key.ts';
import type { Entry } from '../contracts/storage.ts';

const readsAtOnce = 50;
const rowsAtOnce = 500;

/** The rows of one place: the numbers of the records that have it, in order. */
interface PlaceRows {
  readonly place: Key;
  readonly numbers: number[];
}

/** Returns the number of the first of these consecutive records that lacks an index row. */
export async function findUnindexed(
  chain: StoredChain<StoredEvent>,
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
  { storage, prefix, form }: StoredChain<StoredEvent>,
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

/** What the records of a chain account for. */
export interface ExpectedRows {
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
export async function findStray(
  chain: StoredChain<StoredEvent>,
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
async function isStored({ storage, prefix, form }: StoredChain<StoredEvent>, number: number): Promise<boolean> {
  return await storage.get([...prefix, form.records, number]) !== undefined;
}

async function* readRows(
  { storage, prefix }: StoredChain<StoredEvent>,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly Entry[], void> {
  for (const field of eventFields) {
    let after: Key | undefined;
    do {
      signal?.throwIfAborted();
      const rows = await storage.list({ prefix: [...prefix, field], limit: rowsAtOnce, ...(after && { after }) });
      yield rows;
      after = rows.length < rowsAtOnce ? undefined : rows.at(-1)?.key;
    } while (after);
  }
}

async function leastStray(chain: StoredChain<StoredEvent>, rows: readonly Entry[]): Promise<number | undefined> {
  let stray: number | undefined;
  for (let at = 0; at < rows.length; at += readsAtOnce) {
    const some = rows.slice(at, at + readsAtOnce);
    const strays = await Promise.all(some.map(async (row) => await isStray(chain, row) ? seqOf(row) : undefined));
    stray = least(stray, ...strays);
  }
  return stray;
}

async function isStray(chain: StoredChain<StoredEvent>, row: Entry): Promise<boolean> {
  const { storage, prefix, form } = chain;
  const number = seqOf(row);
  if (number === 0 || row.key.length !== prefix.length + 3) return true;
  const entry = await storage.get([...prefix, form.records, number]);
  if (!entry) return await storage.get(row.key) !== undefined; // unless both have just expired
  const place = JSON.stringify(row.key.slice(prefix.length, -1));
  return !readRecord(chain, entry)?.places.some((known) => JSON.stringify(known) === place);
}

function seqOf({ key }: Entry): number {
  const number = key.at(-1);
  return typeof number === 'number' && Number.isSafeInteger(number) && number > 0 ? number : 0;
}

function least(...numbers: readonly (number | undefined)[]): number | undefined {
  const known = numbers.filter((number) => number !== undefined);
  return known.length === 0 ? undefined : Math.min(...known);
}
