/** The runtime's own metrics as those of OpenTelemetry, from the same counts as `/v1/metrics`. */

import { type Counter, type Histogram, type Meter, type MeterProvider, metrics } from '@opentelemetry/api';
import { bucketsMs, metricCatalog, type MetricName, type MetricsObserver } from '../../src/base/metrics.ts';
import { scope } from './otel-names.ts';

/**
 * Creates metrics that forward everything that a runtime counts and times to OpenTelemetry. `pinnace_tool_calls_total` is `pinnace.tool_calls`
 * there, which exporters for Prometheus write as before.
 *
 * @example
 * runtime.metrics.observe(otelMetrics());
 */
export function otelMetrics({ meterProvider }: { readonly meterProvider?: MeterProvider } = {}): MetricsObserver {
  const meter: Meter = (meterProvider ?? metrics).getMeter(scope);
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
