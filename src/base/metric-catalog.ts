/** Every metric that there is, by its name in Prometheus. Those that end in `_total` are counters, in `_seconds` histograms. */

/** What each metric says. */
export const metricCatalog = {
  pinnace_runs_total: 'Runs that have ended, by state',
  pinnace_runs_refused_total: 'Runs that were refused before they started, by code and reason of the error',
  pinnace_authentication_refused_total: 'Requests that authentication refused, by code of the error',
  pinnace_open_runs: 'Runs under way in this instance',
  pinnace_plans_total: 'Plans that have ended, by state',
  pinnace_open_plans: 'Plans that this instance has',
  pinnace_budget_tokens_total:
    'Tokens of runs and plans that have a budget of them, by of (run, plan) and kind (granted, used)',
  pinnace_model_calls_total: 'Calls of models that were answered or refused, by model and status',
  pinnace_tokens_total: 'Tokens of models, by model and kind (input, output)',
  pinnace_first_chunk_seconds: 'How long models took to the first chunk of an answer, by model',
  pinnace_tool_calls_total: 'Calls of tools, by tool and status',
  pinnace_tool_failures_total: 'Calls of tools that came to nothing, by tool and code of the error',
  pinnace_journal_commits_total: 'Commits of the journals of runs and plans, by of (run, plan)',
  pinnace_cache_hits_total: 'What a cache had, by cache and layer (l1, stale, l2)',
  pinnace_cache_misses_total: 'What a cache had to load, by cache',
  pinnace_resolution_seconds: 'How long loading took, by cache and layer (l2, source)',
  pinnace_sink_waiting: 'Events that wait to be written, by sink',
  pinnace_sink_dropped: 'Events that were lost, by sink',
  pinnace_streams_opened_total: 'Event streams that began, runs and events alike',
  pinnace_streams_closed_total: 'Event streams that have ended; the difference is open',
} as const;

/** The name of a metric. */
export type MetricName = keyof typeof metricCatalog;

/** The names of gauges, which are neither counters nor histograms. */
export type GaugeName = Exclude<MetricName, CounterName | HistogramName>;

/** The names of counters. */
export type CounterName = Extract<MetricName, `${string}_total`>;

/** The names of histograms of durations. */
export type HistogramName = Extract<MetricName, `${string}_seconds`>;
