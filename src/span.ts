/** Actions that take time. Each is told of by two events with one span id: `pending` when it begins, and how it ended. */

import { type ErrorData, toData } from './errors.ts';
import { createSpanId, type Emit, type EventStatus, type ObservedEvent, unheard } from './events.ts';
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
  return open(facts, options, undefined);
}

/** Gives a place in a trace, for what is within no span of ours. */
export function traceAt(facts: TraceFacts, options: SpanOptions): Place {
  return {
    traceId: facts.traceId,
    start: (inner) => open({ ...facts, ...inner }, options, undefined),
    tell: (told) => tell(facts, told, options),
  };
}

function tell(
  { parentSpanId, ...facts }: TraceFacts,
  { payload, error = null, latency = 0, ...told }: Told,
  { emit }: SpanOptions,
): void {
  if (emit === unheard) return;
  const parent = parentSpanId === undefined ? {} : { parentSpanId };
  emit({ ...facts, ...parent, ...told, latency, error, payloadSummary: summaryOf(read(payload)) });
}

/** The open spans within one, each of which leaves when it ends. */
type Siblings = Set<Span> | undefined;

function open(given: SpanFacts, options: SpanOptions, siblings: Siblings): Span {
  const { emit, now } = options;
  const { endAction, payload, parentSpanId, spanId = createSpanId(), beganAt, ...facts } = given;
  const { traceId, actor, tenant } = facts;
  const isHeard = emit !== unheard;
  const startedAt = beganAt ?? (isHeard ? now() : 0);
  const ids = parentSpanId === undefined ? { spanId } : { spanId, parentSpanId };
  const here: TraceFacts = { traceId, actor, tenant, parentSpanId: spanId };
  const inner: Siblings = new Set();
  let noted = isHeard ? read(payload) : {};
  let ended = false;
  if (isHeard && beganAt === undefined) {
    emit({ ...facts, ...ids, status: 'pending', latency: 0, error: null, payloadSummary: summaryOf(noted) });
  }
  const span: Span = {
    traceId,
    spanId,
    start: (more) => open({ ...here, ...more }, ended ? silent : options, inner),
    tell: (told) => tell(here, told, ended ? silent : options),
    note(more) {
      noted = { ...noted, ...more };
    },
    end({ status, error = null, payload: result }) {
      if (ended) return;
      for (const one of inner) one.end({ status: status === 'ok' ? 'cancelled' : status, error });
      ended = true;
      siblings?.delete(span);
      if (!isHeard) return;
      const latency = Math.max(0, now() - startedAt); // a clock may be set back
      const payloadSummary = summaryOf({ ...noted, ...read(result) });
      emit({ ...facts, ...ids, action: endAction ?? facts.action, status, latency, error, payloadSummary });
    },
  };
  siblings?.add(span);
  return span;
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
