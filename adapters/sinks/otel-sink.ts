/** Events as spans and metrics of OpenTelemetry. The API is passed in: a server that does not trace need not have its package. */

import type {
  Context,
  MeterProvider,
  metrics,
  ROOT_CONTEXT,
  Span,
  SpanContext,
  trace,
  TracerProvider,
} from '@opentelemetry/api';
import type { EventSink, ObservedEvent } from '../../src/contracts/event-sink.ts';
import { createSpanId } from '../../src/events/trace-ids.ts';
import { createFigures, type RunCounts } from './otel-figures.ts';
import type { EventIds } from './otel-ids.ts';
import { scope } from './otel-names.ts';
import { endOf, failureOf, ownOf, shapeOf, statusOf } from './otel-spans.ts';

/** Where spans and metrics go. */
export interface OtelSinkOptions {
  /** The one that the API knows, when absent. */
  readonly tracerProvider?: TracerProvider;
  /** The one that the API knows, when absent. */
  readonly meterProvider?: MeterProvider;
  /** The generator that the provider makes ids with. Without one spans have ids of their own, and keep the trace's. */
  readonly ids?: EventIds;
}

/** A sink with the spans that it holds open. */
export interface OtelSink {
  readonly sink: EventSink;
  /** How many spans have started and not ended. */
  readonly open: number;
  /** Ends the spans that are open, as they are. */
  readonly close: () => void;
}

/** More open spans than a process can have runs and calls: then ends were lost, and the oldest are ended as they are. */
const maxOpen = 10_000;
/** So many spans that have ended can still be the parents of others. */
const maxKnown = 10_000;

interface OpenSpan {
  readonly span: Span;
  /** Counts for the run that this is within, or is. */
  readonly counts: RunCounts | undefined;
}

export interface OtelApi {
  readonly metrics: typeof metrics;
  readonly trace: typeof trace;
  readonly ROOT_CONTEXT: typeof ROOT_CONTEXT;
}

/** Parents are passed explicitly because browsers have no current span. */
export function createOtelSink(api: OtelApi, { tracerProvider, meterProvider, ids }: OtelSinkOptions = {}): OtelSink {
  const { metrics, trace } = api;
  const tracer = (tracerProvider ?? trace).getTracer(scope);
  const count = createFigures((meterProvider ?? metrics).getMeter(scope));
  const open = new Map<string, OpenSpan>();
  const known = new Map<string, SpanContext>();

  const start = (event: ObservedEvent, startedAt: Date): OpenSpan => {
    const { name, ...shape } = shapeOf(event);
    const { traceId, spanId = createSpanId() } = event;
    const parent = parentOf(event, api, { known, standIn: ids === undefined ? spanId : undefined });
    const make = (): Span => tracer.startSpan(name, { ...shape, startTime: startedAt }, parent);
    const span = ids ? ids.use({ traceId, spanId }, make) : make();
    put(known, keyOf(traceId, spanId), span.spanContext(), maxKnown);
    return { span, counts: countsOf(event, open) };
  };
  const end = ({ span, counts }: OpenSpan, event: ObservedEvent): void => {
    span.setAttributes(endOf(event));
    span.setStatus(statusOf(event));
    span.end(new Date(event.timestamp));
    count(event, counts);
  };
  const close = (): void => {
    for (const { span } of open.values()) span.end();
    open.clear();
  };
  return {
    get open() {
      return open.size;
    },
    close,
    sink(event) {
      const { traceId, spanId, status, latency, timestamp } = event;
      const at = Date.parse(timestamp);
      if (spanId === undefined && latency === 0) {
        return tellWithin(event, open, () => end(start(event, new Date(at)), event));
      }
      const key = keyOf(traceId, spanId ?? '');
      if (status === 'pending') {
        const lost = put(open, key, start(event, new Date(at)), maxOpen);
        return lost?.span.end();
      }
      const started = open.get(key) ?? start(event, new Date(at - latency)); // its start was not emitted here
      open.delete(key);
      end(started, event);
    },
  };
}

/** A single event belongs to the open span around it; without one, it is a span of no length. */
function tellWithin(event: ObservedEvent, open: ReadonlyMap<string, OpenSpan>, alone: () => void): void {
  const around = open.get(keyOf(event.traceId, event.parentSpanId ?? ''));
  if (!around) return alone();
  const attributes = { ...ownOf(event), ...failureOf(event) };
  around.span.addEvent(event.action, attributes, new Date(event.timestamp));
}

/** Calls are counted for the run around them, however deep they are in it. */
function countsOf({ action, traceId, parentSpanId }: ObservedEvent, open: ReadonlyMap<string, OpenSpan>) {
  if (action === 'run.start') return { inferenceCalls: 0, toolCalls: 0 };
  if (action === 'run.end') return undefined; // not those of a run around it
  const counts = parentSpanId === undefined ? undefined : open.get(keyOf(traceId, parentSpanId))?.counts;
  if (counts && action === 'model.call') counts.inferenceCalls += 1;
  if (counts && action === 'tool.call') counts.toolCalls += 1;
  return counts;
}

const sampled = 1; // TraceFlags.SAMPLED

/**
 * The context in which a span starts. An unknown parent belongs to another process, by the ids of W3C Trace Context. Where the
 * provider creates ids, the first span of a trace has a placeholder as parent, which passes the trace's id on.
 */
function parentOf(
  { traceId, parentSpanId }: ObservedEvent,
  { trace, ROOT_CONTEXT }: OtelApi,
  { known, standIn }: { readonly known: ReadonlyMap<string, SpanContext>; readonly standIn: string | undefined },
): Context {
  const spanId = parentSpanId ?? standIn;
  if (spanId === undefined) return ROOT_CONTEXT;
  const context = known.get(keyOf(traceId, spanId)) ??
    { traceId, spanId, traceFlags: sampled, isRemote: true };
  return trace.setSpanContext(ROOT_CONTEXT, context);
}

function keyOf(traceId: string, spanId: string): string {
  return `${traceId}:${spanId}`;
}

/** Adds to a bounded map, and returns the value that it evicts. */
function put<T>(map: Map<string, T>, key: string, value: T, most: number): T | undefined {
  map.set(key, value);
  if (map.size <= most) return undefined;
  const [[oldest, lost] = []] = map;
  if (oldest !== undefined) map.delete(oldest);
  return lost;
}
