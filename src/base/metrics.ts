/** Counts and times what happens, in numbers alone: names and labels are fixed texts, never ids, keys or addresses. */

/** The help text of each metric. */
export const metricCatalog = {
  pinnace_runs_total: 'Ended runs by state',
  pinnace_runs_refused_total: 'Runs rejected before they started, by error code and reason',
  pinnace_runs_recovered_total: 'Runs of other instances that this one goes on with, by cause (dead, released)',
  pinnace_authentication_refused_total: 'Requests rejected by authentication, by error code',
  pinnace_open_runs: 'Open runs in this instance',
  pinnace_starting_runs: 'Runs that start in this instance',
  pinnace_plans_total: 'Ended plans by state',
  pinnace_open_plans: 'Open plans in this instance',
  pinnace_steering_messages_total: 'Messages to running agents by state (delivered, undelivered, refused)',
  pinnace_budget_tokens_total: 'Tokens of runs and plans with a token budget, by type and kind (granted, used)',
  pinnace_budget_share: 'Largest share that was granted of a budget of a period, by budget',
  pinnace_model_calls_total: 'Model calls by model and status',
  pinnace_model_fallbacks_total: 'Model fallbacks by model that took over, model that failed (from) and error code',
  pinnace_prompt_breaks_total: 'Changed beginnings of prompts, which no cache can have, by agent and reason',
  pinnace_tokens_total: 'Model tokens by model and kind (input, output; of the input: cached, cache_write)',
  pinnace_first_chunk_seconds: 'Time to the first chunk of a model answer, by model',
  pinnace_tool_calls_total: 'Tool calls by tool and status',
  pinnace_tool_failures_total: 'Failed tool calls by tool and error code',
  pinnace_programs_total: 'Programs of agents by status (completed, suspended, failed)',
  pinnace_journal_commits_total: 'Journal commits by type',
  pinnace_storage_commits_total: 'Storage commits by type',
  pinnace_storage_keys_total: 'Storage keys written by type',
  pinnace_cache_hits_total: 'Cache hits by cache and layer (l1, stale, l2)',
  pinnace_cache_misses_total: 'Cache misses by cache',
  pinnace_resolution_seconds: 'Load time of definitions, by cache and layer (l2, source)',
  pinnace_sink_waiting: 'Events waiting to be written, by sink',
  pinnace_sink_dropped: 'Dropped events by sink',
  pinnace_streams_opened_total: 'Event streams opened',
  pinnace_streams_closed_total: 'Event streams closed; opened minus closed are open',
} as const;

export type MetricName = keyof typeof metricCatalog;

type GaugeName = Exclude<MetricName, CounterName | HistogramName>;

type CounterName = Extract<MetricName, `${string}_total`>;

type HistogramName = Extract<MetricName, `${string}_seconds`>;

/** Labels of one series, as `{ layer: 'l1' }`. */
export type Labels = Readonly<Record<string, string>>;

/** Receives every count and duration. It must not throw. */
export interface MetricsObserver {
  /** Something was added to a counter. */
  count(name: CounterName, labels: Labels, by: number): void;
  /** A duration in milliseconds was recorded. */
  time(name: HistogramName, durationMs: number, labels: Labels): void;
  /** Registers a number to be read later. */
  gauge(name: GaugeName, read: () => number, labels: Labels): void;
}

/** What rooms count with. */
export interface Metrics {
  /** Adds to a counter. */
  count(name: CounterName, labels?: Labels, by?: number): void;
  /** Records a duration in milliseconds; it is shown in seconds. */
  time(name: HistogramName, durationMs: number, labels?: Labels): void;
  /** Adds a number that is computed when the metrics are read. */
  gauge(name: GaugeName, read: () => number, labels?: Labels): void;
  /** Everything in the text format that Prometheus reads. */
  text(): string;
  /** Tells another system of everything from now on, and of the gauges that there are. */
  observe(observer: MetricsObserver): void;
}

const [ms, s] = [[1, 2, 5, 10, 25, 50, 100, 250, 500], [1, 2.5, 5, 10, 30, 60, 300]];

/** The upper limits of the buckets of a histogram, in milliseconds. */
export const bucketsMs: readonly number[] = [...ms, ...s.map((seconds) => seconds * 1000)];

interface Histogram {
  readonly counts: number[];
  sumMs: number;
  count: number;
}

interface Gauge {
  readonly read: () => number;
  readonly labels: Labels;
}

/** The series of every metric of one type, by their labels as text. */
type All<Name, Series> = Map<Name, Map<string, Series>>;

/** Returns metrics, all at zero. */
export function createMetrics(): Metrics {
  const counters: All<CounterName, number> = new Map();
  const histograms: All<HistogramName, Histogram> = new Map();
  const gauges: All<GaugeName, Gauge> = new Map();
  const observers: MetricsObserver[] = [];
  return {
    count(name, labels = {}, by = 1) {
      const series = seriesOf(counters, name);
      const key = labelText(labels);
      series.set(key, (series.get(key) ?? 0) + by);
      for (const observer of observers) observer.count(name, labels, by);
    },
    time(name, durationMs, labels = {}) {
      const series = seriesOf(histograms, name);
      const key = labelText(labels);
      const histogram = series.get(key) ?? { counts: bucketsMs.map(() => 0), sumMs: 0, count: 0 };
      record(histogram, durationMs);
      series.set(key, histogram);
      for (const observer of observers) observer.time(name, durationMs, labels);
    },
    gauge(name, read, labels = {}) {
      seriesOf(gauges, name).set(labelText(labels), { read, labels });
      for (const observer of observers) observer.gauge(name, read, labels);
    },
    text: () =>
      [
        ...linesOf(counters, 'counter', (name, labels, value) => [`${name}${braced(labels)} ${value}`]),
        ...linesOf(gauges, 'gauge', (name, labels, { read }) => [`${name}${braced(labels)} ${read()}`]),
        ...linesOf(histograms, 'histogram', bucketLines),
        '',
      ].join('\n'),
    observe(observer) {
      observers.push(observer);
      for (const [name, series] of gauges) {
        for (const { read, labels } of series.values()) observer.gauge(name, read, labels);
      }
    },
  };
}

function seriesOf<Name, Series>(all: All<Name, Series>, name: Name): Map<string, Series> {
  const known = all.get(name);
  if (known) return known;
  const series = new Map<string, Series>();
  all.set(name, series);
  return series;
}

function record(histogram: Histogram, durationMs: number): void {
  const bucket = bucketsMs.findIndex((limit) => durationMs <= limit);
  if (bucket >= 0) histogram.counts[bucket] = (histogram.counts[bucket] ?? 0) + 1;
  histogram.sumMs += durationMs;
  histogram.count += 1;
}

function labelText(labels: Labels): string {
  let text = ''; // for every count: nothing is made but the text
  for (const name of Object.keys(labels)) text += `${text === '' ? '' : ','}${name}="${escaped(labels[name] ?? '')}"`;
  return text;
}

/** The three characters that the format escapes, and no others. */
function escaped(value: string): string {
  if (!/[\\"\n]/.test(value)) return value;
  return value.replace(/[\\"\n]/g, (character) => character === '\n' ? '\\n' : `\\${character}`);
}

function linesOf<Name extends MetricName, Series>(
  all: All<Name, Series>,
  type: string,
  linesOfSeries: (name: Name, labels: string, series: Series) => string[],
): string[] {
  return [...all].flatMap(([name, series]) => [
    `# HELP ${name} ${metricCatalog[name]}`,
    `# TYPE ${name} ${type}`,
    ...[...series].flatMap(([labels, one]) => linesOfSeries(name, labels, one)),
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
