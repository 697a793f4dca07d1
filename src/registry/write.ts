/** One write: check the permission, draft and commit, then emit it. */

import { PinnaceError, toData } from '../base/errors.ts';
import type { Authorize } from '../contracts/authenticator.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Emit } from '../events/events.ts';
import { summaryOf } from '../events/payload-summary.ts';
import { statusOfError, traceAt } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { createInvalidations } from '../log/cache-key.ts';
import { guarded, type GuardedEffect, type Guards } from '../permission/guarded.ts';
import { type Changed, commitDraft, type Draft } from './draft.ts';
import type { Author, RegistryAction } from './history.ts';
import { type Access, ownedBy, ownerOf, takenByShared } from './owner.ts';
import {
  cacheKeyOf,
  type CatalogInputs,
  type CatalogRecords,
  kindNames,
  readRecord,
  type RecordKind,
} from './record-kinds.ts';
import { isGiven, requireFit } from './rules.ts';
import type { ScanOptions } from './scan.ts';

/** The writer, its tenant and its trace. */
export interface WriteOptions extends Access {
  /** The trace of the events of this write. */
  readonly traceId?: string | undefined;
}

interface Intent extends WriteOptions {
  readonly action: RegistryAction;
  readonly kind: RecordKind;
  readonly id: string;
}

export type Write = <T>(intent: Intent, work: (draft: Draft) => Promise<T>) => Promise<T>;

interface WriterOptions extends Guards {
  readonly storage: Storage;
  readonly now: () => number;
  readonly emit: Emit;
  /** Called before each write that has a principal; without a hook, every such write is allowed. */
  readonly authorize: Authorize | undefined;
  readonly onChange: ((keys: readonly string[]) => void | Promise<void>) | undefined;
}

/**
 * Creates the function that writes. Writes of one registry wait for each other; a write of another instance makes it start again.
 * When it has resolved, every runtime over the storage uses the change from its next request on.
 * It rejects with the error of `work`, `forbidden` or `approval_required` when `authorize` refuses, and `unavailable` when the
 * invalidation cannot be sent although the change is stored: caches then return the old record for a minute at most.
 */
export function createWriter(options: WriterOptions): Write {
  const { storage, now } = options;
  const news = createInvalidations(storage);
  let last: Promise<unknown> = Promise.resolve();
  const write = async <T>(intent: Intent & { startedAt: number }, work: (draft: Draft) => Promise<T>): Promise<T> => {
    const owner = ownerOf(intent);
    const { result, changed } = await commitDraft({ storage, owner, by: authorOf(intent), now: now() }, work);
    emitWrite(intent, { changed, latency: now() - intent.startedAt }, options);
    const keys = [...new Set(changed.map(({ kind, id }) => cacheKeyOf(kind, id, owner)))];
    if (keys.length === 0) return result;
    await news.publish(keys);
    await options.onChange?.(keys);
    return result;
  };
  const emittingFailure = async <T>(intent: Intent & { startedAt: number }, doing: () => Promise<T>): Promise<T> => {
    try {
      return await doing();
    } catch (error) {
      options.emit({ ...refusedOf(intent, error), latency: now() - intent.startedAt, payloadSummary: '' });
      throw error;
    }
  };
  return async (given, work) => {
    const intent = { ...given, traceId: given.traceId ?? createTraceId(), startedAt: now() };
    const turn = last.then(() =>
      guarded(guardedEffectOf(intent, options), options, () => emittingFailure(intent, () => write(intent, work)))
    );
    last = turn.catch(() => undefined);
    return await turn;
  };
}

function guardedEffectOf(intent: Intent, { emit, now }: WriterOptions): GuardedEffect {
  const { traceId, tenant, ...facts } = factsOf(intent);
  const spanContext = traceAt({ traceId, tenant, actor: facts.actor }, { emit, now });
  return {
    ...facts,
    spanContext,
    owner: ownerOf(intent),
    principal: intent.principal,
    attempt: `Cannot ${intent.action} the ${kindNames[intent.kind]}`,
  };
}

function authorOf({ principal }: WriteOptions): Author {
  return principal
    ? { type: 'user', id: principal.subject, tenant: principal.tenant }
    : { type: 'system', id: 'registry' };
}

function factsOf({ action, kind, id, ...given }: Intent) {
  const { type, id: actorId } = authorOf(given);
  return {
    traceId: given.traceId ?? createTraceId(),
    actor: { type, id: actorId },
    tenant: given.principal?.tenant,
    action: `registry.${action}`,
    target: { type: kind, id },
  };
}

/** One event for each record that changed, those bound to the one that was meant too. */
function emitWrite(
  intent: Intent,
  { changed, latency }: { readonly changed: readonly Changed[]; readonly latency: number },
  { emit }: WriterOptions,
): void {
  const traceId = intent.traceId ?? createTraceId();
  for (const { action, kind, id, revision, differences } of changed) {
    const payloadSummary = summaryOf({ revision, differences });
    const facts = factsOf({ ...intent, traceId, action, kind, id });
    emit({ ...facts, status: 'ok', latency, error: null, payloadSummary });
  }
}

/** An unknown or invalid id is untrusted caller input: the event does not repeat it. */
function refusedOf(intent: Intent, thrown: unknown) {
  const error = toData(thrown);
  const isUnknown = error.code === 'not_found' || error.code === 'invalid_argument';
  const status = statusOfError(error);
  return { ...factsOf(isUnknown ? { ...intent, id: '' } : intent), status, error };
}

export interface PutOptions extends WriteOptions {
  /** The revision that the record must have now; `null`: it must not exist; absent: no matter. */
  readonly ifRevision?: number | null | undefined;
}

/**
 * Sets a record in a draft, as the draft's owner's.
 * @throws PinnaceError as the rules say, `conflict` for the id of a tool that is given as code or of a shared record.
 */
export async function setRecord<Kind extends RecordKind>(
  draft: Draft,
  kind: Kind,
  { record, action, ...options }: ScanOptions & {
    readonly record: CatalogRecords[Kind];
    readonly action: RegistryAction;
  },
): Promise<CatalogRecords[Kind]> {
  if (isGiven(options, kind, record.id)) throw taken(kind, record.id);
  const { owner } = draft;
  const current = await draft.get(kind, record.id);
  if (!current && await draft.find(kind, record.id)) throw takenByShared(kindNames[kind], record.id);
  const owned = ownedBy(record, owner);
  await requireFit({ ...options, owner, current, find: (...of) => draft.find(...of) }, kind, owned);
  return await draft.put(kind, owned, action);
}

function unknownKind(kind: string): PinnaceError {
  const message = `Cannot write the record: no kind is ${JSON.stringify(kind)}; the kinds are ${
    Object.keys(readRecord).join(', ')
  }`;
  return new PinnaceError('invalid_argument', message, { details: { reason: 'wrong_argument', field: 'kind' } });
}

/** Sets a record as it is, in a commit of its own. */
export async function putRecord<Kind extends RecordKind>(
  { write, ...options }: ScanOptions & { readonly write: Write },
  kind: Kind,
  { record, ifRevision, ...given }: PutOptions & { readonly record: CatalogInputs[Kind] },
): Promise<CatalogRecords[Kind]> {
  if (!Object.hasOwn(readRecord, kind)) throw unknownKind(kind);
  const read = unbound(readRecord[kind](record, `the ${kindNames[kind]}`));
  const tenant = given.principal ? given.tenant : given.tenant ?? read.tenant; // the code that composes writes for anyone
  return await write({ ...given, tenant, action: 'update', kind, id: read.id }, async (draft) => {
    requireRevision(await draft.get(kind, read.id), { kind, id: read.id, ifRevision });
    return await setRecord(draft, kind, { ...options, record: read, action: 'update' });
  });
}

/** The agents of a tool are stored with the agents, not with the tool: its revision is not theirs. */
export function unbound<Kind extends RecordKind>(record: CatalogRecords[Kind]): CatalogRecords[Kind] {
  if (!('boundAgents' in record)) return record;
  const { boundAgents: _, ...rest } = record;
  return rest as typeof record; // safe: the field is optional
}

export function taken(kind: RecordKind, id: string): PinnaceError {
  return new PinnaceError('conflict', `Cannot register ${kindNames[kind]} "${id}": the id is taken`, {
    retryable: false,
    details: { reason: 'already_exists' },
  });
}

/** Refuses a write of a record that has changed since the caller read it. @throws PinnaceError `conflict` with the latest record. */
export function requireRevision(
  current: CatalogRecords[RecordKind] | undefined,
  { kind, id, ifRevision }: Pick<PutOptions, 'ifRevision'> & { readonly kind: RecordKind; readonly id: string },
): void {
  const revision = current?.revision ?? null;
  if (ifRevision === undefined || ifRevision === revision) return;
  const state = revision === null ? 'it does not exist' : `it has revision ${revision}`;
  throw new PinnaceError('conflict', `Cannot write ${kindNames[kind]} "${id}": ${state}; read it and decide again`, {
    status: 412,
    retryable: false,
    details: { reason: 'revision_mismatch', revision, ...(current && { latest: current }) },
  });
}
