/** Observed events, and the port that receives them. */

import type { ErrorData } from '../base/errors.ts';

/** The state of an action. */
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
  /** `by`: who has acted for a user, where that is another: a member of the group, or the back end that signs. */
  readonly actor: { readonly type: 'agent' | 'user' | 'system'; readonly id: string; readonly by?: string };
  /** Noun then verb: `run.start`, `run.end`, `tool.call`. Actions that take time emit two events, see `startSpan`. */
  readonly action: string;
  readonly target: { readonly type: string; readonly id: string };
  readonly status: EventStatus;
  /** Milliseconds, from the start of the action. */
  readonly latency: number;
  readonly error: ErrorData | null;
  /** Shape and size, never content: `key=value` pairs, see `summaryOf`. */
  readonly payloadSummary: string;
}

/** Receives what happens, in order and already redacted. What it throws, or a promise that it rejects, cannot break a run. */
export type EventSink = (event: ObservedEvent) => void;

/** One fact of a payload. Never its content. */
export type SummaryValue = string | number | boolean | undefined;

/** Facts about a payload: its shape and size. A function is called only when events have a listener. */
export type Payload = Readonly<Record<string, SummaryValue>> | (() => Readonly<Record<string, SummaryValue>>);

/** An action inside another one, whose trace it shares. */
export interface InnerFacts extends Pick<ObservedEvent, 'action' | 'target'> {
  /** The actor of the action around it when absent. */
  readonly actor?: ObservedEvent['actor'];
  /** The action of the closing event; `action` when absent. */
  readonly endAction?: string;
  /** The input. */
  readonly payload?: Payload;
  /** A new one when absent. */
  readonly spanId?: string;
  /** Milliseconds since 1970. When present, the start was emitted before and is not emitted again. */
  readonly startedAt?: number;
}

/** A position in a trace. */
export interface TraceFacts extends Pick<ObservedEvent, 'traceId' | 'actor'> {
  readonly parentSpanId?: string | undefined;
  /** The tenant that may read the events; the runtime's own when absent. */
  readonly tenant?: string | undefined;
}

/** An action to start. */
export interface SpanFacts extends Omit<InnerFacts, 'actor'>, TraceFacts {}

/** The outcome of an action. */
export interface SpanEnd {
  readonly status: Exclude<EventStatus, 'pending'>;
  readonly error?: ErrorData | null;
  /** The output. The closing event repeats the input before it. */
  readonly payload?: Payload;
}

/** A single event inside a span. */
export interface SpanEvent extends Omit<InnerFacts, 'endAction' | 'spanId' | 'startedAt'>, Omit<SpanEnd, 'payload'> {
  /** Milliseconds; 0 when absent. */
  readonly latency?: number;
}

/** A position in a trace at which actions start and events are emitted. */
export interface SpanContext {
  readonly traceId: string;
  /** Starts an action inside this one. */
  readonly start: (inner: InnerFacts) => Span;
  /** Emits a single event inside this one. */
  readonly emit: (event: SpanEvent) => void;
}

/** An action in progress. After its end, nothing inside it emits events. */
export interface Span extends SpanContext {
  readonly spanId: string;
  /** Adds to the payload of the closing event. */
  readonly note: (payload: Readonly<Record<string, SummaryValue>>) => void;
  /** Emits the outcome; later calls do nothing. Open spans inside end first: cancelled, or failed as this one. */
  readonly end: (how: SpanEnd) => void;
}
