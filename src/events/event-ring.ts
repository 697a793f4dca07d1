/** The last events of this instance, for those who watch: kept in a ring, read at each one's own pace. */

import { type EventFilter, matchesFilter } from './event-query.ts';
import type { EventStore } from './event-store.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/** An event as a watcher gets it. */
export interface RingEvent {
  /** Its number on this instance, from 1. */
  readonly seq: number;
  readonly event: ObservedEvent;
  /** So many events before this one came and went unread: the watcher was too slow, or came too late. */
  readonly dropped?: number;
}

/** What a watcher wants. */
export interface WatchOptions {
  /** Those that have all of this; all when absent. */
  readonly filter?: EventFilter | undefined;
  /** Also those that came behind this number and are still there; 0 for all that are. Without it, those that come from now on. */
  readonly after?: number | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined;
}

/** The ring. */
export interface EventRing {
  /** So many events are kept. */
  readonly capacity: number;
  /** Keeps the same events for longer, where there is one. */
  readonly store: EventStore | undefined;
  /** The number of the last event. */
  readonly lastSeq: number;
  /** Keeps an event, whose tenant may see it. Wakes watchers and waits for none. */
  readonly hear: (event: ObservedEvent, tenant: string | undefined) => void;
  /** Gives the events that may be seen, as they come. */
  readonly watch: (
    isVisible: (tenant: string | undefined) => boolean,
    options?: WatchOptions,
  ) => ReadableStream<RingEvent>;
  /** Gives those that are there now. */
  readonly read: (
    isVisible: (tenant: string | undefined) => boolean,
    options?: Omit<WatchOptions, 'signal'>,
  ) => readonly RingEvent[];
}

/** What a ring is made of. */
export interface EventRingOptions {
  /** So many events are kept; 2,000 when absent. With 0 there is nothing to watch, and telling costs less. */
  readonly capacity?: number;
  /** Keeps the same events for longer: watchers over HTTP then go on where they were, at whichever instance. */
  readonly store?: EventStore | undefined;
}

interface Kept {
  readonly event: ObservedEvent;
  readonly tenant: string | undefined;
}

/** Gives an empty ring. */
export function createEventRing({ capacity = 2000, store }: EventRingOptions = {}): EventRing {
  const kept: Kept[] = []; // the event `seq` stands at `seq % capacity`
  const waiting = new Set<() => void>();
  let last = 0;
  const oldest = (): number => Math.max(1, last - capacity + 1);
  /** Gives what reads on, one event at a time. */
  const reader = (
    isVisible: (tenant: string | undefined) => boolean,
    { filter = {}, after }: Omit<WatchOptions, 'signal'>,
  ): () => RingEvent | undefined => {
    // A number that is not reached yet is another instance's, or from before a restart: then all that is there is news.
    let at = after === undefined ? last : after <= last ? Math.max(0, Math.trunc(after)) : 0;
    let dropped = 0;
    return () => {
      const from = oldest();
      if (at + 1 < from) {
        dropped += from - 1 - at;
        at = from - 1;
      }
      while (at < last) {
        const { event, tenant } = kept[++at % capacity]!; // safe: the latest are all there
        if (!isVisible(tenant) || !matchesFilter(event, filter)) continue;
        const seen = dropped > 0 ? { seq: at, event, dropped } : { seq: at, event };
        dropped = 0;
        return seen;
      }
      return undefined;
    };
  };
  return {
    capacity,
    store,
    get lastSeq() {
      return last;
    },
    hear(event, tenant) {
      store?.hear(event, tenant);
      if (capacity === 0) return;
      kept[++last % capacity] = { event, tenant };
      if (waiting.size === 0) return;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    watch: (isVisible, { signal, ...wanted } = {}) => streamOf(reader(isVisible, wanted), waiting, signal),
    read(isVisible, wanted = {}) {
      const next = reader(isVisible, wanted);
      const events: RingEvent[] = [];
      for (let event = next(); event; event = next()) events.push(event);
      return events;
    },
  };
}

/** Gives what `next` gives, when it is asked for; where there is nothing, once somebody wakes. */
function streamOf<T>(
  next: () => T | undefined,
  waiting: Set<() => void>,
  signal: AbortSignal | undefined,
): ReadableStream<T> {
  const stop = new AbortController();
  const end = (): void => stop.abort();
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  const news = async (): Promise<void> => {
    const { promise, resolve } = Promise.withResolvers<void>();
    waiting.add(resolve);
    stop.signal.addEventListener('abort', () => resolve(), { once: true });
    await promise;
    waiting.delete(resolve);
  };
  return new ReadableStream<T>({
    async pull(controller) {
      while (!stop.signal.aborted) {
        const item = next();
        if (item !== undefined) return controller.enqueue(item);
        await news();
      }
      controller.close();
    },
    cancel() {
      signal?.removeEventListener('abort', end);
      stop.abort();
    },
  }, { highWaterMark: 0 });
}
