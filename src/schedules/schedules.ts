/**
 * The schedules of a runtime: what starts runs by itself.
 *
 * What must hold:
 *
 * 1. An occurrence is started once, or is on record as missed, overlap or refused. One commit with the version of the record moves the
 *    schedule to its next time, claims the occurrence, and writes a second due key. Only then is the run started, under a key of the
 *    server that names the occurrence: whoever finds the second due key after a crash starts the same run.
 * 2. The next time is computed from the occurrence, never from the clock or from the end of a run.
 * 3. `nextAt` is the occurrence, `dueAt` where the index has the schedule: they differ while an occurrence waits in a queue. A due key
 *    that the record does not name is stale.
 * 4. A claimed occurrence without a run counts as running, so a crash between claim and start never makes two.
 * 5. A run has the rights of the principal that has written the schedule last, and the hook is asked at each start. Nobody else can
 *    write one: an administrator who could would act with the rights of its owner.
 * 6. What may fail for a moment is left to the next sweep; what is refused is on record, counts, and after five in a row pauses.
 */

import * as v from 'valibot';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import { limitOf, type Page, pageNumber, readPagePlace, readPageToken, writePageToken } from '../base/page.ts';
import { parse } from '../base/parse.ts';
import { createPrincipal, type Owner, type Principal, requireScope } from '../base/principal.ts';
import type { Key } from '../base/key.ts';
import type { Change } from '../contracts/storage.ts';
import type { SummaryValue } from '../contracts/event-sink.ts';
import { commitOwn, readPages, removeKeys } from '../log/commits.ts';
import { dueChange, dueKey } from '../log/due.ts';
import { namedOwner, owns, reach } from '../permission/ownership.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { RunRequest } from '../runtime/run-request.ts';
import type {
  HookRequest,
  Schedule,
  ScheduleCall,
  ScheduleFire,
  ScheduleInput,
  Schedules,
} from '../runtime/schedule.ts';
import type { ScheduleAccess } from '../runtime/runtime.ts';
import { notVerified, verifyHook } from './receive-hook.ts';
import { nextAfter, nextTimes, passedSince, Time, When } from './when.ts';

const dayMs = 86_400_000;
const mostOfSubject = 100;
const mostOfTenant = 1_000;
const mostFailures = 5;
/** A run that was claimed and not started after this time is started by another process. */
const repairMs = 60_000;
/** How often it is looked whether an occurrence that waits can start. */
const waitMs = 10_000;
const fireTtlMs = 30 * dayMs;
/** A failure that may pass is tried again so long at least. */
const retryMs = 900_000;

const { id: ChatId } = RunRequest.entries.chat.entries;
const Input = v.strictObject({
  agentId: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  name: v.pipe(v.string(), v.trim(), v.minLength(1), v.maxLength(200)),
  message: v.pipe(v.string(), v.minLength(1), v.maxLength(32_768)),
  chat: v.optional(v.union([v.literal('new'), v.strictObject({ id: ChatId })], 'must be "new" or { id }'), 'new'),
  budget: RunRequest.entries.budget,
  when: When,
  overlap: v.optional(v.picklist(['skip', 'queue', 'allow']), 'skip'),
  catchUpMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(7 * dayMs)), 3_600_000),
  expiresAt: v.optional(Time),
});
type Terms = v.InferOutput<typeof Input>;

/** A schedule as it is stored, under its id: what is due is found without knowing whose it is. */
interface ScheduleRecord extends Omit<Terms, 'expiresAt'> {
  readonly owner: Owner;
  readonly expiresAt: number;
  readonly paused?: Schedule['paused'];
  readonly nextAt?: number | undefined;
  readonly dueAt?: number | undefined;
  /** The occurrence at `nextAt` waits for the end of the last run. */
  readonly waits?: true | undefined;
  readonly last?: Schedule['last'];
  readonly failures: number;
  readonly revision: number;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** New with each write, so that a commit whose answer was lost is recognized. */
  readonly mark: string;
}

interface Stored {
  readonly id: string;
  readonly record: ScheduleRecord;
  readonly version: string;
}

const recordKey = (id: string): Key => ['schedule', id];
const listKey = (
  { tenant, subject }: Pick<Owner, 'tenant' | 'subject'>,
  id: string,
): Key => ['schedules', tenant, subject, id];
const firesPrefix = (id: string): Key => ['schedule-fire', id];

/** Opens the schedules of a runtime. */
export function openSchedules(parts: RuntimeParts, access: ScheduleAccess): RuntimeSchedules {
  return new RuntimeSchedules(parts, access);
}

/** The schedules, and what wakes them. */
export class RuntimeSchedules implements Schedules {
  readonly #parts: RuntimeParts;
  readonly #access: ScheduleAccess;

  constructor(parts: RuntimeParts, access: ScheduleAccess) {
    this.#parts = parts;
    this.#access = access;
  }

  async create(input: ScheduleInput, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    this.#parts.requireOpen();
    const parsed = parse(Input, input, { what: 'the schedule' });
    await this.#requireRights(principal, parsed);
    const id = await idOf(principal, call.idempotencyKey);
    const known = call.idempotencyKey === undefined ? undefined : await this.#read(id);
    if (known) return this.#view(known);
    await this.#requireRoom(principal);
    const at = this.#parts.now();
    const record: ScheduleRecord = {
      ...termsOf(parsed, at),
      expiresAt: parsed.expiresAt ?? at + 365 * dayMs,
      owner: ownerOf(principal),
      failures: 0,
      revision: 1,
      createdAt: at,
      updatedAt: at,
      mark: crypto.randomUUID(),
    };
    return await this.#guarded(
      'create',
      { id, record, principal, call },
      async () =>
        this.#view(
          requireWritten(await this.#write({ id, version: null }, scheduled(record, at)) ?? await this.#read(id)),
        ),
    );
  }

  async list(
    principal: Principal,
    { subject, ...page }: Parameters<Schedules['list']>[1] = {},
  ): Promise<Page<Schedule>> {
    requireScope(principal, 'run:read');
    const owner = namedOwner(principal, subject);
    const limit = limitOf(page);
    const prefix: Key = ['schedules', owner.tenant, owner.subject];
    const after = page.pageToken === undefined ? undefined : await readPageToken(prefix, page.pageToken);
    const entries = await this.#parts.storage.list({
      prefix,
      limit: limit + 1,
      ...(after !== undefined && { after: [...prefix, after] }),
    });
    const ids = entries.slice(0, limit).map(({ key }) => String(key[3]));
    const found = await Promise.all(ids.map((id) => this.#read(id)));
    const items = found.filter((one) => one !== undefined && reach(principal, ownedOf(one)) !== undefined);
    if (items.length > 0 && !owns(principal, owner)) await this.#readAs(principal, { id: '*', owner });
    return {
      items: items.map((one) => this.#view(one as Stored)), // safe: the others were left out
      ...(entries.length > limit && { nextPageToken: await writePageToken(prefix, ids.at(-1) ?? '') }),
    };
  }

  async get(id: string, principal: Principal): Promise<Schedule> {
    return this.#view(await this.#readFor(principal, id));
  }

  async update(
    id: string,
    change: Parameters<Schedules['update']>[1],
    principal: Principal,
    call: ScheduleCall = {},
  ): Promise<Schedule> {
    const found = await this.#find(principal, id, { isOwn: true });
    const { revision, ...changed } = change;
    const parsed = parse(Input, { ...inputOf(found.record), ...changed }, { what: 'the schedule' });
    await this.#requireRights(principal, parsed);
    const at = this.#parts.now();
    return await this.#change('update', { id, principal, call, revision }, ({ record }) => {
      const expiresAt = parsed.expiresAt ?? record.expiresAt;
      const next: ScheduleRecord = { ...record, ...termsOf(parsed, at), expiresAt, owner: ownerOf(principal) };
      // An occurrence that is due now is not lost by another text.
      return change.when === undefined && !next.paused
        ? { ...next, ...placed(next.nextAt, next) }
        : scheduled(next, at);
    });
  }

  async delete(id: string, principal: Principal, call: ScheduleCall = {}): Promise<void> {
    const found = await this.#find(principal, id);
    await this.#guarded('delete', { ...found, principal, call }, () => this.#remove(found));
  }

  async pause(id: string, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    await this.#find(principal, id);
    const requested = { by: principal.subject, at: this.#parts.now(), reason: 'requested' };
    return await this.#change(
      'pause',
      { id, principal, call },
      ({ record }) => ({ ...idle(record), paused: record.paused ?? requested }),
    );
  }

  async resume(id: string, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    const { record } = await this.#find(principal, id, { isOwn: true });
    await this.#requireRights(principal, record);
    return await this.#change('resume', { id, principal, call }, (found) => {
      const { paused: _, ...active } = found.record;
      return scheduled({ ...active, failures: 0 }, this.#parts.now());
    });
  }

  async run(id: string, principal: Principal, call: ScheduleCall = {}): Promise<{ readonly runId: string }> {
    const found = await this.#find(principal, id, { isOwn: true });
    requireScope(principal, 'run:create', found.record.agentId);
    const at = this.#parts.now();
    const { runId } = await this.#begin(found, {
      at,
      key: `manual:${id}:${call.idempotencyKey ?? crypto.randomUUID()}`,
      trace: call.trace,
    });
    await this.#parts.storage.commit([this.#fireChange(id, { at, firedAt: at, outcome: 'started', runId })]);
    return { runId };
  }

  async fires(
    id: string,
    principal: Principal,
    page: Parameters<Schedules['fires']>[2] = {},
  ): Promise<Page<ScheduleFire>> {
    await this.#readFor(principal, id);
    const limit = limitOf(page);
    const prefix = firesPrefix(id);
    const after = page.pageToken === undefined ? undefined : await readPagePlace(prefix, page.pageToken, pageNumber);
    const entries = await this.#parts.storage.list({
      prefix,
      limit: limit + 1,
      ...(after !== undefined && { after: [...prefix, -after] }),
    });
    const items = entries.slice(0, limit).map(({ value }) => value as ScheduleFire); // only this class writes it
    return {
      items,
      ...(entries.length > limit && { nextPageToken: await writePageToken(prefix, String(items.at(-1)?.at ?? 0)) }),
    };
  }

  async receive(id: string, request: HookRequest): Promise<{ readonly runId: string; readonly isKnown: boolean }> {
    this.#parts.requireOpen();
    const found = /^sch_\w{1,64}$/.test(id) ? await this.#read(id) : undefined;
    if (!found || !('hook' in found.record.when)) throw notVerified();
    const { when: { hook: { secret } }, owner: { tenant }, paused } = { ...found.record, when: found.record.when };
    const event = await verifyHook(this.#parts, { id, tenant, secret, request });
    if (paused) {
      throw new PinnaceError('conflict', 'Cannot take the event: the schedule is paused', {
        details: { reason: 'schedule_paused' },
      });
    }
    const at = this.#parts.now();
    const key = `hook:${id}:${request.headers.id}`;
    const { runId, known } = await this.#begin(found, { at, key, event }).catch(async (thrown: unknown) => {
      if (!toPinnaceError(thrown).retryable) await this.#refuse(found, { at, firedAt: at, thrown });
      throw thrown;
    });
    const isKnown = known !== undefined;
    if (!isKnown) await this.#noteStart(found, { at, runId });
    return { runId, isKnown };
  }

  async has(subject: string, principal: Principal): Promise<boolean> {
    requireScope(principal, 'admin');
    const prefix: Key = ['schedules', principal.tenant, subject];
    return (await this.#parts.storage.list({ prefix, limit: 1 })).length > 0;
  }

  async erase(subject: string, principal: Principal): Promise<number> {
    requireScope(principal, 'admin');
    let count = 0;
    for await (
      const page of readPages(this.#parts.storage, { prefix: ['schedules', principal.tenant, subject], limit: 100 })
    ) {
      for (const { key } of page) {
        const id = String(key[3]);
        const found = await this.#read(id);
        if (found) await this.#remove(found);
        else await this.#parts.storage.commit([{ key }]);
        count++;
      }
    }
    return count;
  }

  /** Starts what a due key names. Resolves to whether a run was started. */
  async wake(thing: string, dueAt: number): Promise<boolean> {
    this.#parts.requireOpen();
    const [id = '', claimed] = thing.split('.');
    const found = await this.#read(id);
    if (!found) {
      await this.#parts.storage.commit([{ key: dueKey(dueAt, thing) }]);
      return false;
    }
    if (claimed !== undefined) return await this.#start(found, Number(claimed), dueAt);
    const { record } = found;
    if (record.dueAt === dueAt && record.nextAt !== undefined) return await this.#fire(found, record.nextAt);
    // With the version: the schedule may come to be due at this very time meanwhile.
    await this.#write(found, record, [{ key: dueKey(dueAt, thing) }]);
    return false;
  }

  /** Moves the schedule behind the occurrences that have passed, and starts the last of them. */
  async #fire(found: Stored, first: number): Promise<boolean> {
    const { id } = found;
    const now = this.#parts.now();
    const record = await this.#judged(found);
    const { last: at, before, next } = passedSince(record.when, first, now);
    const isBusy = record.overlap !== 'allow' && record.last?.state === 'running';
    const isLate = !record.waits && now - at > record.catchUpMs;
    const waits = !isLate && isBusy && record.overlap === 'queue';
    const outcome = isLate ? 'missed' : isBusy ? 'overlap' : 'claimed';
    const passed = before === 0
      ? []
      : [{ at: first, outcome: record.waits ? 'overlap' : 'missed', count: before } as const];
    const fires: Omit<ScheduleFire, 'firedAt'>[] = waits ? [...passed] : [...passed, { at, outcome }];
    const claims = outcome === 'claimed'
      ? [dueChange({ at: now + repairMs, id: `${id}.${at}`, tenant: record.owner.tenant })]
      : [];
    const moved: ScheduleRecord = waits ? { ...record, nextAt: at, dueAt: now + waitMs, waits: true } : {
      ...record,
      ...placed(next, record),
      waits: undefined,
      ...(outcome === 'claimed' && { last: { at, state: 'running' } }),
    };
    const changes = [...claims, ...fires.map((fire) => this.#fireChange(id, { ...fire, firedAt: now }))];
    const stored = await this.#write(found, pausedOr(moved, now), changes);
    if (!stored) return false; // another process has moved it
    for (const fire of fires) if (fire.outcome !== 'claimed') this.#emitFire(stored, fire);
    if (stored.record.paused) await this.#emitPause(stored);
    return outcome === 'claimed' && await this.#start(stored, at, now + repairMs);
  }

  /** Starts the run of a claimed occurrence, or finds it where it was started before. */
  async #start(found: Stored, at: number, dueAt: number): Promise<boolean> {
    const { storage, now, answers } = this.#parts;
    const { id, record } = found;
    const claim = await storage.get([...firesPrefix(id), -at]);
    const fire = claim?.value as ScheduleFire | undefined; // only this class writes it
    if (fire?.outcome !== 'claimed') {
      await storage.commit([{ key: dueKey(dueAt, `${id}.${at}`) }]);
      return false;
    }
    try {
      const { runId, ended } = await this.#begin(found, { at, key: `${id}:${at}` });
      await this.#settle(id, {
        at,
        fire: { ...fire, outcome: 'started', runId },
        last: { at, runId, state: 'running' },
      });
      this.#emitFire(found, { at, outcome: 'started', runId });
      const noted = ended?.then(() => this.#noteEnd(id, at)).catch(() => undefined).finally(() =>
        answers.delete(noted!)
      );
      if (noted) answers.add(noted);
      return true;
    } catch (thrown) {
      const error = toPinnaceError(thrown);
      const mayPass = error.retryable || error.code === 'conflict';
      if (mayPass && now() - at < Math.max(retryMs, record.catchUpMs)) throw thrown; // the second due key starts it again
      await this.#refuse(found, { at, firedAt: fire.firedAt, thrown });
      return false;
    }
  }

  /** Records why an occurrence was refused. */
  async #refuse(
    found: Stored,
    { at, firedAt, thrown }: { readonly at: number; readonly firedAt: number; readonly thrown: unknown },
  ): Promise<void> {
    const { code, message, details } = toPinnaceError(thrown);
    const reason = details?.['reason'];
    const error = { code, message, ...(typeof reason === 'string' && { reason }) };
    const fire: ScheduleFire = { at, firedAt, outcome: 'refused', error };
    await this.#settle(found.id, { at, fire, last: { at, state: 'refused' }, hasFailed: true });
    this.#emitFire(found, fire);
  }

  /** Records a run that was started by a hook. */
  async #noteStart(found: Stored, { at, runId }: { readonly at: number; readonly runId: string }): Promise<void> {
    const fire: ScheduleFire = { at, firedAt: at, outcome: 'started', runId };
    const last = { at, runId, state: 'running' };
    await this.#retried(found.id, ({ record }) => ({ ...record, last }), [this.#fireChange(found.id, fire)]);
    this.#emitFire(found, fire);
  }

  /** Starts a run with the rights of the owner. */
  async #begin(
    { id, record }: Stored,
    { at, key, trace, event }: {
      readonly at: number;
      readonly key: string;
      readonly trace?: ScheduleCall['trace'];
      readonly event?: string;
    },
  ) {
    const { agentId, message, budget, chat, when, owner } = record;
    const principal = createPrincipal(owner);
    const request = {
      agentId,
      chat: {
        id: chat === 'new' ? `${id}-${at}` : chat.id,
        store: true,
        messages: [{ id: key, role: 'user', parts: [{ type: 'text', text: message }] }],
      },
      ...(event !== undefined && { context: [{ content: event, source: 'Event, as data' }] }),
      ...(budget && { budget }),
      ...('cron' in when && { timeZone: when.timeZone }),
    };
    const facts = {
      action: 'schedule.run',
      target: { type: 'schedule', id },
      subject: owner.subject,
      principal,
      context: { agentId },
    };
    return await this.#access.guard(
      { ...facts, ...(trace && { trace }), attempt: 'Cannot run the schedule' },
      async ({ traceId }) =>
        await this.#access.start(request, principal, {
          idempotency: { key, fingerprint: '', byServer: true },
          trace: { traceId },
        }),
    );
  }

  /** Records what has become of a claimed occurrence. */
  async #settle(
    id: string,
    { at, fire, last, hasFailed = false }: {
      readonly at: number;
      readonly fire: ScheduleFire;
      readonly last: NonNullable<ScheduleRecord['last']>;
      readonly hasFailed?: boolean;
    },
  ): Promise<void> {
    const changes = [this.#fireChange(id, fire), { key: dueKey(fire.firedAt + repairMs, `${id}.${at}`) }];
    const stored = await this.#retried(id, ({ record }) => {
      const failures = hasFailed ? record.failures + 1 : record.failures;
      return { ...record, failures, ...(record.last?.at === at && { last }) };
    }, changes);
    if (!stored) await this.#parts.storage.commit(changes);
    else if (hasFailed && stored.record.paused?.by === 'system') await this.#emitPause(stored);
  }

  /** Notes how the run of an occurrence has ended. */
  async #noteEnd(id: string, at: number): Promise<void> {
    const found = await this.#read(id);
    if (!found || found.record.last?.at !== at || found.record.last.state !== 'running') return;
    const judged = await this.#judged(found);
    const stored = await this.#write(found, pausedOr(judged, this.#parts.now()));
    if (stored?.record.paused && !found.record.paused) await this.#emitPause(stored);
  }

  /** The record with the end of its last run. */
  async #judged({ record }: Stored): Promise<ScheduleRecord> {
    const { last, owner } = record;
    if (last?.state !== 'running' || last.runId === undefined) return record;
    const reader = createPrincipal({ ...owner, scopes: ['run:read'], via: 'in-process' });
    const found = await this.#parts.runs.status(reader, last.runId).catch((error: unknown) => {
      if (toPinnaceError(error).status < 500) return undefined; // expired meanwhile
      throw error;
    });
    const state = found?.state ?? 'unknown';
    if (state === 'running') return record;
    return { ...record, last: { ...last, state }, failures: state === 'failed' ? record.failures + 1 : 0 };
  }

  /** Changes a record by what `next` makes of it. */
  async #change(
    action: 'update' | 'pause' | 'resume',
    { id, principal, call, revision }: {
      readonly id: string;
      readonly principal: Principal;
      readonly call: ScheduleCall;
      readonly revision?: number | undefined;
    },
    next: (found: Stored) => ScheduleRecord,
  ): Promise<Schedule> {
    const found = await this.#find(principal, id);
    return await this.#guarded(action, { ...found, principal, call }, async () => {
      const stored = await this.#retried(id, (one) => {
        const latestVersion = one.record.revision;
        if (revision !== undefined && revision !== latestVersion) throw changedMeanwhile(latestVersion);
        return { ...next(one), revision: latestVersion + 1, updatedAt: this.#parts.now() };
      });
      return this.#view(requireWritten(stored));
    });
  }

  async #retried(
    id: string,
    next: (found: Stored) => ScheduleRecord,
    changes: readonly Change[] = [],
  ): Promise<Stored | undefined> {
    for (let tries = 0; tries < 20; tries++) {
      const found = await this.#read(id);
      if (!found) return undefined;
      const stored = await this.#write(found, pausedOr(next(found), this.#parts.now()), changes);
      if (stored) return stored;
    }
    throw new PinnaceError('unavailable', 'Cannot change the schedule: others change it at the same time', {
      details: { reason: 'storage_contended' },
    });
  }

  /** Writes a record and its places in the index and in the list. Resolves to `undefined` where another was faster. */
  async #write(
    found: Stored | { readonly id: string; readonly record?: undefined; readonly version: null },
    record: ScheduleRecord,
    changes: readonly Change[] = [],
  ): Promise<Stored | undefined> {
    const { storage, now, due, limits: { storageGraceMs: graceMs } } = this.#parts;
    const { id, record: before, version } = found;
    const value: ScheduleRecord = { ...record, mark: crypto.randomUUID() };
    const { dueAt, owner, expiresAt } = value;
    const ttlMs = Math.max(0, expiresAt - now()) + fireTtlMs;
    const isMoved = before?.dueAt !== undefined && before.dueAt !== dueAt;
    const result = await commitOwn(storage, [
      { key: recordKey(id), value, ifVersion: version, ttlMs },
      { key: listKey(owner, id), value: true, ttlMs },
      ...(isMoved ? [{ key: dueKey(before.dueAt, id) }] : []),
      ...(dueAt === undefined ? [] : [dueChange({ at: dueAt, id, tenant: owner.tenant }, ttlMs)]),
      ...changes,
      ...this.#announced(before, value, id),
    ], {
      written: async () => {
        const stored = await this.#read(id);
        return stored?.record.mark === value.mark ? stored.version : undefined;
      },
      graceMs,
    });
    if (!result.ok) return undefined;
    if (dueAt !== undefined) due.arm(dueAt);
    return { id, record: value, version: result.version };
  }

  /** The notice of a pause by the system, for the commit of the pause. */
  #announced(
    before: ScheduleRecord | undefined,
    { paused, owner, agentId, updatedAt }: ScheduleRecord,
    id: string,
  ): readonly Change[] {
    const { notices } = this.#parts;
    if (!notices || before?.paused || paused?.by !== 'system') return [];
    const { tenant, subject } = owner;
    const data = { kind: 'schedule', scheduleId: id, agentId, subject, reason: paused.reason };
    return notices.changes({
      type: 'schedule.paused',
      tenant,
      item: `${id} ${updatedAt} ${paused.at}`,
      at: paused.at,
      data,
    });
  }

  async #remove({ id, record }: Stored): Promise<void> {
    const { storage } = this.#parts;
    const { owner, dueAt } = record;
    const keys = [recordKey(id), listKey(owner, id), ...(dueAt === undefined ? [] : [dueKey(dueAt, id)])];
    await storage.commit(keys.map((key) => ({ key })));
    for await (const page of readPages(storage, { prefix: firesPrefix(id), limit: 100 })) {
      await removeKeys(
        storage,
        page.map(({ key }) => key),
      );
    }
  }

  async #read(id: string): Promise<Stored | undefined> {
    const entry = await this.#parts.storage.get(recordKey(id));
    return entry && { id, record: entry.value as ScheduleRecord, version: entry.version }; // only this class writes it
  }

  /** Finds a schedule that the caller may reach. @throws PinnaceError `not_found`. */
  async #find(principal: Principal, id: string, { isOwn = false } = {}): Promise<Stored> {
    requireScope(principal, 'run:create');
    return await this.#reached(principal, id, isOwn);
  }

  async #readFor(principal: Principal, id: string): Promise<Stored> {
    requireScope(principal, 'run:read');
    const found = await this.#reached(principal, id, false);
    if (!owns(principal, ownedOf(found))) await this.#readAs(principal, { id, owner: found.record.owner });
    return found;
  }

  async #reached(principal: Principal, id: string, isOwn: boolean): Promise<Stored> {
    const found = /^sch_\w{1,64}$/.test(id) ? await this.#read(id) : undefined;
    const how = found && reach(principal, ownedOf(found));
    if (found && how && (how === 'owner' || !isOwn)) return found;
    if (how) {
      throw new PinnaceError('forbidden', 'Cannot change the schedule: it acts with the rights of its owner', {
        details: { reason: 'not_the_owner' },
      });
    }
    throw new PinnaceError('not_found', 'No schedule has this id', { details: { reason: 'schedule_not_found' } });
  }

  async #readAs(
    principal: Principal,
    { id, owner }: { readonly id: string; readonly owner: Pick<Owner, 'subject'> },
  ): Promise<void> {
    const facts = { action: 'schedule.read', target: { type: 'schedule', id } };
    await this.#access.guard(
      { ...facts, subject: owner.subject, principal, attempt: 'Cannot read the schedule' },
      (at) => Promise.resolve(at.emit({ ...facts, status: 'ok' })),
    );
  }

  /** The rights of the run, checked as the run itself does. */
  async #requireRights(principal: Principal, { agentId, when }: Pick<Terms, 'agentId' | 'when'>): Promise<void> {
    requireScope(principal, 'run:create', agentId);
    if (principal.via === 'http' && 'everyMs' in when && when.everyMs < 60_000) {
      throw new PinnaceError('invalid_argument', 'Cannot create the schedule: "everyMs" must be at least 60000', {
        details: { reason: 'too_often' },
      });
    }
    await this.#parts.resolver.agent(agentId, principal);
  }

  async #requireRoom({ tenant, subject }: Principal): Promise<void> {
    const { storage } = this.#parts;
    const [own, all] = await Promise.all([
      storage.list({ prefix: ['schedules', tenant, subject], limit: mostOfSubject }),
      storage.list({ prefix: ['schedules', tenant], limit: mostOfTenant }),
    ]);
    if (own.length < mostOfSubject && all.length < mostOfTenant) return;
    throw new PinnaceError('rate_limited', 'Cannot create the schedule: there are too many; delete some first', {
      retryable: false,
      details: { reason: 'too_many_schedules' },
    });
  }

  async #guarded<T>(
    how: 'create' | 'update' | 'pause' | 'resume' | 'delete',
    { id, record, principal, call }: {
      readonly id: string;
      readonly record: ScheduleRecord;
      readonly principal: Principal;
      readonly call: ScheduleCall;
    },
    work: () => Promise<T>,
  ): Promise<T> {
    const { agentId, owner } = record;
    const facts = { action: `schedule.${how}`, target: { type: 'schedule', id }, payload: { agentId } };
    const effect = {
      ...facts,
      subject: owner.subject,
      principal,
      ...(call.trace && { trace: call.trace }),
      context: { agentId },
    };
    return await this.#access.guard({ ...effect, attempt: `Cannot ${how} the schedule` }, async (at) => {
      const done = await work();
      at.emit({ ...facts, status: 'ok' });
      return done;
    });
  }

  #fireChange(id: string, fire: ScheduleFire): Change {
    return { key: [...firesPrefix(id), -fire.at], value: fire, ttlMs: fireTtlMs };
  }

  #emitFire(
    { id, record: { owner, agentId } }: Pick<Stored, 'id' | 'record'>,
    { at, outcome, runId, error, count }: Omit<ScheduleFire, 'firedAt'>,
  ): void {
    const payload: Record<string, SummaryValue> = {
      outcome,
      at: new Date(at).toISOString(),
      agentId,
      ...(runId !== undefined && { runId }),
      ...(count !== undefined && { count }),
      ...(error && { code: error.code }),
    };
    this.#access.place(createPrincipal(owner)).emit({
      action: 'schedule.fire',
      target: { type: 'schedule', id },
      status: outcome === 'started' ? 'ok' : 'denied',
      payload,
    });
  }

  async #emitPause({ id, record: { owner, paused, failures } }: Stored): Promise<void> {
    if (paused?.by !== 'system') return;
    this.#parts.notices?.send();
    const at = this.#access.place(createPrincipal(owner));
    at.emit({
      actor: { type: 'system', id: 'schedules' },
      action: 'schedule.pause',
      target: { type: 'schedule', id },
      status: 'ok',
      payload: { reason: paused.reason, failures },
    });
  }

  #view({ id, record }: Stored): Schedule {
    const { owner, nextAt: at, dueAt: _, waits: __, mark: ___, ...shown } = record;
    const next = at === undefined ? [] : [at, ...nextTimes(record.when, { after: at, count: 2 })];
    return { id, subject: owner.subject, ...shown, next: next.filter((one) => one <= record.expiresAt) };
  }
}

async function idOf({ tenant, subject }: Principal, key: string | undefined): Promise<string> {
  if (key === undefined) return `sch_${crypto.randomUUID().replaceAll('-', '')}`;
  return `sch_${(await sha256(canonicalJson([tenant, subject, key]))).slice(0, 32)}`;
}

function ownerOf({ tenant, subject, actor, agents, scopes, roles, via }: Principal): Owner {
  return { tenant, subject, agents, scopes, via, ...(actor !== undefined && { actor }), ...(roles && { roles }) };
}

function ownedOf({ record: { owner: { tenant, subject }, agentId } }: Stored) {
  return { tenant, subject, agentId };
}

function termsOf({ expiresAt: _, ...parsed }: Terms, at: number): Omit<Terms, 'expiresAt'> {
  const { when } = parsed;
  return 'everyMs' in when && when.from === undefined ? { ...parsed, when: { ...when, from: at } } : parsed;
}

function inputOf(
  { agentId, name, message, chat, budget, when, overlap, catchUpMs, expiresAt }: ScheduleRecord,
): ScheduleInput {
  return { agentId, name, message, chat, when, overlap, catchUpMs, expiresAt, ...(budget && { budget }) };
}

/** The record with its next time after `at`, unless it is paused. */
function scheduled(record: ScheduleRecord, at: number): ScheduleRecord {
  if (record.paused) return record;
  return { ...record, ...placed(nextAfter(record.when, at), record), waits: undefined };
}

function placed(
  next: number | undefined,
  { expiresAt }: Pick<ScheduleRecord, 'expiresAt'>,
): Pick<ScheduleRecord, 'nextAt' | 'dueAt'> {
  const at = next !== undefined && next <= expiresAt ? next : undefined;
  return { nextAt: at, dueAt: at };
}

/** The record, paused where it has failed too often, or is over. */
function pausedOr(record: ScheduleRecord, at: number): ScheduleRecord {
  if (record.paused) return record;
  if (record.failures >= mostFailures) return pausedBySystem(record, 'failures', at);
  const isOver = record.nextAt === undefined && !('hook' in record.when) && !('at' in record.when);
  return isOver ? pausedBySystem(record, 'expired', at) : record;
}

function pausedBySystem(record: ScheduleRecord, reason: string, at: number): ScheduleRecord {
  return { ...idle(record), paused: { by: 'system', at, reason } };
}

function idle(record: ScheduleRecord): ScheduleRecord {
  return { ...record, nextAt: undefined, dueAt: undefined, waits: undefined };
}

function requireWritten(stored: Stored | undefined): Stored {
  if (stored) return stored;
  throw new PinnaceError('not_found', 'No schedule has this id', { details: { reason: 'schedule_not_found' } });
}

function changedMeanwhile(latestVersion: number): PinnaceError {
  return new PinnaceError('conflict', 'Cannot change the schedule: it was changed meanwhile; read it again', {
    details: { reason: 'version_mismatch', latestVersion },
  });
}
