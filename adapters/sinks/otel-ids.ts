/** Ids of spans that are those of our events, for providers that take a generator of ids. */

import { createSpanId, createTraceId } from '../../src/events/trace-ids.ts';

/** A generator of ids, as the OpenTelemetry SDKs take one. */
export interface EventIds {
  readonly generateTraceId: () => string;
  readonly generateSpanId: () => string;
  /** Makes a span while these are the next ids. Spans that others make get random ones. */
  readonly use: <T>(ids: { readonly traceId: string; readonly spanId: string }, make: () => T) => T;
}

/**
 * Creates an id generator for a provider and for the `otelSink` that writes to it. Spans then have the same ids as the events,
 * which are also the ids that `traceparent` sends to other processes.
 *
 * @example
 * const ids = eventIds();
 * const tracerProvider = new TracerProvider({ idGenerator: ids, spanProcessors });
 * const { sink } = otelSink({ tracerProvider, ids });
 */
export function eventIds(): EventIds {
  let next: { readonly traceId: string; readonly spanId: string } | undefined;
  return {
    generateTraceId: () => next?.traceId ?? createTraceId(),
    generateSpanId: () => next?.spanId ?? createSpanId(),
    use(ids, make) {
      next = ids;
      try {
        return make();
      } finally {
        next = undefined;
      }
    },
  };
}
