/** The events of a tenant, of all instances, as long as their log has them. */

import { lostAction } from './event-chain.ts';
import { type EventBlocks, type EventFilter, isFiltered } from './event-query.ts';
import type { StoredEvent } from './event-records.ts';
import type { Followed, FollowOptions } from './event-feed.ts';
import { readSummary } from './payload-summary.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import { createNews, type News } from '../log/bulletin.ts';

const readAtOnce = 200;

/** Follows the events in a tenant's log. */
export async function* followLog(log: EventBlocks, options: FollowOptions): AsyncGenerator<Followed, void> {
  const news = createNews((onNews) => log.watch(onNews), options.signal);
  try {
    yield* read(log, { ...options, news });
  } finally {
    news.stop();
  }
}

async function* read(
  log: EventBlocks,
  { after, filter = {}, signal, news }: FollowOptions & { readonly news: News },
): AsyncGenerator<Followed, void> {
  const start = await log.bounds();
  const isElsewhere = after === 'elsewhere' || (after !== undefined && after > start.last);
  let at = isElsewhere ? start.first - 1 : after ?? start.last;
  let isLive = false;
  yield { type: 'ready', seq: at };
  if (isElsewhere) yield { type: 'gap', reason: 'unknown' };
  while (!signal.aborted) {
    const { first, last } = await log.bounds();
    if (at + 1 < first) {
      yield { type: 'gap', reason: 'expired', dropped: first - 1 - at };
      at = first - 1;
    }
    const events = at < last ? await readSome(log, filter, at) : [];
    for (const { seq, event } of events) {
      yield event.action === lostAction ? gapOf(event) : { type: 'event', seq, event };
      at = seq;
    }
    if (events.length >= readAtOnce) continue;
    at = Math.max(at, last);
    if (!isLive) yield { type: 'live', seq: at };
    isLive = true;
    await news.next();
  }
}

function gapOf({ payloadSummary }: ObservedEvent): Followed {
  const { dropped } = readSummary(payloadSummary);
  return { type: 'gap', reason: 'lost', ...(typeof dropped === 'number' && { dropped }) };
}

/** The matching events, and the records of lost ones, which may have matched. */
async function readSome(log: EventBlocks, filter: EventFilter, after: number): Promise<readonly StoredEvent[]> {
  const page = async (wanted: EventFilter): Promise<readonly StoredEvent[]> =>
    (await log.list({ ...wanted, after, limit: readAtOnce })).items;
  if (!isFiltered(filter)) return await page({});
  const [wanted, lost] = await Promise.all([page(filter), page({ action: lostAction })]);
  const both = [...wanted, ...lost].toSorted((one, other) => one.seq - other.seq);
  return both.filter(({ seq }, i) => seq !== both[i - 1]?.seq).slice(0, readAtOnce);
}
