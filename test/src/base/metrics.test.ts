import { describe, expect, it } from 'vitest';
import { createMetrics } from '../../../src/base/metrics.ts';
import { readPrometheus } from '../../tools/prometheus.ts';

describe('metrics', () => {
  it('keep every character of a label', () => {
    const metrics = createMetrics();
    const tool = 'a "b"\\\n\tc\u0007\u{1f6f6}';
    metrics.count('pinnace_tool_calls_total', { tool, status: 'ok' });
    expect(readPrometheus(metrics.text()).get('pinnace_tool_calls_total')?.samples[0]?.labels['tool']).toBe(tool);
  });
});
