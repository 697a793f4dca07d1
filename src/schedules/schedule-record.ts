/** The records of schedules: what is stored, and how it changes. */

import * as v from 'valibot';
import { PinnaceError } from '../base/errors.ts';
import type { Owner } from '../base/principal.ts';
import type { Key } from '../base/key.ts';
import { limitOf, type Page, type PageOptions, readPagePlace, writePageToken } from '../base/page.ts';
import type { Change, Entry } from '../contracts/storage.ts';
import { commitOwn, readPages, removeKeys } from '../log/commits.ts';
import { dueChange, dueKey } from '../log/due.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { RunRequest } from '../runtime/run-request.ts';
import type { Schedule, ScheduleFire, ScheduleInput } from '../runtime/schedule.ts';
import { nextAfter, Time, When } from './when.ts';

export const dayMs = 86_400_000;
const mostFailures = 5;
const fireTtlMs = 30 * dayMs;

/** Lists show names: no control characters, and none that reorders the text around it. */
const plain = /^[^\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]*$/u;

const { id: ChatId } = RunRequest.entries.chat.entries;
export const Input = v.strictObject({
  agentId: v.pipe(v.string(), v.minLength(1), v.maxLength(256)),
  name: v.pipe(
    v.string(),
    v.trim(),
    v.minLength(1),
    v.maxLength(200),
    v.regex(plain, 'must be one line of plain text'),
  ),
  message: v.pipe(v.string(), v.minLength(1), v.maxLength(32_768)),
  chat: v.optional(v.union([v.literal('new'), v.strictObject({ id: ChatId })], 'must be "new" or { id }'), 'new'),
  budget: RunRequest.entries.budget,
  when: When,
  overlap: v.optional(v.picklist(['skip', 'queue', 'allow']), 'skip'),
  catchUpMs: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(7 * dayMs)), 3_600_000),
  expiresAt: v.optional(Time),
});
export type Terms = v.InferOutput<typeof Input>;

/** A schedule as it is stored, under its id: what is due is found without knowing whose it is. */
export interface ScheduleRecord extends Omit<Terms, 'expiresAt'> {
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
  readonly mark?: string;
}

export interface Stored {
  readonly id: string;
  readonly record: ScheduleRecord;
  readonly version: string;
}

const recordKey = (id: string): Key => ['schedule', id];
export const listPrefix = (
  { tenant, subject }: Pick<Owner, 'tenant' | 'subject'>,
): Key => ['schedules', tenant, subject];
export const firesPrefix = (id: string): Key => ['schedule-fire', id];

/** The stored schedules, each with its places in the index of due things and in the list of its owner. */
export class ScheduleStore {
  readonly #parts: RuntimeParts;

  constructor(parts: RuntimeParts) {
    this.#parts = parts;
  }

  async read(id: string): Promise<Stored | undefined> {
    const entry = await this.#parts.storage.get(recordKey(id));
    return entry && { id, record: entry.value as ScheduleRecord, version: entry.version }; // only this class writes it
  }

  /** Reads a page of what is stored under a prefix. */
  async page(prefix: Key, page: PageOptions): Promise<Page<Entry>> {
    const limit = limitOf(page);
    const place = page.pageToken === undefined ? undefined : await readPagePlace(prefix, page.pageToken, placeOf);
    const after = place !== undefined && { after: [...prefix, place] };
    const entries = await this.#parts.storage.list({ prefix, limit: limit + 1, ...after });
    const items = entries.slice(0, limit);
    const last = JSON.stringify(items.at(-1)?.key.at(-1));
    return { items, ...(entries.length > limit && { nextPageToken: await writePageToken(prefix, last) }) };
  }

  /** Changes a record by what `next` makes of it, until no other change comes between. */
  async retried(
    id: string,
    next: (found: Stored) => ScheduleRecord,
    changes: readonly Change[] = [],
  ): Promise<Stored | undefined> {
    for (let tries = 0; tries < 20; tries++) {
      const found = await this.read(id);
      if (!found) return undefined;
      const stored = await this.write(found, pausedOr(next(found), this.#parts.now()), changes);
      if (stored) return stored;
    }
    throw new PinnaceError('unavailable', 'Cannot change the schedule: others change it at the same time', {
      details: { reason: 'storage_contended' },
    });
  }

  /** Writes a record and its places in the index and in the list. Resolves to `undefined` where another was faster. */
  async write(
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
      { key: [...listPrefix(owner), id], value: true, ttlMs },
      ...(isMoved ? [{ key: dueKey(before.dueAt, id) }] : []),
      ...(dueAt === undefined ? [] : [dueChange({ at: dueAt, id, tenant: owner.tenant }, ttlMs)]),
      ...changes,
      ...this.#announced(before, value, id),
    ], {
      written: async () => {
        const stored = await this.read(id);
        return stored && stored.record.mark === value.mark ? stored.version : undefined;
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

  async remove({ id, record }: Stored): Promise<void> {
    const { storage } = this.#parts;
    const { owner, dueAt } = record;
    const keys = [recordKey(id), [...listPrefix(owner), id], ...(dueAt === undefined ? [] : [dueKey(dueAt, id)])];
    await storage.commit(keys.map((key) => ({ key })));
    for await (const page of readPages(storage, { prefix: firesPrefix(id), limit: 100 })) {
      await removeKeys(
        storage,
        page.map(({ key }) => key),
      );
    }
  }
}

/** Reads the last part of a key: a time or an id. */
function placeOf(after: string): string | number | undefined {
  return /^(-?\d{1,16}|"\w{1,64}")$/.test(after) ? JSON.parse(after) as string | number : undefined; // as just checked
}

/** The change that records what has become of an occurrence. */
export function fireChange(id: string, fire: ScheduleFire): Change {
  return { key: [...firesPrefix(id), -fire.at], value: fire, ttlMs: fireTtlMs };
}

export function ownedOf({ record: { owner: { tenant, subject }, agentId } }: Stored) {
  return { tenant, subject, agentId };
}

export function termsOf({ expiresAt: _, ...parsed }: Terms, at: number): Omit<Terms, 'expiresAt'> {
  const { when } = parsed;
  return 'everyMs' in when && when.from === undefined ? { ...parsed, when: { ...when, from: at } } : parsed;
}

export function inputOf(
  { agentId, name, message, chat, budget, when, overlap, catchUpMs, expiresAt }: ScheduleRecord,
): ScheduleInput {
  return { agentId, name, message, chat, when, overlap, catchUpMs, expiresAt, ...(budget && { budget }) };
}

/** The record with its next time after `at`, unless it is paused. */
export function scheduled(record: ScheduleRecord, at: number): ScheduleRecord {
  if (record.paused) return record;
  return { ...record, ...placed(nextAfter(record.when, at), record), waits: undefined };
}

/** Returns the record. @throws PinnaceError `invalid_argument` (`never_due`) for one that can start no run. */
export function requireDue(record: ScheduleRecord): ScheduleRecord {
  if (record.nextAt !== undefined || record.paused || 'hook' in record.when) return record;
  throw new PinnaceError('invalid_argument', 'Cannot use the schedule: none of its times comes before it expires', {
    details: { reason: 'never_due' },
  });
}

export function placed(
  next: number | undefined,
  { expiresAt }: Pick<ScheduleRecord, 'expiresAt'>,
): Pick<ScheduleRecord, 'nextAt' | 'dueAt'> {
  const at = next !== undefined && next <= expiresAt ? next : undefined;
  return { nextAt: at, dueAt: at };
}

/** The record, paused where it has failed too often, or is over. */
export function pausedOr(record: ScheduleRecord, at: number): ScheduleRecord {
  if (record.paused) return record;
  if (record.failures >= mostFailures) return pausedBySystem(record, 'failures', at);
  const isOver = record.nextAt === undefined && !('hook' in record.when) && !('at' in record.when);
  return isOver ? pausedBySystem(record, 'expired', at) : record;
}

function pausedBySystem(record: ScheduleRecord, reason: string, at: number): ScheduleRecord {
  return { ...idle(record), paused: { by: 'system', at, reason } };
}

export function idle(record: ScheduleRecord): ScheduleRecord {
  return { ...record, nextAt: undefined, dueAt: undefined, waits: undefined };
}

export function requireWritten(stored: Stored | undefined): Stored {
  if (stored) return stored;
  throw new PinnaceError('not_found', 'No schedule has this id', { details: { reason: 'schedule_not_found' } });
}
