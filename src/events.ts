/** What happens, as events that audit, metrics, traces and the playground read. */

import { type ErrorData, toLoggable } from './errors.ts';
import type { EventRing } from './event-ring.ts';
import type { EventSink } from './ports.ts';

/** How an action stands. */
export type EventStatus = 'pending' | 'ok' | 'error' | 'denied' | 'cancelled';

/** One thing that happened. The fields are the platform specification's. */
export interface ObservedEvent {
  /** ISO 8601, UTC. */
  readonly timestamp: string;
  /** 32 hexadecimal digits, W3C Trace Context. */
  readonly traceId: string;
  /** 16 hexadecimal digits, where the action is a span of its own. */
  readonly spanId?: string;
  readonly parentSpanId?: string;
  readonly actor: { readonly type: 'agent' | 'user' | 'system'; readonly id: string };
  /** Noun then verb: `run.start`, `run.end`, `tool.call`. What takes time is told of twice, see `startSpan`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly status: EventStatus;
  /** Milliseconds, from the start of the action. */
  readonly latency: number;
  readonly error: ErrorData | null;
  /** Shape and size, never content: `key=value` pairs, see `summaryOf`. */
  readonly payloadSummary: string;
}

/** An event as it is told: the time is added, and the tenant, whose event it is, is for those who choose who may see it. */
export type ToldEvent = Omit<ObservedEvent, 'timestamp'> & { readonly tenant?: string | undefined };

/** Hands an event to every sink. */
export type Emit = (event: ToldEvent) => void;

/** Tells nobody: whoever would tell this need not even put it into words. */
export const unheard: Emit = () => undefined;

/** Who is told of events. */
export interface EmitOptions {
  readonly sinks: readonly EventSink[];
  /** Keeps the last events for those who watch. */
  readonly ring?: Pick<EventRing, 'capacity' | 'hear'> | undefined;
  readonly now: () => number;
}

/** Gives the function that hands events to the sinks in order. A sink that fails loses its event and nothing else. */
export function createEmit({ sinks, ring: given, now }: EmitOptions): Emit {
  const ring = given && given.capacity > 0 ? given : undefined;
  if (sinks.length === 0 && !ring) return unheard;
  const timestamp = createTimestamps();
  return (told) => {
    const { tenant, error } = told;
    const stamped = stamp(told, timestamp(now()), error && toLoggable(error));
    ring?.hear(stamped, tenant);
    for (const sink of sinks) {
      try {
        // A sink may be an async function all the same: its rejection must not become an unhandled one.
        void Promise.resolve(sink(stamped)).catch(() => undefined);
      } catch {
        // Only this sink loses the event.
      }
    }
  };
}

/** The event without its tenant. Written out: copying all fields but one takes several times as long, for every event. */
function stamp(
  { traceId, spanId, parentSpanId, actor, action, target, status, latency, payloadSummary }: ToldEvent,
  timestamp: string,
  error: ErrorData | null,
): ObservedEvent {
  const facts = { actor, action, target, status, latency, error, payloadSummary };
  if (spanId !== undefined && parentSpanId !== undefined) return { timestamp, traceId, spanId, parentSpanId, ...facts };
  if (spanId !== undefined) return { timestamp, traceId, spanId, ...facts };
  if (parentSpanId !== undefined) return { timestamp, traceId, parentSpanId, ...facts };
  return { timestamp, traceId, ...facts };
}

/** Gives the function that writes a time. Events come in bursts: one that comes in the same millisecond shares the text. */
function createTimestamps(): (time: number) => string {
  let [last, text] = [NaN, ''];
  return (time) => {
    if (time !== last) [last, text] = [time, new Date(time).toISOString()];
    return text;
  };
}

/** A new W3C trace id: 16 random bytes as hexadecimal digits. */
export function createTraceId(): string {
  return crypto.randomUUID().replaceAll('-', '');
}

/** A new W3C span id: 8 random bytes as hexadecimal digits. */
export function createSpanId(): string {
  const uuid = crypto.randomUUID();
  return uuid.slice(24) + uuid.slice(0, 4); // both random throughout, and no dash between
}
