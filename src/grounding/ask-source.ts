/** Asks one source within the call's time, and makes of everything that can go wrong a report. */

import { PinnaceError, toData } from '../base/errors.ts';
import { untilAborted } from '../base/until-aborted.ts';
import type { GroundingRequest, GroundingSource, SourceHit } from '../contracts/grounding-source.ts';
import type { SourceReport } from './request.ts';

/** The outcome of a query: the hits that follow the port's rules, and the report. */
export interface SourceAnswer {
  readonly hits: readonly SourceHit[];
  readonly report: SourceReport;
}

/** How a source is queried. */
export interface AskOptions {
  /** Aborts on timeout or when the caller aborts. */
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Returns the request to this source, or rejects when it may not be queried. */
  readonly prepare: () => Promise<GroundingRequest>;
  /** Receives what was thrown. */
  readonly onError?: ((error: unknown) => void) | undefined;
}

/** Returns the source's hits; never rejects, and never waits longer than the signal. */
export async function querySource(
  source: GroundingSource,
  { signal, now, prepare, onError }: AskOptions,
): Promise<SourceAnswer> {
  const start = now();
  const about = { dataSourceId: source.id, kind: source.kind };
  try {
    const { given, version } = await untilAborted(() => ask(source, { prepare, signal }), {
      signal,
      action: `retrieve from data source "${source.id}"`,
    });
    const hits = keepRules(given);
    const status = hits.length === given.length ? 'ok' : 'partial';
    return { hits, report: { ...about, tookMs: now() - start, candidates: hits.length, status, version } };
  } catch (error) {
    if (!signal.aborted) onError?.(error);
    return { hits: [], report: { ...about, ...failed(error), tookMs: now() - start } };
  }
}

/** The report of a source that there is not. */
export function unknownSource(dataSourceId: string): SourceAnswer {
  const error = new PinnaceError('not_found', `Cannot ask the data source "${dataSourceId}": there is none of this id`);
  return { hits: [], report: { dataSourceId, ...failed(error), tookMs: 0 } };
}

function failed(error: unknown): Pick<SourceReport, 'candidates' | 'status' | 'error'> {
  return { candidates: 0, status: 'error', error: toData(error) };
}

/** The version is read first: what is found is at least as new. */
async function ask(source: GroundingSource, { prepare, signal }: Pick<AskOptions, 'prepare' | 'signal'>) {
  const request = await prepare();
  const { version } = await source.stats(request.tenant, signal);
  return { given: (await source.retrieve(request, signal)).slice(0, request.topK), version };
}

/** Drops hits that break the port's rules: without an id, content or source, or with a confidence outside 0 to 1. */
function keepRules(hits: readonly SourceHit[]): readonly SourceHit[] {
  const ids = new Set<string>();
  return hits.filter((hit) => {
    const fits = typeof hit.id === 'string' && typeof hit.content === 'string' && typeof hit.source?.uri === 'string' &&
      hit.confidence >= 0 && hit.confidence <= 1 && Number.isFinite(hit.score) && !ids.has(hit.id);
    ids.add(hit.id);
    return fits;
  });
}
