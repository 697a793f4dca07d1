/** Actions that take time. Each is told of by two events with one span id: `pending` when it begins, and how it ended. */

import { type ErrorData, toData } from './errors.ts';
import { createSpanId, type Emit, type EventStatus, type ObservedEvent } from './events.ts';
import { summaryOf, type SummaryValue } from './payload-summary.ts';

/** What begins. */
export interface SpanFacts extends Pick<ObservedEvent, 'traceId' | 'actor' | 'action' | 'target'> {
  readonly parentSpanId?: string | undefined;
  /** The name of the closing event, where it is not `action`. */
  readonly endAction?: string;
  /** The shape and size of what goes in. */
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

/** How it ended. */
export interface SpanEnd {
  readonly status: Exclude<EventStatus, 'pending'>;
  readonly error?: ErrorData | null;
  /** The shape and size of what came out; what went in is said again before it. */
  readonly payload?: Readonly<Record<string, SummaryValue>>;
}

/** Something under way. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** Tells the end. Only the first call counts. */
  readonly end: (how: SpanEnd) => void;
}

/** What spans are told to. */
export interface SpanOptions {
  readonly emit: Emit;
  readonly now: () => number;
}

/** Tells that something begins, and gives what tells its end. */
export function startSpan(
  { endAction, payload = {}, parentSpanId, ...facts }: SpanFacts,
  { emit, now }: SpanOptions,
): Span {
  const startedAt = now();
  const spanId = createSpanId();
  const ids = { spanId, ...(parentSpanId !== undefined && { parentSpanId }) };
  let open = true;
  emit({ ...facts, ...ids, status: 'pending', latency: 0, error: null, payloadSummary: summaryOf(payload) });
  return {
    traceId: facts.traceId,
    spanId,
    end({ status, error = null, payload: result = {} }) {
      if (!open) return;
      open = false;
      const latency = Math.max(0, now() - startedAt); // a clock may be set back
      const payloadSummary = summaryOf({ ...payload, ...result });
      emit({ ...facts, ...ids, action: endAction ?? facts.action, status, latency, error, payloadSummary });
    },
  };
}

/** Does the work inside a span, which ends however the work ends. Rejects as the work does. */
export async function withSpan<T>(
  facts: SpanFacts,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = startSpan(facts, options);
  try {
    const result = await work(span);
    span.end({ status: 'ok' });
    return result;
  } catch (thrown) {
    const error = toData(thrown);
    span.end({ status: statusOfError(error), error });
    throw thrown;
  }
}

/** How an action stands that has failed so. */
export function statusOfError({ code }: Pick<ErrorData, 'code'>): Exclude<EventStatus, 'pending' | 'ok'> {
  if (code === 'cancelled') return 'cancelled';
  return code === 'forbidden' || code === 'approval_required' ? 'denied' : 'error';
}
