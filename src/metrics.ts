/** Counts and times what happens, in numbers alone: names and labels are fixed texts, never ids, keys or addresses. */

/** Labels of one series, as `{ layer: 'l1' }`. */
export type Labels = Readonly<Record<string, string>>;

/** What rooms count with. */
export interface Metrics {
  /** Adds to a counter. */
  count(name: string, labels?: Labels, by?: number): void;
  /** Records a duration in milliseconds; it is shown in seconds. */
  time(name: string, durationMs: number, labels?: Labels): void;
  /** Shows a number that is asked for when the metrics are read. */
  gauge(name: string, read: () => number): void;
  /** Everything in the text format that Prometheus reads. */
  text(): string;
}

const bucketsMs = [1, 2, 5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000, 300_000];

interface Histogram {
  readonly counts: number[];
  sumMs: number;
  count: number;
}

/** Gives metrics, all at zero. */
export function createMetrics(): Metrics {
  const counters = new Map<string, Map<string, number>>();
  const histograms = new Map<string, Map<string, Histogram>>();
  const gauges = new Map<string, () => number>();
  return {
    count(name, labels = {}, by = 1) {
      const series = seriesOf(counters, name);
      const key = labelText(labels);
      series.set(key, (series.get(key) ?? 0) + by);
    },
    time(name, durationMs, labels = {}) {
      const series = seriesOf(histograms, name);
      const key = labelText(labels);
      const histogram = series.get(key) ?? { counts: bucketsMs.map(() => 0), sumMs: 0, count: 0 };
      const bucket = bucketsMs.findIndex((limit) => durationMs <= limit);
      if (bucket >= 0) histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
      histogram.sumMs += durationMs;
      histogram.count += 1;
      series.set(key, histogram);
    },
    gauge: (name, read) => void gauges.set(name, read),
    text: () => [...counterLines(counters), ...gaugeLines(gauges), ...histogramLines(histograms), ''].join('\n'),
  };
}

function seriesOf<T>(all: Map<string, Map<string, T>>, name: string): Map<string, T> {
  const series = all.get(name) ?? new Map<string, T>();
  all.set(name, series);
  return series;
}

function labelText(labels: Labels): string {
  return Object.entries(labels).map(([name, value]) => `${name}=${JSON.stringify(value)}`).join(',');
}

function counterLines(counters: ReadonlyMap<string, ReadonlyMap<string, number>>): string[] {
  return [...counters].flatMap(([name, series]) => [
    `# TYPE ${name} counter`,
    ...[...series].map(([labels, value]) => `${name}${braced(labels)} ${value}`),
  ]);
}

function gaugeLines(gauges: ReadonlyMap<string, () => number>): string[] {
  return [...gauges].flatMap(([name, read]) => [`# TYPE ${name} gauge`, `${name} ${read()}`]);
}

function histogramLines(histograms: ReadonlyMap<string, ReadonlyMap<string, Histogram>>): string[] {
  return [...histograms].flatMap(([name, series]) => [
    `# TYPE ${name} histogram`,
    ...[...series].flatMap(([labels, histogram]) => bucketLines(name, labels, histogram)),
  ]);
}

function bucketLines(name: string, labels: string, { counts, sumMs, count }: Histogram): string[] {
  let total = 0;
  const buckets = bucketsMs.map((limit, i) => {
    total += counts[i] ?? 0;
    return `${name}_bucket${braced(labels, `le="${limit / 1000}"`)} ${total}`;
  });
  return [
    ...buckets,
    `${name}_bucket${braced(labels, 'le="+Inf"')} ${count}`,
    `${name}_sum${braced(labels)} ${sumMs / 1000}`,
    `${name}_count${braced(labels)} ${count}`,
  ];
}

function braced(...labels: readonly string[]): string {
  const all = labels.filter((label) => label !== '').join(',');
  return all === '' ? '' : `{${all}}`;
}
