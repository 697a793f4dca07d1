/** Events that outlive their instance: what watchers read who come from another one, or after a restart. */

import type { EventBlocks } from './event-blocks.ts';
import { type EventFilter, isFiltered } from './event-query.ts';
import type { StoredEvent } from './event-records.ts';
import type { EventFeed, Followed, FollowOptions } from './event-feed.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import { readSummary } from './payload-summary.ts';

/**
 * Keeps the events of each tenant in a log of its own, which all instances over the same storage write. Those that are nobody's
 * are not kept. What could not be kept is told of in the log, by an event of the action `lostAction`.
 */
export interface EventStore {
  /** Takes an event at once, whatever becomes of it. */
  readonly hear: (event: ObservedEvent, tenant: string | undefined) => void;
  readonly log: (tenant: string) => EventBlocks;
}

/** The action of the event that stands for events that were lost; its payload says how many. */
export const lostAction = 'events.lost';

/** Who numbers the events of a store. */
const origin = 'log';
const readAtOnce = 200;

/** The events of a tenant, of all instances, as long as the store keeps them. */
export function storeFeed(log: EventBlocks): EventFeed {
  return { origin, follow: (options) => follow(log, options) };
}

async function* follow(log: EventBlocks, options: FollowOptions): AsyncGenerator<Followed, void> {
  const news = createNews(log, options.signal);
  try {
    yield* read(log, { ...options, news: news.next });
  } finally {
    news.stop();
  }
}

async function* read(
  log: EventBlocks,
  { after, filter = {}, signal, news }: FollowOptions & { readonly news: () => Promise<void> },
): AsyncGenerator<Followed, void> {
  const begun = await log.bounds();
  const isElsewhere = after === 'elsewhere' || (after !== undefined && after > begun.last);
  let at = isElsewhere ? begun.first - 1 : after ?? begun.last;
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
    await news();
  }
}

function gapOf({ payloadSummary }: ObservedEvent): Followed {
  const { dropped } = readSummary(payloadSummary);
  return { type: 'gap', reason: 'lost', ...(typeof dropped === 'number' && { dropped }) };
}

/** Those that are wanted, and what was lost: of that nobody knows whether it was wanted. */
async function readSome(log: EventBlocks, filter: EventFilter, after: number): Promise<readonly StoredEvent[]> {
  const page = async (wanted: EventFilter): Promise<readonly StoredEvent[]> =>
    (await log.list({ ...wanted, after, limit: readAtOnce })).items;
  if (!isFiltered(filter)) return await page({});
  const [wanted, lost] = await Promise.all([page(filter), page({ action: lostAction })]);
  const both = [...wanted, ...lost].toSorted((one, other) => one.seq - other.seq);
  return both.filter(({ seq }, i) => seq !== both[i - 1]?.seq).slice(0, readAtOnce);
}

/** `next` waits for news: those that came since it resolved last count. */
function createNews(
  log: EventBlocks,
  signal: AbortSignal,
): { readonly next: () => Promise<void>; readonly stop: () => void } {
  let wake = Promise.withResolvers<void>();
  const unwatch = log.watch(() => wake.resolve());
  const stop = (): void => {
    unwatch();
    wake.resolve();
  };
  signal.addEventListener('abort', stop, { once: true });
  return {
    stop,
    async next() {
      await wake.promise;
      if (!signal.aborted) wake = Promise.withResolvers();
    },
  };
}
