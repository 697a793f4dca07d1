/** The runtime's own metrics as those of OpenTelemetry, from the same counts as `/v1/metrics`. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { type MeterProvider, metrics } from '@opentelemetry/api';
import type { MetricsObserver } from '../../src/base/metrics.ts';
import { createOtelMetrics } from './otel-figures.ts';
import { scope } from './otel-names.ts';

export type { MetricsObserver } from '../../src/base/metrics.ts';

/**
 * Creates metrics that forward everything that a runtime counts and times to OpenTelemetry. `pinnace_tool_calls_total` is `pinnace.tool_calls`
 * there, which exporters for Prometheus write as before.
 *
 * @example
 * runtime.metrics.observe(otelMetrics());
 */
export function otelMetrics(options: { readonly meterProvider?: MeterProvider } = {}): MetricsObserver {
  checkNames('create the metrics', options, optional('meterProvider'));
  const { meterProvider } = options;
  return createOtelMetrics((meterProvider ?? metrics).getMeter(scope));
}
