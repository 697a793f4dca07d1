/**
 * The schedules of a runtime: what starts runs by itself.
 *
 * What must hold:
 *
 * 1. An occurrence is started once, or is on record as missed, overlap or refused. One commit with the version of the record moves the
 *    schedule to its next time, claims the occurrence, and writes a second due key. Only then is the run started, under a key of the
 *    server that names the occurrence: what finds the second due key after a crash starts the same run.
 * 2. The next time is computed from the occurrence, never from the clock or from the end of a run.
 * 3. `nextAt` is the occurrence, `dueAt` where the index has the schedule: they differ while an occurrence waits in a queue. A due key
 *    that the record does not name is stale.
 * 4. A claimed occurrence without a run counts as running, so a crash between claim and start never makes two.
 * 5. A run has the rights of the principal that has written the schedule last, and the hook is asked at each start. Nobody else can
 *    write one: an administrator who could would act with the rights of its owner.
 * 6. What may fail for a moment is left to the next sweep; what is refused is on record, counts, and after five in a row pauses.
 */

import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { Page } from '../base/page.ts';
import { parse } from '../base/parse.ts';
import { type Owner, ownerAs, type Principal, requireScope } from '../base/principal.ts';
import { readPages } from '../log/commits.ts';
import { guardEmitted, guardRead } from '../permission/guarded.ts';
import { namedOwner, owns, reach } from '../permission/ownership.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
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
import { nextTimes } from './when.ts';
import {
  dayMs,
  fireChange,
  firesPrefix,
  idle,
  Input,
  inputOf,
  listPrefix,
  ownedOf,
  placed,
  requireDue,
  requireWritten,
  scheduled,
  type ScheduleRecord,
  ScheduleStore,
  type Stored,
  type Terms,
  termsOf,
} from './schedule-record.ts';
import { ScheduleFiring } from './fire-schedule.ts';

const mostOfSubject = 100;
const mostOfTenant = 1_000;

/** Opens the schedules of a runtime. */
export function openSchedules(parts: RuntimeParts, access: ScheduleAccess): RuntimeSchedules {
  return new RuntimeSchedules(parts, access);
}

/** The schedules, and what wakes them. */
export class RuntimeSchedules implements Schedules {
  readonly #parts: RuntimeParts;
  readonly #access: ScheduleAccess;
  readonly #store: ScheduleStore;
  readonly #firing: ScheduleFiring;
  #lastStart = 0;

  constructor(parts: RuntimeParts, access: ScheduleAccess) {
    this.#parts = parts;
    this.#access = access;
    this.#store = new ScheduleStore(parts);
    this.#firing = new ScheduleFiring(parts, access, this.#store);
  }

  async create(input: ScheduleInput, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    this.#parts.requireOpen();
    const parsed = parse(Input, input, { what: 'the schedule' });
    await this.#requireRights(principal, parsed);
    const id = await idOf(principal, call.idempotencyKey);
    const known = call.idempotencyKey === undefined ? undefined : await this.#store.read(id);
    if (known) return this.#view(known);
    await this.#requireRoom(principal);
    const at = this.#parts.now();
    const record = requireDue(scheduled({
      ...termsOf(parsed, at),
      expiresAt: parsed.expiresAt ?? at + 365 * dayMs,
      owner: ownerAs(principal),
      failures: 0,
      revision: 1,
      createdAt: at,
      updatedAt: at,
    }, at));
    return await this.#guarded('create', { id, record, principal, call }, async () => {
      const stored = await this.#store.write({ id, version: null }, record) ?? await this.#store.read(id);
      return this.#view(requireWritten(stored));
    });
  }

  async list(
    principal: Principal,
    { subject, ...page }: Parameters<Schedules['list']>[1] = {},
  ): Promise<Page<Schedule>> {
    requireScope(principal, 'run:read');
    const owner = namedOwner(principal, subject);
    const { items: entries, ...more } = await this.#store.page(listPrefix(owner), page);
    const found = await Promise.all(entries.map(({ key }) => this.#store.read(String(key[3]))));
    const items = found.filter((one) => one !== undefined).filter((one) =>
      reach(principal, ownedOf(one)) !== undefined
    );
    if (items.length > 0 && !owns(principal, owner)) await this.#readAs(principal, { id: '*', owner });
    return { items: items.map((one) => this.#view(one)), ...more };
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
    return await this.#change('update', { found, principal, call, revision }, ({ record }) => {
      const expiresAt = parsed.expiresAt ?? record.expiresAt;
      const next: ScheduleRecord = { ...record, ...termsOf(parsed, at), expiresAt, owner: ownerAs(principal) };
      // An occurrence that is due now is not lost by another text.
      return change.when === undefined && !next.paused
        ? { ...next, ...placed(next.nextAt, next) }
        : requireDue(scheduled(next, at));
    });
  }

  async delete(id: string, principal: Principal, call: ScheduleCall = {}): Promise<void> {
    const found = await this.#find(principal, id);
    await this.#guarded('delete', { ...found, principal, call }, () => this.#store.remove(found));
  }

  async pause(id: string, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    const found = await this.#find(principal, id);
    const requested = { by: principal.subject, at: this.#parts.now(), reason: 'requested' };
    return await this.#change(
      'pause',
      { found, principal, call },
      ({ record }) => ({ ...idle(record), paused: record.paused ?? requested }),
    );
  }

  async resume(id: string, principal: Principal, call: ScheduleCall = {}): Promise<Schedule> {
    const found = await this.#find(principal, id, { isOwn: true });
    await this.#requireRights(principal, found.record);
    return await this.#change('resume', { found, principal, call }, ({ record: { paused: _, ...active } }) => {
      return scheduled({ ...active, failures: 0 }, this.#parts.now());
    });
  }

  async run(id: string, principal: Principal, call: ScheduleCall = {}): Promise<{ readonly runId: string }> {
    const found = await this.#find(principal, id, { isOwn: true });
    requireScope(principal, 'run:create', found.record.agentId);
    const at = this.#startTime();
    const key = `manual:${id}:${call.idempotencyKey ?? crypto.randomUUID()}`;
    const { runId } = await this.#firing.begin(found, { at, key, trace: call.trace });
    await this.#parts.storage.commit([fireChange(id, { at, firedAt: at, outcome: 'started', runId })]);
    return { runId };
  }

  async fires(
    id: string,
    principal: Principal,
    page: Parameters<Schedules['fires']>[2] = {},
  ): Promise<Page<ScheduleFire>> {
    await this.#readFor(principal, id);
    const { items, ...more } = await this.#store.page(firesPrefix(id), page);
    return { items: items.map(({ value }) => value as ScheduleFire), ...more }; // only `fireChange` makes them
  }

  async receive(id: string, request: HookRequest): Promise<{ readonly runId: string; readonly isKnown: boolean }> {
    this.#parts.requireOpen();
    const found = /^sch_\w{1,64}$/.test(id) ? await this.#store.read(id) : undefined;
    if (!found || !('hook' in found.record.when)) throw notVerified();
    const { when: { hook: { secret } }, owner: { tenant }, paused } = { ...found.record, when: found.record.when };
    const event = await verifyHook(this.#parts, { id, tenant, secret, request });
    if (paused) {
      throw new PinnaceError('conflict', 'Cannot take the event: the schedule is paused', {
        details: { reason: 'schedule_paused' },
      });
    }
    const at = this.#startTime();
    const key = `hook:${id}:${request.headers.id}`;
    const { runId, known } = await this.#firing.begin(found, { at, key, event }).catch(async (thrown: unknown) => {
      if (!toPinnaceError(thrown).retryable) await this.#firing.refuse(found, { at, firedAt: at, thrown });
      throw thrown;
    });
    const isKnown = known !== undefined;
    if (!isKnown) await this.#firing.noteStart(found, { at, runId });
    return { runId, isKnown };
  }

  async has(subject: string, principal: Principal): Promise<boolean> {
    requireScope(principal, 'admin');
    const prefix = listPrefix({ ...principal, subject });
    return (await this.#parts.storage.list({ prefix, limit: 1 })).length > 0;
  }

  async erase(subject: string, principal: Principal): Promise<number> {
    requireScope(principal, 'admin');
    let count = 0;
    const prefix = listPrefix({ ...principal, subject });
    for await (const page of readPages(this.#parts.storage, { prefix, limit: 100 })) {
      for (const { key } of page) {
        const found = await this.#store.read(String(key[3]));
        if (found) await this.#store.remove(found);
        else await this.#parts.storage.commit([{ key }]);
        count++;
      }
    }
    return count;
  }

  /** Starts what a due key names. Resolves to whether a run was started. */
  async wake(thing: string, dueAt: number): Promise<boolean> {
    return await this.#firing.wake(thing, dueAt);
  }

  /** The time names the chat and the record of a start, so two in one millisecond have two. */
  #startTime(): number {
    return this.#lastStart = Math.max(this.#parts.now(), this.#lastStart + 1);
  }

  /** Changes a record by what `next` makes of it. */
  async #change(
    action: 'update' | 'pause' | 'resume',
    { found, principal, call, revision }: {
      readonly found: Stored;
      readonly principal: Principal;
      readonly call: ScheduleCall;
      readonly revision?: number | undefined;
    },
    next: (found: Stored) => ScheduleRecord,
  ): Promise<Schedule> {
    return await this.#guarded(action, { ...found, principal, call }, async () => {
      const stored = await this.#store.retried(found.id, (one) => {
        const latestVersion = one.record.revision;
        if (revision !== undefined && revision !== latestVersion) throw changedMeanwhile(latestVersion);
        return { ...next(one), revision: latestVersion + 1, updatedAt: this.#parts.now() };
      });
      return this.#view(requireWritten(stored));
    });
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
    const found = /^sch_\w{1,64}$/.test(id) ? await this.#store.read(id) : undefined;
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
    const attempt = 'Cannot read the schedule';
    await guardRead(this.#access.guard, { ...facts, subject: owner.subject, principal, attempt });
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

  async #requireRoom(owner: Principal): Promise<void> {
    const { storage } = this.#parts;
    const [own, all] = await Promise.all([
      storage.list({ prefix: listPrefix(owner), limit: mostOfSubject }),
      storage.list({ prefix: listPrefix(owner).slice(0, 2), limit: mostOfTenant }),
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
    const effect = {
      action: `schedule.${how}`,
      target: { type: 'schedule', id },
      payload: { agentId },
      subject: owner.subject,
      principal,
      ...(call.trace && { trace: call.trace }),
      context: { agentId },
      attempt: `Cannot ${how} the schedule`,
    };
    return await guardEmitted(this.#access.guard, effect, work);
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

function changedMeanwhile(latestVersion: number): PinnaceError {
  return new PinnaceError('conflict', 'Cannot change the schedule: it was changed meanwhile; read it again', {
    details: { reason: 'version_mismatch', latestVersion },
  });
}
