import { describe, expect, it } from 'vitest';
import { createMetrics, type MetricsObserver } from '../../../src/base/metrics.ts';
import { readPrometheus } from '../../tools/prometheus.ts';

describe('metrics', () => {
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
