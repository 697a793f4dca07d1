/** Actions that take time. Each emits two events with one span id: `pending` at its start, and its outcome at its end. */

import { type ErrorData, toData } from '../base/errors.ts';
import type {
  EventStatus,
  InnerFacts,
  ObservedEvent,
  Payload,
  Span,
  SpanContext,
  SpanEvent,
  SpanFacts,
  SummaryValue,
  TraceFacts,
} from '../contracts/event-sink.ts';
import type { Principal } from '../base/principal.ts';
import { type Emit, unobserved } from './events.ts';
import { createSpanId } from './trace-ids.ts';
import { summaryOf } from './payload-summary.ts';

export type {
  InnerFacts,
  Payload,
  Span,
  SpanContext,
  SpanEnd,
  SpanEvent,
  SpanFacts,
  TraceFacts,
} from '../contracts/event-sink.ts';

/** Where spans emit their events. */
export interface SpanOptions {
  readonly emit: Emit;
  readonly now: () => number;
}

/** The actor of what a principal does, in events and in the audit: whose it is, and who has acted. */
export function actorOf(
  { subject, actor: by }: Pick<Principal, 'subject'> & { readonly actor?: string | undefined },
): ObservedEvent['actor'] {
  return by === undefined ? { type: 'user', id: subject } : { type: 'user', id: subject, by };
}

/** Emits the start of an action and returns its span. */
export function startSpan(facts: SpanFacts, options: SpanOptions): Span {
  return open(facts, facts, options, undefined);
}

/** Returns a position in a trace, for actions outside of any span. */
export function traceAt(facts: TraceFacts, options: SpanOptions): SpanContext {
  return {
    traceId: facts.traceId,
    start: (inner) => open(facts, inner, options, undefined),
    emit: (event) => emitOnce(facts, event, options),
  };
}

// Every step of a run emits events: objects are written out here, because copying fields takes several times as long.

function emitOnce(
  { traceId, tenant, parentSpanId, actor: around }: TraceFacts,
  { actor = around, action, target, status, latency = 0, error = null, payload }: SpanEvent,
  { emit }: SpanOptions,
): void {
  if (emit === unobserved) return;
  const payloadSummary = summaryOf(read(payload));
  emit({ traceId, tenant, parentSpanId, actor, action, target, status, latency, error, payloadSummary });
}

/** The open spans inside one; each is removed when it ends. */
type Siblings = Set<Span> | undefined;

function open(around: TraceFacts, given: InnerFacts, options: SpanOptions, siblings: Siblings): Span {
  const { emit, now } = options;
  if (emit === unobserved) return silentSpan(around.traceId, given);
  const { traceId, tenant, parentSpanId } = around;
  const { action, endAction = action, target, actor = around.actor, payload, spanId = createSpanId() } = given;
  const startedAt = given.startedAt ?? now();
  const here: TraceFacts = { traceId, tenant, parentSpanId: spanId, actor };
  const emitIt = (name: string, status: EventStatus, latency: number, error: ErrorData | null): void => {
    const payloadSummary = summary ??= summaryOf(noted);
    emit({
      traceId,
      tenant,
      spanId,
      parentSpanId,
      actor,
      action: name,
      target,
      status,
      latency,
      error,
      payloadSummary,
    });
  };
  let noted = read(payload);
  let summary: string | undefined;
  let inner: Siblings;
  let ended = false;
  if (given.startedAt === undefined) emitIt(action, 'pending', 0, null);
  const note = (more: Readonly<Record<string, SummaryValue>>): void => {
    noted = { ...noted, ...more };
    summary = undefined;
  };
  const span: Span = {
    traceId,
    spanId,
    note,
    start: (more) => open(here, more, ended ? silent : options, inner ??= new Set()),
    emit: (event) => emitOnce(here, event, ended ? silent : options),
    end({ status, error = null, payload: result }) {
      if (ended) return;
      for (const one of inner ?? []) one.end({ status: status === 'ok' ? 'cancelled' : status, error });
      ended = true;
      siblings?.delete(span);
      if (result !== undefined) note(read(result));
      emitIt(endAction, status, Math.max(0, now() - startedAt), error); // a clock may be set back
    },
  };
  siblings?.add(span);
  return span;
}

/** A span without listeners still has ids: the caller may send them elsewhere. */
function silentSpan(traceId: string, { spanId = createSpanId() }: InnerFacts): Span {
  return {
    traceId,
    spanId,
    start: (inner) => silentSpan(traceId, inner),
    emit: () => undefined,
    note: () => undefined,
    end: () => undefined,
  };
}

function read(payload: Payload | undefined): Readonly<Record<string, SummaryValue>> {
  return typeof payload === 'function' ? payload() : payload ?? {};
}

const silent: SpanOptions = { emit: unobserved, now: () => 0 };

/** Runs the work inside a span, if there is a position in a trace. Rejects as the work does. */
export async function within<T>(
  around: SpanContext | undefined,
  inner: InnerFacts,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  if (!around) return await work(undefined);
  const span = around.start(inner);
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

/** Returns the status of an action that failed with this error. */
export function statusOfError({ code }: Pick<ErrorData, 'code'>): Exclude<EventStatus, 'pending' | 'ok'> {
  if (code === 'cancelled') return 'cancelled';
  return code === 'forbidden' || code === 'approval_required' ? 'denied' : 'error';
}

/** The caller's trace, and the span in it that is the parent. A missing one starts a new trace. */
export type CallerTrace = { readonly traceId: string; readonly parentSpanId?: string | undefined } | undefined;
