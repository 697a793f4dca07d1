import { describe, expect, it } from 'vitest';
import { createMetrics, metricCatalog, type MetricsObserver } from '../../../src/base/metrics.ts';
import { readPrometheus } from '../../tools/prometheus.ts';

describe('metrics', () => {
  it('are written as Prometheus reads them, and mean the same there', () => {
    const metrics = createMetrics();
    metrics.count('pinnace_tool_calls_total', { tool: 'add', status: 'ok' });
    metrics.count('pinnace_tool_calls_total', { tool: 'add', status: 'ok' }, 2);
    metrics.count('pinnace_tool_calls_total', { tool: 'add', status: 'error' });
    metrics.gauge('pinnace_open_runs', () => 3);
    for (const ms of [3, 40, 400_000]) metrics.time('pinnace_resolution_seconds', ms, { cache: 'agents' });
    const families = readPrometheus(metrics.text());
    expect(families.get('pinnace_tool_calls_total')).toEqual({
      type: 'counter',
      help: metricCatalog.pinnace_tool_calls_total,
      samples: [
        { name: 'pinnace_tool_calls_total', labels: { tool: 'add', status: 'ok' }, value: 3 },
        { name: 'pinnace_tool_calls_total', labels: { tool: 'add', status: 'error' }, value: 1 },
      ],
    });
    expect(families.get('pinnace_open_runs')?.samples).toEqual([{ name: 'pinnace_open_runs', labels: {}, value: 3 }]);
    const resolution = families.get('pinnace_resolution_seconds')?.samples ?? [];
    const valueOf = (suffix: string, le?: string) =>
      resolution.find(({ name, labels }) => name.endsWith(suffix) && labels['le'] === le)?.value;
    expect([valueOf('_bucket', '0.002'), valueOf('_bucket', '0.005')]).toEqual([0, 1]);
    expect([valueOf('_bucket', '300'), valueOf('_bucket', '+Inf')]).toEqual([2, 3]);
    expect([valueOf('_count'), valueOf('_sum')]).toEqual([3, 400.043]);
  });

  it('keep every character of a label', () => {
    const metrics = createMetrics();
    const tool = 'a "b"\\\n\tc\u0007\u{1f6f6}';
    metrics.count('pinnace_tool_calls_total', { tool, status: 'ok' });
    expect(readPrometheus(metrics.text()).get('pinnace_tool_calls_total')?.samples[0]?.labels['tool']).toBe(tool);
  });

  it('report every update to an observer, and the existing gauges', () => {
    const metrics = createMetrics();
    metrics.gauge('pinnace_open_runs', () => 1);
    metrics.count('pinnace_runs_total', { state: 'completed' });
    const told: unknown[] = [];
    const observer: MetricsObserver = {
      count: (...facts) => void told.push(facts),
      time: (...facts) => void told.push(facts),
      gauge: (name, read, labels) => void told.push([name, read(), labels]),
    };
    metrics.observe(observer);
    metrics.count('pinnace_runs_total', { state: 'failed' });
    metrics.time('pinnace_resolution_seconds', 5);
    expect(told).toEqual([
      ['pinnace_open_runs', 1, {}],
      ['pinnace_runs_total', { state: 'failed' }, 1],
      ['pinnace_resolution_seconds', 5, {}],
    ]);
  });
});
