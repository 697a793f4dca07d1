/** Lists the events of a log that match a query, page by page. */

import { type EventQuery, matchesQuery, placeFor } from './event-query.ts';
import { headOf, numberOf, type StoredEvent, type StoredRecords } from './event-records.ts';
import { limitOf, type Page, pageNumber, readPagePlace, writePageToken } from '../base/page.ts';

/** Where a page starts: in the records behind number `record`, with the events behind number `seq`. */
interface Start {
  readonly record: number;
  readonly seq: number;
}

/** Returns a page. @throws PinnaceError `invalid_argument` for an invalid limit or page token. */
export async function listEvents<Kept extends StoredEvent>(
  log: StoredRecords<Kept>,
  query: EventQuery,
): Promise<Page<Kept>> {
  const { pageToken, limit: _, ...wanted } = query;
  const limit = limitOf(query);
  const filter = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  const start = pageToken === undefined ? undefined : await readPagePlace(filter, pageToken, parseStart);
  const behind = Math.max(start?.seq ?? 0, query.after ?? 0);
  let after = start ? start.record : Math.max(await lastBefore(log, query.from), await lastWhole(log, query.after));
  const items: Kept[] = [];
  for (;;) {
    const { records, last } = await readSome(log, query, after);
    for (const { number, events } of records) {
      for (const stored of events) {
        if (stored.seq <= behind || !matchesQuery(stored.event, query)) continue;
        items.push(stored);
        if (items.length < limit) continue;
        return { items, nextPageToken: await writePageToken(filter, `${number - 1}:${stored.seq}`) };
      }
    }
    if (last === undefined) return { items };
    after = last;
  }
}

/** The tokens of earlier versions have only the first number. */
function parseStart(text: string): Start | undefined {
  const places = text.split(':').map(pageNumber);
  const [record = 0, seq = 0] = places; // of former versions a token holds the record alone
  return places.includes(undefined) ? undefined : { record, seq };
}

interface Some<Kept extends StoredEvent> {
  readonly records: readonly { readonly number: number; readonly events: readonly Kept[] }[];
  /** Where to continue; absent at the end. */
  readonly last: number | undefined;
}

/** Reads records behind `after`, by the index of the query's most selective field. */
async function readSome<Kept extends StoredEvent>(
  { storage, prefix, form: { records: name, readAtOnce, eventsOf } }: StoredRecords<Kept>,
  query: EventQuery,
  after: number,
): Promise<Some<Kept>> {
  const place = placeFor(query);
  const keys = [...prefix, ...place ?? [name]];
  const page = await storage.list({ prefix: keys, after: [...keys, after], limit: readAtOnce });
  const entries = place
    ? await Promise.all(page.map((entry) => storage.get([...prefix, name, numberOf(entry)])))
    : page;
  const records = entries.flatMap((entry) => entry ? [{ number: numberOf(entry), events: eventsOf(entry.value) }] : []);
  const last = page.at(-1);
  return { records, last: last && page.length === readAtOnce ? numberOf(last) : undefined };
}

/** A number that no record crosses: the records behind it have all events behind `seq`. */
async function lastWhole<Kept extends StoredEvent>(
  { storage, prefix, form }: StoredRecords<Kept>,
  seq: number | undefined,
): Promise<number> {
  if (seq === undefined || seq === 0) return 0;
  const records = [...prefix, form.records];
  const [next] = await storage.list({ prefix: records, after: [...records, seq], limit: 1 });
  const nextStart = next ? numberOf(next) : headOf(await storage.get([...prefix, 'head'])).seq + 1;
  return nextStart === seq + 1 ? seq : Math.max(0, seq - form.most);
}

/** Clocks of instances differ: an event may have a lower number than an older one by this much. */
const skewMs = 60_000;

/** The number of the last record that is too old: times grow with numbers, except for the skew. */
async function lastBefore<Kept extends StoredEvent>(
  { storage, prefix, form }: StoredRecords<Kept>,
  time: number | undefined,
): Promise<number> {
  if (time === undefined) return 0;
  const records = [...prefix, form.records];
  let high = headOf(await storage.get([...prefix, 'head'])).seq;
  let low = 0;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    // A record is named by its first event: the next one is at this number, or behind it.
    const [next] = await storage.list({ prefix: records, after: [...records, middle - 1], limit: 1 });
    const newest = next && form.eventsOf(next.value).at(-1);
    const isOlder = next && newest && Date.parse(newest.event.timestamp) < time - skewMs;
    if (isOlder) low = numberOf(next);
    else high = middle - 1;
  }
  return low;
}
