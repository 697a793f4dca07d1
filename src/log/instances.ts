/**
 * The instances that share a storage: each says that it lives, and finds out which of the others do not. What they own are runs and
 * plans, which have no heartbeat of their own.
 *
 * What must hold:
 *
 * 1. One record per instance, written every {@link beatMs} while the instance owns anything.
 *    An instance that comes to own something writes the record with the claim, so nothing is owned by an unknown instance.
 * 2. The clocks of two machines are never compared. An observer adds up, by its own monotonic clock, how long it has read a record
 *    unchanged. Only reads that succeed count, and little of the time between two: an observer that was stopped, and a storage that was
 *    away, declare no instance dead.
 * 3. A death only makes things fast. What takes something over raises its fence in a commit that also needs the record of the death
 *    unchanged. An instance that was declared dead and lives finds a conflict at its next commit there, and writes itself alive again.
 * 4. The record of a death stays until nothing is owned by the dead: an observer that dies meanwhile loses nothing.
 * 5. Where the storage knows which processes have ended (`Presence`), as in a page, it decides: a process that is frozen is not dead
 *    there, and one that has ended is found at once. A record says whether its instance has shown itself; others are judged as above.
 * 6. The record names the run that is to blame if the instance dies: the only one that it executes, or the one suspect among many. What
 *    may have killed an instance before is executed as that suspect, one at a time, so what shares its process is not blamed.
 */

import type { Key } from '../base/key.ts';
import type { Change, Entry, Storage } from '../contracts/storage.ts';
import { roomOf } from './due.ts';

/** The time between two signs of life, and between two looks at those of others. */
export const beatMs = 750;
/** A record that was read unchanged for so long, and so often, is that of a dead instance. */
const deadAfterMs = 2_500;
const leastReads = 3;
/** So much of the time between two reads counts at most. */
const mostBetweenMs = 1_500;
/** How long an instance that owns nothing looks at the others after somebody has asked about one. */
const askedMs = 5_000;
/** So long a claim may be under way. */
const orphanMs = 15_000;
/** So long an instance that owns nothing tries by itself to take what is left; later, when somebody asks. */
const takenWithinMs = 60_000;
/** Far longer than an instance that owns something is silent: also all of them together, since plans wait for that long. */
const recordTtlMs = 60 * 86_400_000;
/** So much of a dead instance is taken at once: new requests start as well. */
const takenAtOnce = 8;

/** Why an instance owns nothing any more: it was silent, or has given up what it had. */
export type LeftCause = 'dead' | 'released';

/** An instance that is gone. */
export interface LeftInstance {
  readonly id: string;
  readonly cause: LeftCause;
  /** The run that has caused the death, where that is known. */
  readonly culprit?: string | undefined;
  /** How long this instance has known. */
  readonly sinceMs: number;
  /** What somebody waits for of it: is taken also where the record that it is owned is missing. */
  readonly asked: ReadonlySet<string>;
  /** Hold as long as the instance has not come back: belong into each commit that takes something of it. */
  readonly checks: readonly Change[];
}

interface InstanceRecord {
  readonly beat: number;
  readonly left?: LeftCause;
  readonly culprit?: string;
  readonly shown?: true;
}

/** How long a record was read unchanged. */
interface Sighting {
  readonly version: string | null;
  readonly unchangedMs: number;
  readonly reads: number;
}

/** Takes over a thing that the instance has owned, or removes the record that it owns it where it does no more. */
export type Take = (id: string, left: LeftInstance) => Promise<void>;

interface InstancesOptions {
  readonly storage: Storage;
  /** Of each kind of thing that this process can take, by the prefix of its ids. */
  readonly rooms: Readonly<Record<string, Take>>;
}

/** The instances as one of them sees them. */
export class Instances {
  /** New with each start of the process. */
  readonly id: string = crypto.randomUUID();
  readonly #options: InstancesOptions;
  readonly #seen = new Map<string, Sighting>();
  /** The owners that somebody waits for, until when, and for what. */
  readonly #asked = new Map<string, { until: number; readonly runIds: Set<string> }>();
  readonly #orphans = new Map<string, number>();
  readonly #taking = new Set<string>();
  readonly #leftAt = new Map<string, number>();
  /** What this instance executes, by its ids. */
  readonly #owned = new Set<string>();
  /** Those whose claims are under way. */
  readonly #joined = new Set<string>();
  /** Those whose end the storage reports. */
  readonly #awaited = new Set<string>();
  #isShown = false;
  #suspect: string | undefined;
  #signed: string | undefined;
  #beat = 0;
  #isKnown = false;
  #isWriting = false;
  #isLooking = false;
  #lookedAt: number | undefined;
  #lookUntil = -Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #showing = new AbortController();
  #isClosed = false;

  constructor(options: InstancesOptions) {
    this.#options = options;
    const { signal } = this.#showing;
    void options.storage.presence?.show(this.id, signal).then(() => void (this.#isShown = true), () => undefined);
  }

  /** The changes that make this instance known, for the commit by which it comes to own a thing. Mostly there are none. */
  join(id: string): readonly Change[] {
    if (this.#isClosed) return [];
    this.#joined.add(id);
    const culprit = this.#culprit();
    const isSame = culprit === this.#signed || (culprit !== undefined && culprit !== this.#suspect); // soon enough
    if (this.#isKnown && isSame) return [];
    this.#isKnown = true;
    this.#wake();
    return [this.#sign()];
  }

  /** It executes the thing from now on: the claim is over, and may have taken longer than to the next beat. */
  claimed(id: string): void {
    this.#joined.delete(id);
    this.#owned.add(id);
    this.#wake();
  }

  /** It does not execute the thing any more. */
  released(id: string): void {
    this.#owned.delete(id);
  }

  /** Executes a run as the one suspect. Returns what ends that; `undefined` while there is another one. */
  suspect(runId: string): (() => void) | undefined {
    if (this.#suspect !== undefined) return undefined;
    this.#suspect = runId;
    return () => void (this.#suspect = undefined);
  }

  #culprit(): string | undefined {
    const owned = this.#owned;
    if (this.#suspect !== undefined || owned.size > 1 || this.#joined.size > 1) return this.#suspect;
    const [one, other] = [...owned, ...this.#joined]; // two at most
    return other === undefined || other === one ? one : undefined;
  }

  /** Somebody waits for what this instance owns: if it is dead, that is found out soon. */
  ask(id: string, runId: string): void {
    if (this.#isClosed) return;
    if (id === this.id) return this.#askOwn(runId);
    const asked = this.#asked.get(id) ?? { until: 0, runIds: new Set() };
    asked.until = performance.now() + askedMs;
    asked.runIds.add(runId);
    this.#asked.set(id, asked);
    if (this.#timer === undefined && !this.#isLooking) void this.#look(); // the first look starts the count
    this.look();
  }

  /** A run that this instance owns and does not execute: the answer of its claim was lost. */
  #askOwn(runId: string): void {
    const since = this.#orphans.get(runId) ?? performance.now();
    this.#orphans.set(runId, since);
    if (performance.now() - since < orphanMs) return;
    this.#orphans.delete(runId);
    const left: LeftInstance = { id: this.id, cause: 'dead', sinceMs: 0, asked: new Set([runId]), checks: [] };
    void this.#takeAll(left).catch(() => this.#orphans.set(runId, since));
  }

  /** What this instance has stopped to execute because its storage was away goes on when that is back. */
  abandon(id: string): void {
    this.#orphans.set(id, -Infinity);
    this.look();
  }

  /** Looks at the others once, where a sweep comes by, and for a while where one has not shown since the last time that it lives. */
  glance(): void {
    if (!this.#isClosed && !this.#isLooking) void this.#glance();
  }

  async #glance(): Promise<void> {
    const known = new Set(this.#seen.keys());
    await this.#look();
    if ([...this.#seen].some(([id, { reads }]) => reads > 1 || !known.has(id))) this.look();
  }

  /** Looks at the others for a while. */
  look(): void {
    this.#lookUntil = performance.now() + askedMs;
    this.#wake();
  }

  /** Says that this instance executes nothing any more: others take what is left. Rejects where the storage is away. */
  async leave(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const { storage } = this.#options;
    const key = instanceKey(this.id);
    const value: InstanceRecord = { beat: ++this.#beat, left: 'released' };
    try {
      const isLeft = (await ownedBy(this.id, storage)).length > 0;
      if (isLeft || this.#isKnown) await storage.commit([isLeft ? { key, value, ttlMs: recordTtlMs } : { key }]);
    } finally {
      this.close(); // its end is seen only after the reason
    }
  }

  /** Looks and writes no more. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#showing.abort();
  }

  #sign(): Change {
    const culprit = this.#signed = this.#culprit();
    const value: InstanceRecord = {
      beat: ++this.#beat,
      ...(culprit !== undefined && { culprit }),
      ...(this.#isShown && { shown: true }),
    };
    return { key: instanceKey(this.id), value, ttlMs: recordTtlMs };
  }

  #wake(): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#tick();
    }, beatMs);
  }

  /** Never waits: a storage that does not answer must not delay the next sign of life. */
  #tick(): void {
    this.#isKnown = this.#owned.size > 0;
    this.#joined.clear();
    if (this.#isKnown && !this.#isWriting) void this.#write();
    if (!this.#isLooking) void this.#look();
    const isWaiting = performance.now() < this.#lookUntil || [...this.#orphans.values()].includes(-Infinity);
    if (this.#isKnown || isWaiting) this.#wake();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    await this.#options.storage.commit([this.#sign()]).catch(() => undefined); // the next one tries again
    this.#isWriting = false;
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      this.#compare(await this.#options.storage.list({ prefix: ['instance'], limit: 1000 }));
    } catch {
      // What was not read says nothing about anyone.
    }
    this.#isLooking = false;
  }

  #compare(entries: readonly Entry[]): void {
    const time = performance.now();
    const sinceMs = Math.min(time - (this.#lookedAt ?? time), mostBetweenMs);
    this.#lookedAt = time;
    for (const [runId, since] of this.#orphans) if (since === -Infinity) this.#askOwn(runId);
    const found = new Map(entries.map((entry) => [String(entry.key[1]), entry]));
    for (const [id, { until }] of this.#asked) {
      if (until < time) this.#asked.delete(id);
    }
    for (const id of this.#seen.keys()) {
      if (!found.has(id) && !this.#asked.has(id)) this.#seen.delete(id);
    }
    for (const id of new Set([...found.keys(), ...this.#asked.keys()])) {
      if (id !== this.id) this.#judge(id, { entry: found.get(id), sinceMs });
    }
  }

  #judge(id: string, { entry, sinceMs }: { readonly entry: Entry | undefined; readonly sinceMs: number }): void {
    const record = entry?.value as InstanceRecord | undefined; // only this class writes it
    if (entry && record?.left) return void this.#take(id, record, entry.version);
    if (record?.shown && this.#options.storage.presence) return void this.#await(id);
    const version = entry?.version ?? null;
    const before = this.#seen.get(id);
    const isSame = before?.version === version;
    const now: Sighting = {
      version,
      unchangedMs: isSame ? before.unchangedMs + sinceMs : 0,
      reads: isSame ? before.reads + 1 : 1,
    };
    this.#seen.set(id, now);
    if (now.unchangedMs >= deadAfterMs && now.reads >= leastReads) void this.#declare(id, { version, record });
  }

  /** Waits for the end of an instance that the storage will report. */
  async #await(id: string): Promise<void> {
    if (this.#awaited.has(id)) return;
    this.#awaited.add(id);
    const { storage } = this.#options;
    try {
      await storage.presence?.ended(id, this.#showing.signal);
      const entry = await storage.get(instanceKey(id));
      const record = entry?.value as InstanceRecord | undefined; // only this class writes it
      if (entry && !record?.left) await this.#declare(id, { version: entry.version, record });
    } catch {
      // It is closed, or the next look tries again.
    }
    this.#awaited.delete(id);
  }

  /** Of all who find an instance dead, one writes so. */
  async #declare(
    id: string,
    { version, record }: { readonly version: string | null; readonly record: InstanceRecord | undefined },
  ): Promise<void> {
    this.#seen.delete(id);
    const value: InstanceRecord = { beat: 0, ...record, left: 'dead' };
    const change: Change = { key: instanceKey(id), value, ifVersion: version, ttlMs: recordTtlMs };
    const result = await this.#options.storage.commit([change]).catch(() => undefined); // the next look tries again
    if (result?.ok) await this.#take(id, value, result.version);
  }

  async #take(id: string, { left: cause = 'dead', culprit }: InstanceRecord, version: string): Promise<void> {
    if (this.#taking.has(id) || this.#isClosed) return;
    this.#taking.add(id);
    const leftAt = this.#leftAt.get(id) ?? performance.now();
    this.#leftAt.set(id, leftAt);
    const { storage } = this.#options;
    const key = instanceKey(id);
    const checks: readonly Change[] = storage.checks ? [{ key, ifVersion: version, keep: true }] : [];
    try {
      const sinceMs = performance.now() - leftAt;
      const asked = this.#asked.get(id)?.runIds ?? new Set();
      if (await this.#takeAll({ id, cause, culprit, sinceMs, asked, checks })) {
        await storage.commit([{ key, ifVersion: version }]);
        this.#asked.delete(id);
        this.#leftAt.delete(id);
      } else if (sinceMs < takenWithinMs) this.look();
    } catch {
      // The next look tries again.
    } finally {
      this.#taking.delete(id);
    }
  }

  /** Takes what an instance has left, in a random order: other instances take as well. Resolves to whether none is left. */
  async #takeAll(left: LeftInstance): Promise<boolean> {
    const { storage, rooms } = this.#options;
    // Of its own, an instance takes only what it does not execute.
    const owned = left.id === this.id ? [] : await ownedBy(left.id, storage);
    const ids = [...new Set([...owned, ...left.asked])].map((id) => ({ id, at: Math.random() }))
      .toSorted((a, b) => a.at - b.at);
    const take = async (): Promise<void> => {
      for (let next = ids.pop(); next; next = ids.pop()) await rooms[roomOf(next.id)]?.(next.id, left);
    };
    await Promise.all(Array.from({ length: takenAtOnce }, take));
    return (await ownedBy(left.id, storage)).length === 0;
  }
}

function instanceKey(id: string): Key {
  return ['instance', id];
}

const ownedPrefix = (instance: string): Key => ['owned', instance];

/** Where it is found that an instance owns a thing. */
export function ownedKey(instance: string, id: string): Key {
  return [...ownedPrefix(instance), id];
}

/** What an instance owns, as far as one page has it. */
async function ownedBy(instance: string, storage: Pick<Storage, 'list'>): Promise<readonly string[]> {
  const entries = await storage.list({ prefix: ownedPrefix(instance), limit: 1000 });
  return entries.map(({ key }) => String(key[2]));
}
