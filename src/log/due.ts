/**
 * The index of due things: what starts by itself at a time, in any process that shares the storage.
 *
 * What must hold:
 *
 * 1. A key `['due', at, id]` is written and removed in the commit that changes the thing itself, so none is lost. The prefix of the id
 *    names the room that starts it (`plan_`, `sch_`, `run_`, `apr_`, `dlv_`). The value is the tenant.
 * 2. The index only wakes. The room reads its own record and decides with a version check whether the time has come: a key that is
 *    stale, or that two processes see, starts nothing twice.
 * 3. A room that starts a thing moves or removes its key. One that fails leaves it to the next sweep, and delays no other.
 * 4. Ids of rooms that this process does not have are left to processes that have them.
 * 5. At most {@link mostStarts} of a tenant start in one sweep. The others stay where they are and follow a second later.
 * 6. Timers are a matter of speed only: what an alarm misses, the next sweep finds.
 */

import type { Key } from '../base/key.ts';
import { longestTimeoutMs } from '../base/until-aborted.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { readPages } from './commits.ts';

/** Calls back once, at the last time set. */
export class Alarm {
  readonly #onDue: () => void;
  readonly #now: () => number;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at = Infinity;

  constructor(onDue: () => void, now: () => number) {
    this.#onDue = onDue;
    this.#now = now;
  }

  get at(): number {
    return this.#at;
  }

  /** Sets the time of the next call, which replaces the one before. A time beyond the longest timeout calls back earlier. */
  set(at: number): void {
    if (at === this.#at) return;
    this.clear();
    this.#at = at;
    this.#timer = setTimeout(() => {
      this.#at = Infinity;
      this.#onDue();
    }, Math.min(longestTimeoutMs, Math.max(0, at - this.#now())));
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.#at = Infinity;
  }
}

/** A thing that is due. */
export interface DueThing {
  /** Its prefix, up to the first `_`, names its room. */
  readonly id: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly tenant: string;
}

/** Where the index has a thing. */
export function dueKey(at: number, id: string): Key {
  return ['due', at, id];
}

/** The change that puts a thing into the index. */
export function dueChange({ at, id, tenant }: DueThing, ttlMs?: number): Change {
  return { key: dueKey(at, id), value: tenant, ...(ttlMs !== undefined && { ttlMs }) };
}

/** The key under which 0.2 has indexed a plan. */
export function earlierDueKey(at: number, planId: string): Key {
  return ['plan-due', at, planId];
}

/** Starts a thing of its room if its time has come. Resolves to whether it was started here. */
export type Wake = (id: string, at: number) => Promise<boolean>;

/** What the index needs of its process. */
export interface DueOptions {
  readonly storage: Pick<Storage, 'list'>;
  readonly now: () => number;
  /** The rooms of this process, by the prefix of their ids. */
  readonly rooms: Readonly<Record<string, Wake>>;
  /** Receives what starting a thing, or a sweep of an alarm, throws. */
  readonly onError: (error: unknown, id: string) => void;
}

/** How many things of one tenant start in one sweep, and how many start at the same time. */
const mostStarts = 16;
/** Alarms are set for things that are due within this time. */
const horizonMs = 60_000;
const againMs = 1_000;
const perPage = 100;

/** The index, for one process. */
export class DueIndex {
  readonly #options: DueOptions;
  readonly #alarm: Alarm;
  #running: Promise<number> | undefined;
  #next: Promise<number> | undefined;
  #isClosed = false;

  constructor(options: DueOptions) {
    this.#options = options;
    this.#alarm = new Alarm(() => void this.sweep().catch((error: unknown) => options.onError(error, '')), options.now);
  }

  /** Something is due at this time: it is started within a second of it, if it is within a minute. */
  arm(at: number): void {
    if (!this.#isClosed && at < this.#alarm.at && at - this.#options.now() <= horizonMs) this.#alarm.set(at);
  }

  /** Starts what is due, after the sweep that is under way. Resolves to how much was started here. */
  sweep(): Promise<number> {
    if (this.#isClosed) return Promise.resolve(0);
    return this.#next ??= (this.#running ?? Promise.resolve(0)).catch(() => 0).then(() => {
      this.#next = undefined;
      return this.#running = this.#sweep().finally(() => this.#running = undefined);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#alarm.clear();
  }

  async #sweep(): Promise<number> {
    const { storage, now, rooms } = this.#options;
    const starts = new Map<string, number>();
    for (const prefix of Object.hasOwn(rooms, 'plan') ? ['due', 'plan-due'] : ['due']) {
      for await (const page of readPages(storage, { prefix: [prefix], limit: perPage })) {
        const time = now();
        const things = page.map(({ key, value }) => ({
          at: Number(key[1]),
          id: String(key[2]),
          tenant: String(value),
        }));
        await this.#start(things.filter(({ at, id }) => at <= time && Object.hasOwn(rooms, roomOf(id))), starts);
        const next = things.find(({ at }) => at > time);
        if (next) this.arm(next.at);
        if (next || this.#isClosed) break;
      }
    }
    return [...starts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Starts these, some at a time. Only what was started counts, so things that cannot be started keep no place. */
  async #start(due: readonly DueThing[], starts: Map<string, number>): Promise<void> {
    for (let left = due; left.length > 0 && !this.#isClosed;) {
      const [batch, later]: [DueThing[], DueThing[]] = [[], []];
      for (const thing of left) {
        const count = (starts.get(thing.tenant) ?? 0) + batch.filter(({ tenant }) => tenant === thing.tenant).length;
        (batch.length < mostStarts && count < mostStarts ? batch : later).push(thing);
      }
      if (batch.length === 0) return this.arm(this.#options.now() + againMs);
      const woken = await Promise.all(batch.map((thing) => this.#wake(thing)));
      batch.forEach(({ tenant }, at) => woken[at] && starts.set(tenant, (starts.get(tenant) ?? 0) + 1));
      left = later;
    }
  }

  async #wake({ id, at }: DueThing): Promise<boolean> {
    const { rooms, onError } = this.#options;
    try {
      return await rooms[roomOf(id)]?.(id, at) ?? false;
    } catch (error) {
      onError(error, id);
      return false;
    }
  }
}

/** The room of a thing, by the prefix of its id. */
export function roomOf(id: string): string {
  return id.slice(0, id.indexOf('_'));
}
