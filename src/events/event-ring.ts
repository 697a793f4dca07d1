/** The last events of this instance in a ring. Each subscriber reads at its own pace. */

import { type EventFilter, matchesFilter } from './event-query.ts';
import type { EventStore } from './event-chain.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';

/** An event as a subscriber receives it. */
export interface RingEvent {
  /** Its number on this instance, from 1. */
  readonly seq: number;
  readonly event: ObservedEvent;
  /** The number of events dropped before this one, because the subscriber was too slow or too late. */
  readonly dropped?: number;
}

/** The options of a subscriber. */
export interface WatchOptions {
  /** Selects events; all when absent. */
  readonly filter?: EventFilter | undefined;
  /** Also returns stored events behind this number; 0 for all. When absent, only new events. */
  readonly after?: number | undefined;
  /** Ends the stream. */
  readonly signal?: AbortSignal | undefined;
}

/** A ring of events. */
export interface EventRing {
  /** The number of events that the ring holds. */
  readonly capacity: number;
  /** Stores the same events for longer. */
  readonly store: EventStore | undefined;
  /** The number of the last event. */
  readonly lastSeq: number;
  /** Takes an event and its tenant, and wakes subscribers without waiting for them. */
  readonly observe: (event: ObservedEvent, tenant: string | undefined) => void;
  /** Subscribes to the visible events. */
  readonly watch: (
    isVisible: (tenant: string | undefined) => boolean,
    options?: WatchOptions,
  ) => ReadableStream<RingEvent>;
  /** Returns the visible events in the ring. */
  readonly read: (
    isVisible: (tenant: string | undefined) => boolean,
    options?: Omit<WatchOptions, 'signal'>,
  ) => readonly RingEvent[];
}

/** The options of a ring. */
export interface EventRingOptions {
  /** The number of events in the ring; 2,000 when absent. With 0 there are no subscriptions, and emitting costs less. */
  readonly capacity?: number;
  /** Stores the same events for longer: HTTP subscribers then resume at any instance. */
  readonly store?: EventStore | undefined;
}

interface RingEntry {
  readonly event: ObservedEvent;
  readonly tenant: string | undefined;
}

/** Creates an empty ring. */
export function createEventRing({ capacity = 2000, store }: EventRingOptions = {}): EventRing {
  const entries: RingEntry[] = []; // event `seq` is at `seq % capacity`
  const waiting = new Set<() => void>();
  let last = 0;
  const oldest = (): number => Math.max(1, last - capacity + 1);
  /** Returns the function that returns the next event. */
  const reader = (
    isVisible: (tenant: string | undefined) => boolean,
    { filter = {}, after }: Omit<WatchOptions, 'signal'>,
  ): () => RingEvent | undefined => {
    // A higher number is another instance's, or from before a restart: then all events are new.
    let at = after === undefined ? last : after <= last ? Math.max(0, Math.trunc(after)) : 0;
    let dropped = 0;
    return () => {
      const from = oldest();
      if (at + 1 < from) {
        dropped += from - 1 - at;
        at = from - 1;
      }
      while (at < last) {
        const { event, tenant } = entries[++at % capacity]!; // safe: the ring holds the latest events
        if (!isVisible(tenant) || !matchesFilter(event, filter)) continue;
        const next = dropped > 0 ? { seq: at, event, dropped } : { seq: at, event };
        dropped = 0;
        return next;
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
    observe(event, tenant) {
      store?.observe(event, tenant);
      if (capacity === 0) return;
      entries[++last % capacity] = { event, tenant };
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

/** Returns a stream of what `next` returns; where that is nothing, the stream waits until it is woken. */
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
