import { ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { eventIds } from '../../../adapters/sinks/otel-ids.ts';
import { otelSink } from '../../../adapters/sinks/otel.ts';
import { createEmit } from '../../../src/events/event-ring.ts';
import { startSpan } from '../../../src/events/span.ts';
import { readSpans } from '../../tools/otlp.ts';

describe('spans over OTLP', () => {
  it('arrive at a collector with the ids, the parents and the attributes of the events', () => {
    const exporter = new InMemorySpanExporter();
    const ids = eventIds();
    const spanProcessors = [new SimpleSpanProcessor({ exporter })];
    const { sink } = otelSink({ tracerProvider: new TracerProvider({ idGenerator: ids, spanProcessors }), ids });
    const options = { emit: createEmit({ sinks: [sink], now: Date.now }), now: Date.now };
    const common = { traceId: '0af7651916cd43dd8448eb211c80319c', actor: { type: 'agent', id: 'helper' } } as const;
    const run = startSpan({ ...common, action: 'run.start', target: { type: 'agent', id: 'helper' } }, options);
    const within = { ...common, parentSpanId: run.spanId };
    const model = startSpan({ ...within, action: 'model.call', target: { type: 'model', id: 'm-1' } }, options);
    model.end({ status: 'ok', payload: { inputTokens: 12 } });
    run.end({ status: 'ok' });
    const body = ProtobufTraceSerializer.serializeRequest([...exporter.getFinishedSpans()]);
    const [call, whole] = readSpans(body ?? new Uint8Array());
    expect(whole).toMatchObject({
      name: 'invoke_agent helper',
      scope: 'pinnace',
      spanId: run.spanId,
      parentSpanId: '',
    });
    expect(call).toMatchObject({
      name: 'chat m-1',
      traceId: common.traceId,
      spanId: model.spanId,
      parentSpanId: run.spanId,
      kind: 3,
    });
    expect(call?.attributes).toMatchObject({ 'gen_ai.request.model': 'm-1', 'pinnace.actor.id': 'helper' });
    expect(Number(call?.attributes['gen_ai.usage.input_tokens'])).toBe(12);
  });
});
