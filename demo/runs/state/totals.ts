/** The counters of an endpoint that the console draws over time. */

import type { Family, Sample } from './prometheus.ts';

/** The counters at one time. */
export interface Totals {
  /** In milliseconds since 1970. */
  readonly at: number;
  readonly completedRuns: number;
  readonly failedRuns: number;
  /** Stopped, cancelled or waiting for a person. */
  readonly otherRuns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The sum of all times to the first chunk, in seconds, and how many there were. */
  readonly firstChunkSeconds: number;
  readonly firstChunks: number;
  readonly failedToolCalls: number;
  readonly rejectedRequests: number;
  readonly cacheHits: number;
  readonly cacheMisses: number;
  readonly openRuns: number;
}

/** Adds up the metrics. Metrics that the endpoint does not have count as 0. */
export function totalsOf(families: readonly Family[], at: number): Totals {
  const named = new Map(families.map((family) => [family.name, family]));
  const sum = (name: string, matches: (labels: Sample['labels']) => boolean = () => true): number =>
    (named.get(name)?.samples ?? []).reduce((total, { labels, value }) => matches(labels) ? total + value : total, 0);
  const runs = (...states: readonly string[]): number =>
    sum('pinnace_runs_total', ({ state = '' }) => states.includes(state));
  const [completedRuns, failedRuns] = [runs('completed'), runs('failed')];
  const firstChunk = named.get('pinnace_first_chunk_seconds');
  return {
    at,
    completedRuns,
    failedRuns,
    otherRuns: sum('pinnace_runs_total') - completedRuns - failedRuns,
    inputTokens: sum('pinnace_tokens_total', ({ kind }) => kind === 'input'),
    outputTokens: sum('pinnace_tokens_total', ({ kind }) => kind === 'output'),
    firstChunkSeconds: (firstChunk?.samples ?? [])
      .reduce((total, { value }, i) => total + value * (firstChunk?.spread?.[i]?.mean ?? 0), 0),
    firstChunks: sum('pinnace_first_chunk_seconds'),
    failedToolCalls: sum('pinnace_tool_failures_total'),
    rejectedRequests: sum('pinnace_runs_refused_total') + sum('pinnace_authentication_refused_total'),
    cacheHits: sum('pinnace_cache_hits_total'),
    cacheMisses: sum('pinnace_cache_misses_total'),
    openRuns: sum('pinnace_open_runs'),
  };
}
