/** An SDK of OpenTelemetry whose metrics can be looked at. */

import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';

/** One series, its value a sum or a total. */
export interface Series {
  readonly labels: Readonly<Record<string, unknown>>;
  readonly value: number | undefined;
  readonly unit: string;
}

/** Gives a provider, and what has been recorded with it: histograms by the sum of what was recorded. */
export function collectMetrics(): {
  readonly meterProvider: MeterProvider;
  readonly collect: () => Promise<Readonly<Record<string, readonly Series[]>>>;
} {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const meterProvider = new MeterProvider({ readers: [reader] });
  return {
    meterProvider,
    async collect() {
      await reader.forceFlush();
      const scopes = exporter.getMetrics().at(-1)?.scopeMetrics ?? [];
      await meterProvider.shutdown();
      const found = scopes.flatMap(({ metrics }) => metrics).map((metric): [string, Series[]] => [
        metric.descriptor.name,
        metric.dataPoints.map(({ attributes, value }) => ({
          labels: { ...attributes },
          value: typeof value === 'number' ? value : value.sum,
          unit: metric.descriptor.unit,
        })),
      ]);
      return Object.fromEntries(found);
    },
  };
}
