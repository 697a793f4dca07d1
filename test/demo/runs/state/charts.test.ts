import { describe, expect, it } from 'vitest';
import { type Chart, chartsOf, mostPoints } from '../../../../demo/runs/state/charts.ts';
import { readPrometheus } from '../../../../demo/runs/state/prometheus.ts';
import { type Totals, totalsOf } from '../../../../demo/runs/state/totals.ts';

/** The metrics of an endpoint after this many completed and failed runs. */
function reading(
  at: number,
  { completed = 0, failed = 0, hits = 0, misses = 0, chunks = 0, seconds = 0 } = {},
): Totals {
  const text = [
    '# TYPE pinnace_runs_total counter',
    `pinnace_runs_total{state="completed"} ${completed}`,
    `pinnace_runs_total{state="failed"} ${failed}`,
    '# TYPE pinnace_cache_hits_total counter',
    `pinnace_cache_hits_total{cache="agent",layer="l1"} ${hits}`,
    '# TYPE pinnace_cache_misses_total counter',
    `pinnace_cache_misses_total{cache="agent"} ${misses}`,
    '# TYPE pinnace_first_chunk_seconds histogram',
    `pinnace_first_chunk_seconds_bucket{model="m",le="+Inf"} ${chunks}`,
    `pinnace_first_chunk_seconds_sum{model="m"} ${seconds}`,
    `pinnace_first_chunk_seconds_count{model="m"} ${chunks}`,
  ].join('\n');
  return totalsOf(readPrometheus(text), at);
}

function lineOf(charts: readonly Chart[], id: string, label: string): readonly (number | undefined)[] | undefined {
  return charts.find((chart) => chart.id === id)?.lines.find((line) => line.label === label)?.values;
}

describe('the charts of an endpoint', () => {
  it('have no line before the second reading', () => {
    expect(chartsOf([reading(0)]).every(({ times }) => times.length === 0)).toBe(true);
    expect(chartsOf([]).length).toBeGreaterThan(3);
  });

  it('leave a gap where a counter fell, as after a restart of the endpoint', () => {
    const readings = [
      reading(0, { completed: 9 }),
      reading(60_000, { completed: 1 }),
      reading(120_000, { completed: 3 }),
    ];
    expect(lineOf(chartsOf(readings), 'runs', 'Completed')).toEqual([undefined, 2]);
  });

  it('show the share of cache hits and the mean latency of each interval, not of all time', () => {
    const charts = chartsOf([
      reading(0, { hits: 1000, misses: 0, chunks: 100, seconds: 10 }),
      reading(5000, { hits: 1001, misses: 3, chunks: 102, seconds: 11 }),
      reading(10_000, { hits: 1001, misses: 3, chunks: 102, seconds: 11 }),
    ]);
    expect(lineOf(charts, 'cache', 'Hit rate')).toEqual([25, undefined]);
    expect(lineOf(charts, 'latency', 'Average')?.[0]).toBeCloseTo(500);
    expect(lineOf(charts, 'latency', 'Average')?.[1]).toBeUndefined();
  });

  it('draw an hour of readings in wider intervals that end with the latest, and lose no run', () => {
    const readings = Array.from({ length: 720 }, (_, i) => reading(i * 5000, { completed: i }));
    const charts = chartsOf(readings);
    const { times = [] } = charts[0] ?? {};
    expect(times.length).toBeLessThanOrEqual(mostPoints);
    expect(times.at(-1)).toBe(719 * 5000);
    expect(lineOf(charts, 'runs', 'Completed')).toEqual(times.map(() => 12));
  });
});
