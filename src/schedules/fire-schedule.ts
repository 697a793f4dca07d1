/** The start of what is due: claims an occurrence, starts its run, and records what has become of it. */

import { toPinnaceError } from '../base/errors.ts';
import { createPrincipal } from '../base/principal.ts';
import type { SummaryValue } from '../contracts/event-sink.ts';
import { dueChange, dueKey } from '../log/due.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import type { ScheduleCall, ScheduleFire } from '../runtime/schedule.ts';
import type { ScheduleAccess } from '../runtime/runtime.ts';
import { passedSince } from './when.ts';
import {
  fireChange,
  firesPrefix,
  pausedOr,
  placed,
  type ScheduleRecord,
  type ScheduleStore,
  type Stored,
} from './schedule-record.ts';

/** A run that was claimed and not started after this time is started by another process. */
const repairMs = 60_000;
/** How often it is looked whether an occurrence that waits can start. */
const waitMs = 10_000;
/** A failure that may pass is tried again so long at least. */
const retryMs = 900_000;

/** Fires schedules. */
export class ScheduleFiring {
  readonly #parts: RuntimeParts;
  readonly #access: ScheduleAccess;
  readonly #store: ScheduleStore;

  constructor(parts: RuntimeParts, access: ScheduleAccess, store: ScheduleStore) {
    this.#parts = parts;
    this.#access = access;
    this.#store = store;
  }

  /** Starts what a due key names. Resolves to whether a run was started. */
  async wake(thing: string, dueAt: number): Promise<boolean> {
    this.#parts.requireOpen();
    const [id = '', claimed] = thing.split('.');
    const found = await this.#store.read(id);
    if (!found) {
      await this.#parts.storage.commit([{ key: dueKey(dueAt, thing) }]);
      return false;
    }
    if (claimed !== undefined) return await this.#start(found, Number(claimed), dueAt);
    const { record } = found;
    if (record.dueAt === dueAt && record.nextAt !== undefined) return await this.#fire(found, record.nextAt);
    // With the version: the schedule may come to be due at this very time meanwhile.
    await this.#store.write(found, record, [{ key: dueKey(dueAt, thing) }]);
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
    const changes = [...claims, ...fires.map((fire) => fireChange(id, { ...fire, firedAt: now }))];
    const stored = await this.#store.write(found, pausedOr(moved, now), changes);
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
      const { runId, ended } = await this.begin(found, { at, key: `${id}:${at}` });
      await this.#settle(id, {
        at,
        fire: { ...fire, outcome: 'started', runId },
        last: { at, runId, state: 'running' },
      });
      this.#emitFire(found, { at, outcome: 'started', runId });
      const noted = ended?.then(() => this.#noteEnd(id, at)).catch((error: unknown) => {
        this.#parts.report(error, { kind: 'due', id, runId }); // the next occurrence reads how the run has ended
      }).finally(() => answers.delete(noted!));
      if (noted) answers.add(noted);
      return true;
    } catch (thrown) {
      const error = toPinnaceError(thrown);
      const mayPass = error.retryable || error.code === 'conflict';
      if (mayPass && now() - at < Math.max(retryMs, record.catchUpMs)) throw thrown; // the second due key starts it again
      await this.refuse(found, { at, firedAt: fire.firedAt, thrown });
      return false;
    }
  }

  /** Records why an occurrence was refused. */
  async refuse(
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
  async noteStart(found: Stored, { at, runId }: { readonly at: number; readonly runId: string }): Promise<void> {
    const fire: ScheduleFire = { at, firedAt: at, outcome: 'started', runId };
    const last = { at, runId, state: 'running' };
    await this.#store.retried(found.id, ({ record }) => ({ ...record, last }), [fireChange(found.id, fire)]);
    this.#emitFire(found, fire);
  }

  /** Starts a run with the rights of the owner, once for each key. */
  async begin(
    { id, record }: Stored,
    { at, key, trace, event }: {
      /** Names the chat: the one time of this start. */
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
    const changes = [fireChange(id, fire), { key: dueKey(fire.firedAt + repairMs, `${id}.${at}`) }];
    const stored = await this.#store.retried(id, ({ record }) => {
      const failures = hasFailed ? record.failures + 1 : record.failures;
      return { ...record, failures, ...(record.last?.at === at && { last }) };
    }, changes);
    if (!stored) await this.#parts.storage.commit(changes);
    else if (hasFailed && stored.record.paused?.by === 'system') await this.#emitPause(stored);
  }

  /** Notes how the run of an occurrence has ended. */
  async #noteEnd(id: string, at: number): Promise<void> {
    const found = await this.#store.read(id);
    if (!found || found.record.last?.at !== at || found.record.last.state !== 'running') return;
    const judged = await this.#judged(found);
    const stored = await this.#store.write(found, pausedOr(judged, this.#parts.now()));
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
    const isFailure = state === 'failed' || state === 'interrupted';
    return { ...record, last: { ...last, state }, failures: isFailure ? record.failures + 1 : 0 };
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
}
