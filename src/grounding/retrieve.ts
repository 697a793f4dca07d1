/** Asks the sources all at once, and makes one list of what they give. */

import type { RetrieveOptions } from './create-grounding.ts';
import { PinnaceError, toData } from '../base/errors.ts';
import type { Principal } from '../base/principal.ts';
import { untilAborted } from '../base/until-aborted.ts';
import type { GroundingRequest, GroundingSource, SourceHit, TenantedSource } from '../contracts/grounding-source.ts';
import { hidesCause } from '../events/report.ts';
import { type GroundingCallOptions, readOwners, requireAccess, tenantOf } from './access.ts';
import { calibrated } from './calibration.ts';
import { citationsOf } from './context.ts';
import { fuse, type SourceHits } from './fuse.ts';
import type { GroundingAnswer, GroundingHit, RetrieveRequest, SourceReport } from './request.ts';

interface Circumstances extends RetrieveOptions {
  readonly call: GroundingCallOptions;
}

/** @throws PinnaceError `invalid_argument` for an empty request, `cancelled` with the signal. */
export async function retrieve(
  byId: ReadonlyMap<string, GroundingSource>,
  request: RetrieveRequest,
  circumstances: Circumstances,
): Promise<GroundingAnswer> {
  const ids = idsOf(request);
  const { call, record, weights = {}, calibrations = {} } = circumstances;
  const answers = await queryAll(byId, { ids, request, circumstances });
  const lists = answers.flatMap(({ hits, report: { dataSourceId, kind } }): SourceHits[] => {
    const calibration = Object.hasOwn(calibrations, dataSourceId) ? calibrations[dataSourceId] : undefined;
    const weight = (Object.hasOwn(weights, dataSourceId) ? weights[dataSourceId] : undefined) ??
      byId.get(dataSourceId)?.quality ?? 1;
    const fitted = calibration
      ? hits.map((hit) => ({ ...hit, confidence: calibrated(hit.confidence, calibration) }))
      : hits;
    return kind ? [{ dataSourceId, kind, weight, calibrated: calibration !== undefined, hits: fitted }] : [];
  });
  const fused = fuse(lists);
  const hits = fused
    .filter(({ confidence }) => confidence >= request.minConfidence)
    .slice(0, request.topK)
    .map((hit) => request.include ? including(hit, request.include) : hit);
  await record?.({ tenant: tenantOf(call), dataSourceIds: ids, hits: await citationsOf(hits) });
  return {
    hits,
    answered: answeredBy(fused),
    sources: answers.map(({ report }) => report),
    fused: lists.filter((list) => list.hits.length > 0).length > 1,
  };
}

/** The best of what hits say of the query as a whole; their confidences where a source says nothing of it. */
function answeredBy(hits: readonly GroundingHit[]): number {
  return hits.reduce((most, { answered = 0, confidence }) => Math.max(most, answered, confidence), 0);
}

/** All at once, for as long as the budget lasts. */
async function queryAll(
  byId: ReadonlyMap<string, GroundingSource>,
  { ids, request, circumstances }: {
    readonly ids: readonly string[];
    readonly request: RetrieveRequest;
    readonly circumstances: Circumstances;
  },
): Promise<SourceAnswer[]> {
  const { call, now = () => performance.now() } = circumstances;
  const { query, embedding, filters, sort, aggregate, topK, budgetMs } = request;
  const limit = new AbortController();
  const stop = (): void => limit.abort(cancelled());
  const timer = setTimeout(() => limit.abort(late(budgetMs)), budgetMs);
  call.signal?.addEventListener('abort', stop, { once: true });
  if (call.signal?.aborted) stop();
  try {
    const answers = await Promise.all(ids.map(async (id) => {
      const source = byId.get(id);
      if (!source) return unknownSource(id);
      const prepare = async () => {
        const rights = await requireAccess(circumstances, {
          action: 'grounding.retrieve',
          source,
          call,
        });
        const depth = ids.length > 1 ? Math.min(200, topK * 3) : topK; // a hit that others rank high may rank low here
        return readOwners(source, call).map((tenant): GroundingRequest => ({
          tenant,
          query,
          embedding,
          filters: [...filters, ...rights],
          sort,
          aggregate,
          topK: depth,
        }));
      };
      const onError = (error: unknown): void => {
        if (hidesCause(error)) call.report?.(error, { kind: 'grounding', id: source.id });
      };
      return await querySource(source, { signal: limit.signal, now, prepare, onError });
    }));
    if (call.signal?.aborted) throw cancelled();
    return answers;
  } finally {
    clearTimeout(timer);
    call.signal?.removeEventListener('abort', stop);
    limit.abort(cancelled()); // stops the sources that still work
  }
}

function idsOf({ dataSourceId, dataSourceIds = [], query, embedding, filters, sort, aggregate }: RetrieveRequest) {
  const ids = [...new Set([...(dataSourceId === undefined ? [] : [dataSourceId]), ...dataSourceIds])].toSorted();
  if (ids.length === 0) throw badRequest('it names no data source');
  const asks = (query ?? '').trim() !== '' || embedding || filters.length > 0 || sort?.length || aggregate;
  if (!asks) throw badRequest('it needs a query, an embedding or filters');
  return ids;
}

function including(hit: GroundingHit, fields: readonly string[]): GroundingHit {
  const wanted = Object.entries(hit.metadata).filter(([field]) => fields.includes(field));
  return { ...hit, metadata: Object.fromEntries(wanted) };
}

function badRequest(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot retrieve: ${why}`, { details: { reason: 'nothing_asked' } });
}

function cancelled(): PinnaceError {
  return new PinnaceError('cancelled', 'The retrieval was stopped');
}

function late(budgetMs: number): PinnaceError {
  return new PinnaceError('deadline_exceeded', `The data source took longer than ${budgetMs} ms`);
}

/** The outcome of a query: the hits that follow the port's rules, and the report. */
export interface SourceAnswer {
  readonly hits: readonly SourceHit[];
  readonly report: SourceReport;
}

/** How a source is queried. */
export interface AskOptions {
  readonly signal: AbortSignal;
  readonly now: () => number;
  /** Returns the requests to this source, one for each owner of items, or rejects when it may not be queried. */
  readonly prepare: () => Promise<readonly GroundingRequest[]>;
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
    const { given, version, reason } = await untilAborted(() => ask(source, { prepare, signal }), {
      signal,
      action: `retrieve from data source "${source.id}"`,
    });
    const hits = keepRules(given);
    const status = hits.length === given.length ? 'ok' : 'partial';
    const report = { ...about, tookMs: now() - start, candidates: hits.length, status, version } as const;
    return { hits, report: { ...report, ...(reason && { reason }) } };
  } catch (error) {
    if (!signal.aborted) onError?.(error);
    return { hits: [], report: { ...about, ...failed(error), tookMs: now() - start } };
  }
}

export function unknownSource(dataSourceId: string): SourceAnswer {
  const error = new PinnaceError('not_found', `Cannot ask the data source "${dataSourceId}": there is none of this id`);
  return { hits: [], report: { dataSourceId, ...failed(error), tookMs: 0 } };
}

function failed(error: unknown): Pick<SourceReport, 'candidates' | 'status' | 'error'> {
  return { candidates: 0, status: 'error', error: toData(error) };
}

interface Asked {
  readonly given: readonly SourceHit[];
  readonly version: string;
  readonly reason?: SourceReport['reason'];
}

/** Of items with one id, the tenant's own replaces the one of all. */
async function ask(
  source: GroundingSource,
  { prepare, signal }: Pick<AskOptions, 'prepare' | 'signal'>,
): Promise<Asked> {
  const requests = await prepare();
  const answers = await Promise.all(requests.map((request) => askOne(source, request, signal)));
  const version = answers.map((answer) => answer.version).join('+');
  const [own, ...others] = answers;
  if (!own) return { given: [], version };
  if (answers.every(({ items }) => items === 0) && isTenanted(source) && source.scope !== 'subject') {
    const isFilled = await source.holdsForOthers(requests[0]!.tenant, signal); // safe: there is an answer to it
    return { given: own.given, version, ...(isFilled && { reason: 'no_items_of_tenant' }) };
  }
  if (others.length === 0) return { given: own.given, version };
  const ids = new Set(own.given.map(({ id }) => id));
  const all = [...own.given, ...others.flatMap(({ given }) => given.filter(({ id }) => !ids.has(id)))];
  const best = all.toSorted((a, b) => b.confidence - a.confidence || b.score - a.score);
  return { given: best.slice(0, requests[0]?.topK), version };
}

/** A manifest does not wait longer for a source. */
const emptyMs = 2_000;

/** Returns the ids of the sources that have items of others and none for the principal. A source that fails or takes long is not among them. */
export async function emptySources(sources: readonly GroundingSource[], principal: Principal): Promise<string[]> {
  const signal = AbortSignal.timeout(emptyMs);
  const empty = await Promise.all(sources.map(async (source) => {
    if (!isTenanted(source) || source.scope === 'subject') return [];
    try {
      return await untilAborted(async () => {
        const stats = await Promise.all(readOwners(source, { principal }).map((owner) => source.stats(owner, signal)));
        const isEmpty = stats.every(({ items }) => items === 0);
        return isEmpty && await source.holdsForOthers(principal.tenant, signal) ? [source.id] : [];
      }, { signal, action: `read the data source "${source.id}"` });
    } catch {
      return [];
    }
  }));
  return empty.flat();
}

/** The version is read first: what is found is at least as new. */
async function askOne(source: GroundingSource, request: GroundingRequest, signal: AbortSignal) {
  const { version, items } = await source.stats(request.tenant, signal);
  return { given: (await source.retrieve(request, signal)).slice(0, request.topK), version, items };
}

function isTenanted(source: GroundingSource): source is TenantedSource {
  return 'holdsForOthers' in source;
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
