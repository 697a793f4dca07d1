/** Sends the spans of runs to any back end with OTLP over HTTP: Langfuse, Grafana Tempo, Jaeger, Honeycomb. */

import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'; // SDK 2: `BasicTracerProvider` of sdk-trace-base
import { otelSink } from 'pinnace/sinks/otel';
import { eventIds } from 'pinnace/sinks/otel-ids';

/** Pass `sink` to `createRuntime({ sinks })`, and call `close` when the process ends. */
export function otlpSink({ url, headers }: { readonly url: string; readonly headers: Record<string, string> }) {
  const ids = eventIds(); // spans get the ids that `traceparent` sends to other services
  const exporter = new OTLPTraceExporter({ url, headers });
  const tracerProvider = new TracerProvider({
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  const otel = otelSink({ tracerProvider, ids });
  const close = async (): Promise<void> => {
    otel.close();
    await tracerProvider.shutdown();
  };
  return { sink: otel.sink, close };
}
