/** Metrics of OpenTelemetry: those of the conventions for generative AI, counted where an action ends, and the runtime's own. */

import type { Attributes, Counter, Histogram, Meter, MetricOptions } from '@opentelemetry/api';
import { bucketsMs, metricCatalog, type MetricName, type MetricsObserver } from '../../src/base/metrics.ts';
import type { ObservedEvent } from '../../src/contracts/event-sink.ts';
import { readSummary } from '../../src/events/payload-summary.ts';
import { attribute, mcpToolCall, metric, operation } from './otel-names.ts';

export interface RunCounts {
  inferenceCalls: number;
  toolCalls: number;
}

export type CountEnd = (event: ObservedEvent, counts: RunCounts | undefined) => void;

const seconds: MetricOptions = {
  unit: 's',
  advice: {
    explicitBucketBoundaries: [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92],
  },
};

export function createFigures(meter: Meter): CountEnd {
  const [inference, firstChunk, agent, tool, mcp] = [
    metric.inferenceDuration,
    metric.timeToFirstChunk,
    metric.agentDuration,
    metric.toolDuration,
    metric.mcpDuration,
  ].map((name) => meter.createHistogram(name, seconds)) as [Histogram, Histogram, Histogram, Histogram, Histogram]; // as many as names
  const input = meter.createCounter(metric.inputTokens, { unit: '{token}' });
  const output = meter.createCounter(metric.outputTokens, { unit: '{token}' });
  const inferenceCalls = meter.createHistogram(metric.agentInferenceCalls, { unit: '{call}' });
  const toolCalls = meter.createHistogram(metric.agentToolCalls, { unit: '{call}' });

  const countModel = (event: ObservedEvent): void => {
    const { provider, inputTokens, outputTokens, firstChunkMs } = readSummary(event.payloadSummary);
    const labels: Attributes = {
      [attribute.operation]: operation.chat,
      [attribute.model]: event.target.id,
      ...(provider !== undefined && { [attribute.provider]: provider }),
    };
    inference.record(event.latency / 1000, { ...labels, ...errorOf(event) });
    if (typeof firstChunkMs === 'number') firstChunk.record(firstChunkMs / 1000, labels);
    if (typeof inputTokens === 'number') input.add(inputTokens, labels);
    if (typeof outputTokens === 'number') output.add(outputTokens, labels);
  };
  return (event, counts) => {
    const [duration, error, id] = [event.latency / 1000, errorOf(event), event.target.id];
    switch (event.action) {
      case 'model.call':
        return countModel(event);
      case 'tool.call':
        return tool.record(duration, { [attribute.toolName]: id, ...error });
      case 'mcp.call':
        return mcp.record(duration, { [attribute.mcpMethod]: mcpToolCall, ...error });
      case 'run.end':
        agent.record(duration, { [attribute.agentName]: id, ...error });
        if (!counts) return; // its start was not emitted here
        inferenceCalls.record(counts.inferenceCalls, { [attribute.agentName]: id });
        toolCalls.record(counts.toolCalls, { [attribute.agentName]: id });
    }
  };
}

function errorOf({ error }: ObservedEvent): Attributes {
  return error ? { [attribute.errorType]: error.code } : {};
}

export function createOtelMetrics(meter: Meter): MetricsObserver {
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const explicitBucketBoundaries = bucketsMs.map((limit) => limit / 1000);
  return {
    count(name, labels, by) {
      const counter = counters.get(name) ?? meter.createCounter(otelName(name), { description: metricCatalog[name] });
      counters.set(name, counter);
      counter.add(by, labels);
    },
    time(name, durationMs, labels) {
      const histogram = histograms.get(name) ?? meter.createHistogram(otelName(name), {
        description: metricCatalog[name],
        unit: 's',
        advice: { explicitBucketBoundaries },
      });
      histograms.set(name, histogram);
      histogram.record(durationMs / 1000, labels);
    },
    gauge(name, read, labels) {
      const gauge = meter.createObservableGauge(otelName(name), { description: metricCatalog[name] });
      gauge.addCallback((result) => result.observe(read(), labels));
    },
  };
}

/** Exporters add the unit and `_total` again. */
function otelName(name: MetricName): string {
  return name.replace(/^pinnace_/, 'pinnace.').replace(/_(total|seconds)$/, '');
}
