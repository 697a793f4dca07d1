import { describe, expect, it } from 'vitest';
import { otelMetrics } from '../../../adapters/sinks/otel-metrics.ts';
import { createMetrics } from '../../../src/base/metrics.ts';
import { readPrometheus } from '../../tools/prometheus.ts';
import { collectMetrics } from './otel-fixture.ts';

describe('otelMetrics', () => {
  it('has the counts of the text for Prometheus', async () => {
    const metrics = createMetrics();
    const { meterProvider, collect } = collectMetrics();
    metrics.observe(otelMetrics({ meterProvider }));
    metrics.gauge('pinnace_open_runs', () => 2);
    metrics.count('pinnace_runs_total', { state: 'completed' });
    metrics.count('pinnace_runs_total', { state: 'completed' }, 4);
    metrics.time('pinnace_resolution_seconds', 250, { cache: 'agents' });
    metrics.time('pinnace_resolution_seconds', 500, { cache: 'agents' });
    expect(await collect()).toEqual({
      'pinnace.open_runs': [{ labels: {}, value: 2, unit: '' }],
      'pinnace.resolution': [{ labels: { cache: 'agents' }, value: 0.75, unit: 's' }],
      'pinnace.runs': [{ labels: { state: 'completed' }, value: 5, unit: '' }],
    });
    const text = readPrometheus(metrics.text());
    const valueOf = (name: string) => text.get(name)?.samples.at(-1)?.value;
    expect([valueOf('pinnace_open_runs'), valueOf('pinnace_runs_total')]).toEqual([2, 5]);
  });
});
