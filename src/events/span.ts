/** Actions that take time. Each is told of by two events with one span id: `pending` when it begins, and how it ended. */

import { type ErrorData, toData } from '../base/errors.ts';
import type { EventStatus, ObservedEvent } from '../contracts/event-sink.ts';
import { createSpanId, type Emit, unheard } from './events.ts';
import { summaryOf, type SummaryValue } from './payload-summary.ts';

/** Facts about a payload: its shape and size. As a function it is asked only where somebody listens. */
export type Payload = Readonly<Record<string, SummaryValue>> | (() => Readonly<Record<string, SummaryValue>>);

/** What begins within something else, whose trace it shares. */
export interface InnerFacts extends Pick<ObservedEvent, 'action' | 'target'> {
  /** Who does it; whoever does what is around it, when absent. */
  readonly actor?: ObservedEvent['actor'];
  /** The name of the closing event, where it is not `action`. */
  readonly endAction?: string;
  /** What goes in. */
  readonly payload?: Payload;
  /** A new one when absent. */
  readonly spanId?: string;
  /** When it began, in milliseconds since 1970, where that has been told before. */
  readonly beganAt?: number;
}

/** Where in which trace something begins. */
export interface TraceFacts extends Pick<ObservedEvent, 'traceId' | 'actor'> {
  readonly parentSpanId?: string | undefined;
  /** Whose events these are; the runtime's own when absent. */
  readonly tenant?: string | undefined;
}

/** What begins. */
export interface SpanFacts extends Omit<InnerFacts, 'actor'>, TraceFacts {}

/** How it ended. */
export interface SpanEnd {
  readonly status: Exclude<EventStatus, 'pending'>;
  readonly error?: ErrorData | null;
  /** What came out; what went in is said again before it. */
  readonly payload?: Payload;
}

/** Something within a span that is told of once. */
export interface Told extends Omit<InnerFacts, 'endAction' | 'spanId' | 'beganAt'>, Omit<SpanEnd, 'payload'> {
  /** Milliseconds; 0 when absent. */
  readonly latency?: number;
}

/** A place in a trace. */
export interface Place {
  readonly traceId: string;
  /** Begins something here. */
  readonly start: (inner: InnerFacts) => Span;
  /** Tells of something here that is not followed. */
  readonly tell: (told: Told) => void;
}

/** Something under way. After its end nobody is told of what begins within it. */
export interface Span extends Place {
  readonly spanId: string;
  /** Adds to the payload of the end. */
  readonly note: (payload: Readonly<Record<string, SummaryValue>>) => void;
  /** Tells the end. Only the first call counts. What is still open within ends first: cancelled, or as this failed. */
  readonly end: (how: SpanEnd) => void;
}

/** What spans are told to. */
export interface SpanOptions {
  readonly emit: Emit;
  readonly now: () => number;
}

/** Tells that something begins, and gives what tells its end. */
export function startSpan(facts: SpanFacts, options: SpanOptions): Span {
  return open(facts, facts, options, undefined);
}

/** Gives a place in a trace, for what is within no span of ours. */
export function traceAt(facts: TraceFacts, options: SpanOptions): Place {
  return {
    traceId: facts.traceId,
    start: (inner) => open(facts, inner, options, undefined),
    tell: (told) => tell(facts, told, options),
  };
}

// Events are told of in every step of a run: here objects are written out, as copying fields takes several times as long.

function tell(
  { traceId, tenant, parentSpanId, actor: around }: TraceFacts,
  { actor = around, action, target, status, latency = 0, error = null, payload }: Told,
  { emit }: SpanOptions,
): void {
  if (emit === unheard) return;
  const payloadSummary = summaryOf(read(payload));
  emit({ traceId, tenant, parentSpanId, actor, action, target, status, latency, error, payloadSummary });
}

/** The open spans within one, each of which leaves when it ends. */
type Siblings = Set<Span> | undefined;

function open(place: TraceFacts, given: InnerFacts, options: SpanOptions, siblings: Siblings): Span {
  const { emit, now } = options;
  if (emit === unheard) return silentSpan(place.traceId, given);
  const { traceId, tenant, parentSpanId } = place;
  const { action, endAction = action, target, actor = place.actor, payload, spanId = createSpanId(), beganAt } = given;
  const startedAt = beganAt ?? now();
  const here: TraceFacts = { traceId, tenant, parentSpanId: spanId, actor };
  const tellIt = (name: string, status: EventStatus, latency: number, error: ErrorData | null): void => {
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
  if (beganAt === undefined) tellIt(action, 'pending', 0, null);
  const note = (more: Readonly<Record<string, SummaryValue>>): void => {
    noted = { ...noted, ...more };
    summary = undefined;
  };
  const span: Span = {
    traceId,
    spanId,
    note,
    start: (more) => open(here, more, ended ? silent : options, inner ??= new Set()),
    tell: (told) => tell(here, told, ended ? silent : options),
    end({ status, error = null, payload: result }) {
      if (ended) return;
      for (const one of inner ?? []) one.end({ status: status === 'ok' ? 'cancelled' : status, error });
      ended = true;
      siblings?.delete(span);
      if (result !== undefined) note(read(result));
      tellIt(endAction, status, Math.max(0, now() - startedAt), error); // a clock may be set back
    },
  };
  siblings?.add(span);
  return span;
}

/** What nobody hears of has ids all the same: others may be told of them. */
function silentSpan(traceId: string, { spanId = createSpanId() }: InnerFacts): Span {
  return {
    traceId,
    spanId,
    start: (inner) => silentSpan(traceId, inner),
    tell: () => undefined,
    note: () => undefined,
    end: () => undefined,
  };
}

function read(payload: Payload | undefined): Readonly<Record<string, SummaryValue>> {
  return typeof payload === 'function' ? payload() : payload ?? {};
}

const silent: SpanOptions = { emit: unheard, now: () => 0 };

/** Does the work inside a span, which ends however the work ends. Rejects as the work does. */
export function withSpan<T>(facts: SpanFacts, options: SpanOptions, work: (span: Span) => Promise<T>): Promise<T> {
  return finish(startSpan(facts, options), work);
}

/** Does the work inside a span at a place, where there is one. Rejects as the work does. */
export function within<T>(
  around: Place | undefined,
  inner: InnerFacts,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  return around ? finish(around.start(inner), work) : work(undefined);
}

async function finish<T>(span: Span, work: (span: Span) => Promise<T>): Promise<T> {
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
