/** The last events of this instance, for those who watch: kept in a ring, read at each one's own pace. */

import { type EventFilter, matchesFilter } from './event-query.ts';
import type { ObservedEvent } from './events.ts';

/** An event as a watcher gets it. */
export interface SeenEvent {
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
  /** The number of the last event. */
  readonly lastSeq: number;
  /** Keeps an event, whose tenant may see it. Wakes watchers and waits for none. */
  readonly hear: (event: ObservedEvent, tenant: string | undefined) => void;
  /** Gives the events that may be seen, as they come. */
  readonly watch: (
    isVisible: (tenant: string | undefined) => boolean,
    options?: WatchOptions,
  ) => ReadableStream<SeenEvent>;
}

interface Kept {
  readonly event: ObservedEvent;
  readonly tenant: string | undefined;
}

/** Gives an empty ring that keeps so many events; 2,000 when absent. With 0 there is nothing to watch, and telling costs less. */
export function createEventRing({ capacity = 2000 }: { readonly capacity?: number } = {}): EventRing {
  const kept: Kept[] = []; // the event `seq` stands at `seq % capacity`
  const waiting = new Set<() => void>();
  let last = 0;
  const oldest = (): number => Math.max(1, last - capacity + 1);
  return {
    capacity,
    get lastSeq() {
      return last;
    },
    hear(event, tenant) {
      kept[++last % capacity] = { event, tenant };
      if (waiting.size === 0) return;
      for (const wake of waiting) wake();
      waiting.clear();
    },
    watch(isVisible, { filter = {}, after, signal } = {}) {
      // A number that is not reached yet is another instance's, or from before a restart: then all that is there is news.
      let at = after === undefined ? last : after <= last ? Math.max(0, Math.trunc(after)) : 0;
      let dropped = 0;
      const next = (): SeenEvent | undefined => {
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
      return streamOf(next, waiting, signal);
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
