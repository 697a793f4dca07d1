/** Emits events, which audit, metrics, traces and the playground read. */

import { type ErrorData, toLoggable } from '../base/errors.ts';
import type { EventRing } from './event-ring.ts';
import { type ErrorContext, type Report, unreported } from './report.ts';
import type { EventSink, ObservedEvent } from '../contracts/event-sink.ts';

/** An event as its source emits it: without a time, and with the tenant that may read it. */
export type EmittedEvent =
  & Omit<ObservedEvent, 'timestamp' | 'spanId' | 'parentSpanId'>
  & {
    readonly [field in 'spanId' | 'parentSpanId' | 'tenant']?: string | undefined;
  };

/** Hands an event to every sink. */
export type Emit = (event: EmittedEvent) => void;

/** Emits to no sink. Callers may compare with it to avoid building an event. */
export const unobserved: Emit = () => undefined;

/** Who receives events. */
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
