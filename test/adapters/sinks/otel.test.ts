import { SpanKind } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import { InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import { describe, expect, it } from 'vitest';
import { eventIds } from '../../../adapters/sinks/otel-ids.ts';
import { otelSink } from '../../../adapters/sinks/otel.ts';
import type { Emit } from '../../../src/events/events.ts';
import { createEmit } from '../../../src/events/event-ring.ts';
import { type SpanFacts, startSpan } from '../../../src/events/span.ts';
import { collectMetrics } from './otel-fixture.ts';

const traceId = '0af7651916cd43dd8448eb211c80319c';
const remote = 'b7ad6b7169203331';

interface SetupOptions {
  /** Whether the provider takes the ids of the events. */
  readonly ids?: boolean;
}

/** A sink on an SDK with readable spans, and functions that emit spans to it. */
function setup({ ids: taken = true }: SetupOptions = {}) {
  const exporter = new InMemorySpanExporter();
  const ids = eventIds();
  const tracerProvider = new TracerProvider({
    spanProcessors: [new SimpleSpanProcessor({ exporter })],
    ...(taken && { idGenerator: ids }),
  });
  const { meterProvider, collect } = collectMetrics();
  const otel = otelSink({ tracerProvider, meterProvider, ...(taken && { ids }) });
  let time = Date.UTC(2026, 10, 21);
  const now = () => time;
  const emit = createEmit({ sinks: [otel.sink], now });
  const start = (facts: Partial<SpanFacts> & Pick<SpanFacts, 'action' | 'target'>) =>
    startSpan({ traceId, actor: { type: 'agent', id: 'helper' }, ...facts }, { emit, now });
  const spans = (): Readonly<Record<string, ReadableSpan>> =>
    Object.fromEntries(exporter.getFinishedSpans().map((span) => [span.name, span]));
  return { otel, start, spans, exporter, collect, emit, pass: (ms: number) => time += ms };
}

const run = { action: 'run.start', endAction: 'run.end', target: { type: 'agent', id: 'helper' } } as const;
const step = { action: 'step', target: { type: 'agent', id: 'helper' }, payload: { step: 1 } };
const modelCall = { action: 'model.call', target: { type: 'model', id: 'm-1' }, payload: { provider: 'demo' } };
const toolCall = { action: 'tool.call', target: { type: 'tool', id: 'search' }, payload: { toolCallId: 'call-1' } };
const mcpCall = { action: 'mcp.call', target: { type: 'mcp-server', id: 'docs' }, payload: { tool: 'find' } };

/** One run as the runtime emits it. */
function tellRun({ start, pass }: ReturnType<typeof setup>) {
  const whole = start({ ...run, parentSpanId: remote, payload: { runId: 'run_1', messages: 1 } });
  const one = start({ ...step, parentSpanId: whole.spanId });
  const model = start({ ...modelCall, parentSpanId: one.spanId });
  pass(80);
  const usage = {
    inputTokens: 12,
    cachedTokens: 8,
    cacheWriteTokens: 3,
    outputTokens: 5,
    firstChunkMs: 40,
    finishReason: 'tool-calls',
  };
  model.end({ status: 'ok', payload: usage });
  const tool = start({ ...toolCall, parentSpanId: one.spanId });
  const mcp = start({ ...mcpCall, parentSpanId: tool.spanId });
  pass(20);
  mcp.end({ status: 'ok' });
  tool.end({ status: 'ok' });
  one.end({ status: 'ok' });
  whole.end({ status: 'ok', payload: { state: 'completed' } });
  return { whole, one, model, tool, mcp };
}

const parentOf = (span: ReadableSpan | undefined): string | undefined => span?.parentSpanContext?.spanId;
const msOf = ([seconds, nanos]: readonly [number, number]): number => seconds * 1000 + nanos / 1e6;

describe('otelSink', () => {
  it('nests run, step, model call, tool call and MCP call, by the ids of the events', () => {
    const subject = setup();
    const told = tellRun(subject);
    const spans = subject.spans();
    expect(Object.keys(spans)).toEqual([
      'chat m-1',
      'tools/call find',
      'execute_tool search',
      'step',
      'invoke_agent helper',
    ]);
    const ids = Object.values(spans).map((span) => [span.spanContext().traceId, span.spanContext().spanId]);
    const { model, mcp, tool, one, whole } = told;
    expect(ids).toEqual([model, mcp, tool, one, whole].map(({ spanId }) => [traceId, spanId]));
    expect(Object.values(spans).map(parentOf)).toEqual([
      one.spanId,
      tool.spanId,
      one.spanId,
      whole.spanId,
      remote,
    ]);
    expect(subject.otel.open).toBe(0);
  });

  it('names everything as the conventions do', () => {
    const subject = setup();
    tellRun(subject);
    const spans = subject.spans();
    expect(spans['chat m-1']?.kind).toBe(SpanKind.CLIENT);
    expect(spans['chat m-1']?.attributes).toMatchObject({
      'gen_ai.operation.name': 'chat',
      'gen_ai.request.model': 'm-1',
      'gen_ai.provider.name': 'demo',
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
      'gen_ai.usage.cache_read.input_tokens': 8,
      'gen_ai.usage.cache_creation.input_tokens': 3,
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.response.time_to_first_chunk': 0.04,
      'pinnace.action': 'model.call',
      'pinnace.status': 'ok',
    });
    expect(spans['execute_tool search']?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'search',
      'gen_ai.tool.call.id': 'call-1',
      'pinnace.actor.type': 'agent',
      'pinnace.actor.id': 'helper',
    });
    expect(spans['tools/call find']?.attributes).toMatchObject({
      'mcp.method.name': 'tools/call',
      'gen_ai.tool.name': 'find',
      'pinnace.target.id': 'docs',
    });
    expect(spans['invoke_agent helper']?.attributes).toMatchObject({
      'gen_ai.agent.name': 'helper',
      'pinnace.run.id': 'run_1',
      'pinnace.payload.summary': 'runId=run_1 messages=1 state=completed',
    });
    expect(spans['chat m-1']?.duration).toEqual([0, 80_000_000]);
    expect(msOf(spans['chat m-1']?.startTime ?? [0, 0])).toBe(Date.UTC(2026, 10, 21));
  });

  it('names plans and their agents by what is done alone, for there are ever new ones', () => {
    const subject = setup();
    const plan = subject.start({ action: 'plan.start', endAction: 'plan.end', target: { type: 'plan', id: 'plan_1' } });
    const target = { type: 'plan-agent', id: 'plan_1/1-3-2' };
    const facts = { action: 'agent.create', endAction: 'agent.end', target, parentSpanId: plan.spanId };
    subject.start(facts).end({ status: 'ok' });
    plan.end({ status: 'ok' });
    const spans = subject.spans();
    expect(Object.keys(spans)).toEqual(['create_agent', 'plan']);
    expect(spans['create_agent']?.attributes).toMatchObject({
      'gen_ai.operation.name': 'create_agent',
      'pinnace.target.id': 'plan_1/1-3-2',
    });
    expect(parentOf(spans['create_agent'])).toBe(plan.spanId);
  });

  it('counts what the conventions count, under names of which there are few', async () => {
    const subject = setup();
    tellRun(subject);
    const failed = subject.start(toolCall);
    failed.end({ status: 'error', error: { code: 'unavailable', message: 'Away', retryable: true } });
    const metrics = await subject.collect();
    const model = { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': 'm-1', 'gen_ai.provider.name': 'demo' };
    const agent = { 'gen_ai.agent.name': 'helper' };
    expect(metrics).toEqual({
      'gen_ai.client.inference.duration': [{ labels: model, value: 0.08, unit: 's' }],
      'gen_ai.client.inference.time_to_first_chunk': [{ labels: model, value: 0.04, unit: 's' }],
      'gen_ai.client.inference.usage.input_tokens': [{ labels: model, value: 12, unit: '{token}' }],
      'gen_ai.client.inference.usage.output_tokens': [{ labels: model, value: 5, unit: '{token}' }],
      'gen_ai.execute_tool.duration': [
        { labels: { 'gen_ai.tool.name': 'search' }, value: 0.02, unit: 's' },
        { labels: { 'gen_ai.tool.name': 'search', 'error.type': 'unavailable' }, value: 0, unit: 's' },
      ],
      'gen_ai.invoke_agent.duration': [{ labels: agent, value: 0.1, unit: 's' }],
      'gen_ai.invoke_agent.inference_calls': [{ labels: agent, value: 1, unit: '{call}' }],
      'gen_ai.invoke_agent.tool_calls': [{ labels: agent, value: 1, unit: '{call}' }],
      'mcp.client.operation.duration': [{ labels: { 'mcp.method.name': 'tools/call' }, value: 0.02, unit: 's' }],
    });
  });

  it('keeps traces and nesting where the provider makes ids of its own', () => {
    const subject = setup({ ids: false });
    const { whole, tool } = tellRun(subject);
    const spans = subject.spans();
    expect(new Set(Object.values(spans).map((span) => span.spanContext().traceId))).toEqual(new Set([traceId]));
    expect(parentOf(spans['invoke_agent helper'])).toBe(remote);
    expect(parentOf(spans['step'])).toBe(spans['invoke_agent helper']?.spanContext().spanId);
    expect(parentOf(spans['tools/call find'])).toBe(spans['execute_tool search']?.spanContext().spanId);
    expect(spans['execute_tool search']?.attributes['pinnace.span.id']).toBe(tool.spanId);
    expect(spans['invoke_agent helper']?.attributes['pinnace.span.id']).toBe(whole.spanId);
  });

  it('keeps the trace of an event also for its first span', () => {
    for (const ids of [true, false]) {
      const subject = setup({ ids });
      subject.start(run).end({ status: 'ok' });
      expect(subject.spans()['invoke_agent helper']?.spanContext().traceId).toBe(traceId);
    }
  });

  it('creates a whole span for an end whose start was not emitted', () => {
    const subject = setup();
    const event: Parameters<Emit>[0] = {
      traceId,
      spanId: 'aaaaaaaaaaaaaaaa',
      parentSpanId: remote,
      actor: { type: 'agent', id: 'helper' },
      action: 'tool.call',
      target: { type: 'tool', id: 'search' },
      status: 'ok',
      latency: 250,
      error: null,
      payloadSummary: '',
    };
    subject.emit(event);
    const span = subject.spans()['execute_tool search'];
    expect(span?.duration).toEqual([0, 250_000_000]);
    expect(parentOf(span)).toBe(remote);
    expect(span?.spanContext().spanId).toBe(event.spanId);
  });

  it('adds a single event to the span around it, and creates a span where there is none', () => {
    const subject = setup();
    const tool = subject.start(toolCall);
    const facts = { traceId, actor: { type: 'agent', id: 'helper' }, latency: 0, payloadSummary: '' } as const;
    const error = { code: 'unavailable', message: 'Unavailable', retryable: true };
    const target = { type: 'tool', id: 'search' };
    subject.emit({ ...facts, parentSpanId: tool.spanId, action: 'error', target, status: 'error', error });
    tool.end({ status: 'error', error });
    subject.emit({ ...facts, action: 'cache.invalidate', target, status: 'ok', error: null });
    const spans = subject.spans();
    const [event] = spans['execute_tool search']?.events ?? [];
    expect(event?.name).toBe('error');
    expect(event?.attributes).toMatchObject({ 'error.type': 'unavailable', 'pinnace.error.retryable': true });
    expect(spans['cache.invalidate']?.duration).toEqual([0, 0]);
  });

  it('ends what is open when it is closed', () => {
    const subject = setup();
    const whole = subject.start(run);
    subject.start({ ...step, parentSpanId: whole.spanId });
    expect(subject.otel.open).toBe(2);
    subject.otel.close();
    expect(Object.keys(subject.spans())).toEqual(['invoke_agent helper', 'step']);
    expect(subject.otel.open).toBe(0);
  });

  it('lets go of the oldest when ends are lost', () => {
    const subject = setup();
    for (let i = 0; i < 10_050; i++) subject.start({ ...toolCall, traceId: i.toString(16).padStart(32, '1') });
    expect(subject.otel.open).toBe(10_000);
    expect(subject.exporter.getFinishedSpans()).toHaveLength(50);
  });

  it('does nothing where there is no provider', () => {
    const otel = otelSink();
    const emit = createEmit({ sinks: [otel.sink], now: Date.now });
    const facts = { ...run, traceId, actor: { type: 'user', id: 'u' } } as const;
    const whole = startSpan(facts, { emit, now: Date.now });
    startSpan({ ...facts, ...toolCall, parentSpanId: whole.spanId }, { emit, now: Date.now }).end({ status: 'ok' });
    expect(otel.open).toBe(1);
    whole.end({ status: 'ok' });
    expect(otel.open).toBe(0);
  });

  it('leaves spans that a collector reads', () => {
    const subject = setup();
    const { whole } = tellRun(subject);
    const bytes = JsonTraceSerializer.serializeRequest([...subject.exporter.getFinishedSpans()]);
    const request = JSON.parse(new TextDecoder().decode(bytes)) as {
      resourceSpans: { scopeSpans: { scope: { name: string }; spans: { name: string; spanId: string }[] }[] }[];
    }; // as OTLP says
    const scope = request.resourceSpans[0]?.scopeSpans[0];
    expect(scope?.scope.name).toBe('pinnace');
    expect(scope?.spans.find(({ name }) => name === 'invoke_agent helper')?.spanId).toBe(whole.spanId);
  });
});
