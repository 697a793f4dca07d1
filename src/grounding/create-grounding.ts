/** Grounding: one question to every kind of source, one list of hits with a confidence that means something. */

import { type AccessHooks, type GroundingCallOptions, requireAccess, tenantOf, writeOwner } from './access.ts';
import type { Calibration } from './calibration.ts';
import type { Citation } from './context.ts';
import { checkKnownOptions, checkNames, optional, type Wanted } from '../base/check-options.ts';
import { type ErrorData, PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { parse } from '../base/parse.ts';
import type { GroundingSource, WritableGroundingSource } from '../contracts/grounding-source.ts';
import { createReport, type OnError } from '../events/report.ts';
import { type InnerFacts, type Span, type SpanEvent, statusOfError, within } from '../events/span.ts';
import { ForgetInput, type GroundingAnswer, RememberInput, type RetrieveInput, RetrieveRequest } from './request.ts';

export const load = /* @__PURE__ */ loadOnce(() => import('./retrieve.ts'));

/** What grounding is composed of. */
export interface CreateGroundingOptions extends RetrieveOptions {
  /** The sources that can be queried. */
  readonly sources: readonly GroundingSource[];
  /** Tells agents what they find in a source, by its id. */
  readonly descriptions?: Readonly<Record<string, string>>;
  /** Receives what a source or a hook throws, unless the call has a `report`, as that of a runtime has. */
  readonly onError?: OnError;
}

const groundingOptions: Readonly<Record<keyof CreateGroundingOptions, Wanted>> = {
  sources: ['array', 'an array of sources, such as [textSource({ … })]'],
  ...optional('descriptions', 'onError', 'weights', 'calibrations', 'record', 'now', 'authorize', 'access'),
  ...optional('records'),
};

/** One question to many sources. */
export interface Grounding {
  readonly sources: readonly GroundingSource[];
  readonly descriptions: Readonly<Record<string, string>>;
  /**
   * Returns the best hits of the sources. One that fails or is too slow is reported, and the others answer.
   *
   * @throws PinnaceError `invalid_argument` for a request that fails its schema or is empty, `cancelled` with the signal.
   */
  retrieve(request: RetrieveInput, options?: GroundingCallOptions): Promise<GroundingAnswer>;
  /** Returns the sources that the caller may query. */
  readable(options?: GroundingCallOptions): Promise<readonly GroundingSource[]>;
  /** Keeps items in a source that can be written, and returns their ids. */
  remember(input: RememberInput, options?: GroundingCallOptions): Promise<{ readonly ids: readonly string[] }>;
  /** Removes items of the caller's tenant by their ids or by filters, and returns how many there were. */
  forget(input: ForgetInput, options?: GroundingCallOptions): Promise<{ readonly forgotten: number }>;
}

/**
 * Returns grounding over these sources.
 *
 * @throws PinnaceError `invalid_argument` when two sources share an id.
 * @example
 * const grounding = createGrounding({ sources: [textSource({ id: 'handbook', storage }), recordSource({ id: 'orders', list: () => orders })] });
 * const { hits } = await grounding.retrieve({ dataSourceIds: ['handbook', 'orders'], query: 'late orders', topK: 5 });
 */
export function createGrounding(options: CreateGroundingOptions): Grounding {
  checkKnownOptions('create the grounding', options, groundingOptions);
  const byId = distinct(options.sources);
  const report = createReport(options.onError);
  const reporting = (id: string, call: GroundingCallOptions): GroundingCallOptions => {
    const { principal, signal, subject, shared, origins, agentId, authorize, pay, span } = call; // by name: "signal" may be a getter, as of an AbortController
    const own: GroundingCallOptions['report'] = (cause, more) => report(cause, { kind: 'grounding', id, ...more });
    return { principal, signal, subject, shared, origins, agentId, authorize, pay, span, report: call.report ?? own };
  };
  const told = new Set<string>();
  return {
    sources: [...byId.values()],
    descriptions: options.descriptions ?? {},
    async retrieve(input, given = {}) {
      const request = parse(RetrieveRequest, input, { what: 'the question' });
      const call = reporting(request.dataSourceId ?? '', given);
      return await within(call.span, factsOf('retrieve', request.dataSourceId, request.dataSourceIds), async (span) => {
        const { retrieve } = await load();
        const answer = await retrieve(byId, request, { ...options, call });
        noteAnswer(answer, { span, call, told });
        return answer;
      });
    },
    async readable(given = {}) {
      const call = reporting('', given);
      const all = await Promise.all([...byId.values()].map(async (source) => {
        const wanted = { action: 'grounding.retrieve', source, call } as const;
        return await requireAccess(options, wanted).then(() => [source], () => []);
      }));
      return all.flat();
    },
    async remember(input, given = {}) {
      const { dataSourceId, items, idempotencyKey } = parse(RememberInput, input, { what: 'what to remember' });
      const call = reporting(dataSourceId, given);
      const source = writable(byId, dataSourceId);
      const request = { tenant: writeOwner(source, call), items: items.map(withLines), idempotencyKey };
      return await within(call.span, factsOf('remember', dataSourceId), async () => {
        await requireAccess(options, { action: 'grounding.remember', source, call });
        await call.pay?.(call.principal, JSON.stringify(request.items).length);
        return { ids: await source.remember(request, signalOf(call)) };
      });
    },
    async forget(input, given = {}) {
      const { dataSourceId, ids, filters } = parse(ForgetInput, input, { what: 'what to forget' });
      const call = reporting(dataSourceId, given);
      if (!ids && !filters?.length) throw nothingNamed();
      const source = writable(byId, dataSourceId);
      return await within(call.span, factsOf('forget', dataSourceId), async () => {
        const rights = await requireAccess(options, { action: 'grounding.forget', source, call });
        const all = [...filters ?? [], ...rights];
        const request = { tenant: writeOwner(source, call), ids, ...(all.length > 0 && { filters: all }) };
        return { forgotten: await source.forget(request, signalOf(call)) };
      });
    },
  };
}

/** With more pairs of source and tenant, operators are told again. */
const mostTold = 1_000;

function noteAnswer(
  { hits, sources }: GroundingAnswer,
  { span, call, told }: {
    readonly span: Span | undefined;
    readonly call: GroundingCallOptions;
    /** Of which sources and tenants operators were told. */
    readonly told: Set<string>;
  },
): void {
  const tenant = tenantOf(call);
  let [failed, empty] = [0, 0];
  for (const { dataSourceId: id, error, reason } of sources) {
    if (error) failed++;
    if (error && statusOfError(error) === 'denied') span?.emit(denied(id, error));
    if (!reason) continue;
    empty++;
    const key = JSON.stringify([id, tenant]);
    if (told.has(key)) continue;
    if (told.size >= mostTold) told.clear();
    told.add(key);
    call.report?.(emptyForTenant(id, tenant), { kind: 'grounding', id });
  }
  span?.note({ hits: hits.length, failed, ...(empty > 0 && { emptyForTenant: empty }) });
}

/** What operators are told, once: callers learn no more than that the source has nothing for them. */
export function emptyForTenant(id: string, tenant: string): PinnaceError {
  const why = `it has items of others, and none of "${tenant}"; fill it for this tenant, or share it (shared: true)`;
  return new PinnaceError('not_found', `Cannot find anything in the data source "${id}": ${why}`, {
    details: { reason: 'no_items_of_tenant', dataSourceId: id },
  });
}

/** A source that may not be queried is reported; the others answer. */
function denied(id: string, error: ErrorData): SpanEvent {
  return { action: 'grounding.retrieve', target: { type: 'data-source', id }, status: 'denied', error };
}

/** The facts of a call in events: which sources, and how many. */
function factsOf(action: string, id: string | undefined, others: readonly string[] = []): InnerFacts {
  const all = [...(id === undefined ? [] : [id]), ...others];
  return { action, target: { type: 'data-source', id: all[0] ?? '' }, payload: { sources: all.length } };
}

function withLines<Item extends { readonly lines?: readonly number[] | undefined }>({ lines, ...item }: Item) {
  const [from, to] = lines ?? [];
  return { ...item, ...(from !== undefined && to !== undefined && { lines: [from, to] as const }) };
}

function writable(byId: ReadonlyMap<string, GroundingSource>, id: string): WritableGroundingSource {
  const source = byId.get(id);
  if (source && isWritable(source)) return source;
  const why = source ? 'it can only be read' : 'there is none of this id';
  throw new PinnaceError(source ? 'invalid_argument' : 'not_found', `Cannot write to the data source "${id}": ${why}`);
}

export function isWritable(source: GroundingSource): source is WritableGroundingSource {
  return 'remember' in source && 'forget' in source;
}

function signalOf({ signal }: GroundingCallOptions): AbortSignal {
  return signal ?? new AbortController().signal;
}

function distinct(sources: readonly GroundingSource[]): ReadonlyMap<string, GroundingSource> {
  const byId = new Map(sources.map((source) => [source.id, source]));
  if (byId.size === sources.length) return byId;
  throw new PinnaceError('invalid_argument', 'Cannot compose grounding: two sources share an id');
}

function nothingNamed(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot forget: name ids or filters', {
    details: { reason: 'nothing_named' },
  });
}

/** How a memory is kept. */
export interface PerSubjectOptions {
  /** How long items are stored that name no `ttlMs` of their own, in milliseconds; forever when absent. */
  readonly retentionMs?: number;
}

/**
 * Returns the source as one whose items belong to the caller's subject. `remember`, `retrieve` and `forget` of a principal reach
 * only what the same tenant and subject has stored. `erasePerson` removes it.
 *
 * @example
 * const memory = perSubject(textSource({ id: 'memory', storage }), { retentionMs: 90 * 86_400_000 });
 * const grounding = createGrounding({ sources: [memory] });
 */
export function perSubject(source: WritableGroundingSource, options?: PerSubjectOptions): WritableGroundingSource;
export function perSubject(source: GroundingSource, options?: PerSubjectOptions): GroundingSource;
export function perSubject(source: GroundingSource, options: PerSubjectOptions = {}): GroundingSource {
  checkNames('create the source', options, optional('retentionMs'));
  const { retentionMs } = options;
  const reading: GroundingSource = {
    id: source.id,
    kind: source.kind,
    capabilities: source.capabilities,
    ...(source.quality !== undefined && { quality: source.quality }),
    scope: 'subject',
    retrieve: (request, signal) => source.retrieve(request, signal),
    stats: (owner, signal) => source.stats(owner, signal),
  };
  if (!isWritable(source)) return reading;
  const writing: WritableGroundingSource = {
    ...reading,
    remember: (request, signal) =>
      source.remember({
        ...request,
        items: request.items.map((item) => ({ ...(retentionMs !== undefined && { ttlMs: retentionMs }), ...item })),
      }, signal),
    forget: (request, signal) => source.forget(request, signal),
  };
  return writing;
}

/** A cached answer. */
export interface RetrievalRecord {
  readonly tenant: string;
  readonly dataSourceIds: readonly string[];
  readonly hits: readonly Citation[];
}

export interface RetrieveOptions extends AccessHooks {
  /** What each source counts for in the common order, by id; the `quality` of the source when absent. */
  readonly weights?: Readonly<Record<string, number>>;
  /** What `fitCalibration` returned, by source id. */
  readonly calibrations?: Readonly<Record<string, Calibration>>;
  /** Keeps which hits were given, contents by their hash; it is waited for, and an error in it fails the call. */
  readonly record?: (retrieval: RetrievalRecord) => void | Promise<void>;
  /** Milliseconds since any time. */
  readonly now?: () => number;
}
