import { describe, expect, it } from 'vitest';
import { readPrometheus } from '../../../../demo/runs/state/prometheus.ts';
import { createMetrics } from '../../../../src/base/metrics.ts';

describe('readPrometheus', () => {
  it('reads what the runtime writes: counters, gauges, histograms', () => {
    const metrics = createMetrics();
    metrics.count('pinnace_runs_total', { state: 'completed' }, 3);
    metrics.count('pinnace_runs_total', { state: 'failed' });
    metrics.gauge('pinnace_open_runs', () => 2);
    for (let i = 0; i < 100; i++) {
      metrics.time('pinnace_resolution_seconds', i < 96 ? 4 : 900, { layer: 'l1' });
    }
    const families = readPrometheus(metrics.text());
    const of = (name: string) => families.find((family) => family.name === name);
    expect(of('pinnace_runs_total')).toMatchObject({
      type: 'counter',
      help: expect.stringMatching(/\w/),
      samples: [{ labels: { state: 'completed' }, value: 3 }, { labels: { state: 'failed' }, value: 1 }],
    });
    expect(of('pinnace_open_runs')).toMatchObject({ type: 'gauge', samples: [{ labels: {}, value: 2 }] });
    const [spread] = of('pinnace_resolution_seconds')?.spread ?? [];
    expect(spread?.p95).toBe(0.005);
    expect(spread?.mean).toBeCloseTo(0.04, 1);
  });

  it('takes labels with quotes and new lines, and passes over what is none of the format', () => {
    const text = '# TYPE a counter\n# HELP a Odd\na{b="x\\"y\\nz",c="1"} 4\nnonsense here\n\n{} 3\n';
    expect(readPrometheus(text)).toEqual([
      { name: 'a', help: 'Odd', type: 'counter', samples: [{ labels: { b: 'x"y\nz', c: '1' }, value: 4 }] },
    ]);
  });
});
