/** Events as spans and metrics of OpenTelemetry, by its conventions for generative AI. Without a provider nothing happens. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { metrics, ROOT_CONTEXT, trace } from '@opentelemetry/api';
import { createOtelSink, type OtelSink, type OtelSinkOptions } from './otel-sink.ts';

export type { OtelSink, OtelSinkOptions } from './otel-sink.ts';

/**
 * Creates a sink that turns events into spans: the opening event starts one, the closing event ends it, and a single event
 * becomes an event within its span.
 *
 * @example
 * const { sink, close } = otelSink(); // Deno with OTEL_DENO=true has a provider
 * const runtime = createRuntime({ catalog, models, storage, sinks: [sink] });
 */
export function otelSink(options: OtelSinkOptions = {}): OtelSink {
  checkNames('create the sink', options, optional('tracerProvider', 'meterProvider', 'ids'));
  return createOtelSink({ metrics, ROOT_CONTEXT, trace }, options);
}
