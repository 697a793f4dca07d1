/** The last events of this instance in a ring. Each subscriber reads at its own pace. */

import { checkNames, optional } from '../base/check-options.ts';
import { type Emit, type EmittedEvent, unobserved } from './events.ts';
import { type ErrorData, toLoggable } from '../base/errors.ts';
import { type ErrorContext, type Report, unreported } from './report.ts';
import type { EventSink, ObservedEvent } from '../contracts/event-sink.ts';
import { type EventFilter, type EventStore, matchesFilter } from './event-query.ts';

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
export function createEventRing(options: EventRingOptions = {}): EventRing {
  checkNames('create the ring', options, optional('capacity', 'store'));
  const { capacity = 2000, store } = options;
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

export interface EmitOptions {
  readonly sinks: readonly EventSink[];
  /** Holds the last events for subscribers. */
  readonly ring?: Pick<EventRing, 'capacity' | 'observe' | 'store'> | undefined;
  readonly now: () => number;
  /** Receives what a sink throws. */
  readonly report?: Report;
}

/** Returns the function that hands events to the sinks in order. A sink that fails loses its event and nothing else. */
export function createEmit({ sinks, ring: given, now, report = unreported }: EmitOptions): Emit {
  const ring = given && (given.capacity > 0 || given.store) ? given : undefined;
  if (sinks.length === 0 && !ring) return unobserved;
  const timestamp = createTimestamps();
  return (emitted) => {
    const { tenant, error } = emitted;
    const stamped = stamp(emitted, timestamp(now()), error && toLoggable(error));
    ring?.observe(stamped, tenant);
    for (const [at, sink] of sinks.entries()) {
      try {
        const result: unknown = sink(stamped);
        // A sink may be an async function: its rejection must not become an unhandled one.
        if (result !== undefined) {
          void Promise.resolve(result).catch((thrown: unknown) => report(thrown, lossOf(sink, at, stamped)));
        }
      } catch (thrown) {
        report(thrown, lossOf(sink, at, stamped)); // only this sink loses the event
      }
    }
  };
}

function lossOf({ name }: EventSink, at: number, { traceId }: ObservedEvent): ErrorContext {
  return { kind: 'sink', id: name || String(at), traceId };
}

/** The event without its tenant. Written out, because copying all fields but one takes several times as long. */
function stamp(
  { traceId, spanId, parentSpanId, actor, action, target, status, latency, payloadSummary }: EmittedEvent,
  timestamp: string,
  error: ErrorData | null,
): ObservedEvent {
  const facts = { actor, action, target, status, latency, error, payloadSummary };
  if (spanId !== undefined && parentSpanId !== undefined) return { timestamp, traceId, spanId, parentSpanId, ...facts };
  if (spanId !== undefined) return { timestamp, traceId, spanId, ...facts };
  if (parentSpanId !== undefined) return { timestamp, traceId, parentSpanId, ...facts };
  return { timestamp, traceId, ...facts };
}

/** Returns the function that formats a time as ISO 8601. It caches the current second, because events come in bursts. */
export function createTimestamps(): (time: number) => string {
  let [second, text] = [NaN, ''];
  return (time) => {
    const now = Math.floor(time / 1000);
    if (now !== second) [second, text] = [now, new Date(now * 1000).toISOString().slice(0, -4)];
    return `${text}${String(Math.floor(time - now * 1000)).padStart(3, '0')}Z`;
  };
}
