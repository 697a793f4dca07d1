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
