/** All metrics by their Prometheus names. Names that end in `_total` are counters, in `_seconds` histograms, others gauges. */

/** The help text of each metric. */
export const metricCatalog = {
  pinnace_runs_total: 'Ended runs by state',
  pinnace_runs_refused_total: 'Runs rejected before they started, by error code and reason',
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
  pinnace_tokens_total: 'Model tokens by model and kind (input, output)',
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

/** The name of a metric. */
export type MetricName = keyof typeof metricCatalog;

/** The name of a gauge. */
export type GaugeName = Exclude<MetricName, CounterName | HistogramName>;

/** The name of a counter. */
export type CounterName = Extract<MetricName, `${string}_total`>;

/** The name of a histogram of durations. */
export type HistogramName = Extract<MetricName, `${string}_seconds`>;
