/** Observed events, kept in a `Storage`: append-only, hash-chained, and found by trace, actor, action, target and time. */

import { PinnaceError } from './errors.ts';
import type { ObservedEvent } from './events.ts';
import { canonicalJson } from './json.ts';
import type { Key } from './key.ts';
import { limitOf, type Page, type PageOptions, readPageToken, writePageToken } from './page.ts';
import type { Change, Entry, Storage } from './ports.ts';

/** An event in its place. */
export interface LoggedEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: ObservedEvent;
  /** The hash of the one before; for the first, 64 zeros. */
  readonly prevHash: string;
  /** SHA-256 over `prevHash` and the event as canonical JSON (RFC 8785), as hexadecimal digits. */
  readonly hash: string;
}

/** Which events are wanted: those that have all of this. */
export interface EventFilter {
  readonly traceId?: string | undefined;
  /** The id of who did it. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The id of what it was done to. */
  readonly target?: string | undefined;
}

/** Which events of a log are wanted, page by page. */
export interface EventQuery extends EventFilter, PageOptions {
  /** From this time on, in milliseconds since 1970. */
  readonly from?: number | undefined;
  /** Before this time. */
  readonly until?: number | undefined;
}

/** What checking the chain found. */
export interface Verification {
  readonly ok: boolean;
  /** How many events were checked. */
  readonly checked: number;
  /** The first that is missing, was changed or stands in the wrong place. */
  readonly brokenAt?: number;
}

/** The log. */
export interface EventLog {
  /**
   * Adds events, in this order, and resolves when they are kept. What several callers add at once goes in one commit. Rejects as
   * the storage does, and with `unavailable` when too many instances write at once; then none of these events is kept.
   */
  append(events: readonly ObservedEvent[]): Promise<void>;
  /** Gives a page, the oldest first. @throws PinnaceError `invalid_argument` for a limit or a page token that is none. */
  list(query?: EventQuery): Promise<Page<LoggedEvent>>;
  /**
   * Reads the whole chain, from the oldest event that is kept, and computes it again. Stops with the signal. Who can write the
   * storage can also write another chain: keep the last hash of an earlier page elsewhere to tell.
   */
  verify(options?: { readonly signal?: AbortSignal | undefined }): Promise<Verification>;
}

/** What a log works with. */
export interface EventLogOptions {
  readonly storage: Storage;
  /** Two names in one storage never see each other. */
  readonly name?: string;
  /** How long events are kept; for ever when absent. */
  readonly retentionMs?: number | undefined;
}

interface Head {
  readonly seq: number;
  readonly hash: string;
}

interface Waiting {
  readonly events: readonly ObservedEvent[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const origin: Head = { seq: 0, hash: '0'.repeat(64) };
const maxTries = 50;
/** A commit takes 100 changes: the head, and for each event itself and its places in four indexes. */
const eventsPerCommit = 19;
const fields = ['traceId', 'target', 'actor', 'action'] as const; // the most telling first

/** Gives the log. All instances that name the same storage write one chain. */
export function createEventLog({ storage, name = 'events', retentionMs }: EventLogOptions): EventLog {
  const parts: Parts = {
    storage,
    prefix: ['event-log', name],
    ttl: retentionMs === undefined ? {} : { ttlMs: retentionMs },
  };
  const queue: Waiting[] = [];
  let busy = false;
  const work = async (): Promise<void> => {
    if (busy) return;
    busy = true;
    await Promise.resolve(); // what is added in this turn goes together
    while (queue.length > 0) await appendGroup(parts, takeGroup(queue));
    busy = false;
  };
  return {
    async append(events) {
      if (events.length === 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      queue.push({ events, resolve, reject });
      void work();
      await promise;
    },
    list: (query = {}) => listEvents(parts, query),
    verify: ({ signal } = {}) => verifyChain(parts, signal),
  };
}

interface Parts {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly ttl: { readonly ttlMs?: number };
}

function takeGroup(queue: Waiting[]): readonly Waiting[] {
  let count = 0;
  const end = queue.findIndex(({ events }, at) => (count += events.length) > eventsPerCommit && at > 0);
  return queue.splice(0, end < 0 ? queue.length : end);
}

async function appendGroup(parts: Parts, group: readonly Waiting[]): Promise<void> {
  try {
    const events = group.flatMap((waiting) => waiting.events);
    for (let at = 0; at < events.length; at += eventsPerCommit) {
      await appendSome(parts, events.slice(at, at + eventsPerCommit));
    }
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

async function appendSome(parts: Parts, events: readonly ObservedEvent[]): Promise<void> {
  const { storage, prefix } = parts;
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get([...prefix, 'head']);
    const linked = await link(headOf(entry), events);
    const last = linked.at(-1);
    const head: Head = last ? { seq: last.seq, hash: last.hash } : origin;
    const result = await storage.commit([
      { key: [...prefix, 'head'], value: head, ifVersion: entry?.version ?? null },
      ...linked.flatMap((logged) => changesOf(logged, parts)),
    ]);
    if (result.ok) return;
  }
  throw new PinnaceError('unavailable', 'Cannot add to the event log: too many write it at once');
}

function headOf(entry: Entry | undefined): Head {
  return entry ? entry.value as Head : origin; // written by this module alone
}

async function link({ seq, hash }: Head, events: readonly ObservedEvent[]): Promise<LoggedEvent[]> {
  const linked: LoggedEvent[] = [];
  for (const event of events) {
    const prevHash = linked.at(-1)?.hash ?? hash;
    linked.push({ seq: seq + linked.length + 1, event, prevHash, hash: await hashOf(prevHash, event) });
  }
  return linked;
}

async function hashOf(prevHash: string, event: ObservedEvent): Promise<string> {
  const bytes = new TextEncoder().encode(`${prevHash}\n${canonicalJson(event)}`);
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex();
}

function changesOf(logged: LoggedEvent, { prefix, ttl }: Parts): Change[] {
  const places = fields.map((field): Change => {
    return { key: [...prefix, field, indexed(valueOf(logged.event, field)), logged.seq], value: true, ...ttl };
  });
  return [{ key: [...prefix, 'event', logged.seq], value: logged, ...ttl }, ...places];
}

function valueOf({ traceId, actor, action, target }: ObservedEvent, field: (typeof fields)[number]): string {
  return { traceId, actor: actor.id, action, target: target.id }[field];
}

/** Ids come from outside: a key holds 1,536 bytes and no half of a surrogate pair. */
function indexed(value: string): string {
  return value.toWellFormed().slice(0, 256);
}

async function listEvents(parts: Parts, query: EventQuery): Promise<Page<LoggedEvent>> {
  const { pageToken, limit: _, ...wanted } = query;
  const limit = limitOf(query);
  const asked = Object.fromEntries(Object.entries(wanted).filter(([, value]) => value !== undefined));
  let after = pageToken === undefined
    ? await lastBefore(parts, query.from)
    : Number(await readPageToken(asked, pageToken));
  const items: LoggedEvent[] = [];
  for (;;) {
    const { events, last } = await readSome(parts, query, after);
    for (const logged of events) {
      if (matches(logged.event, query)) items.push(logged);
      if (items.length === limit) return { items, nextPageToken: await writePageToken(asked, String(logged.seq)) };
    }
    if (last === undefined) return { items };
    after = last;
  }
}

interface Some {
  readonly events: readonly LoggedEvent[];
  /** Where to go on; absent at the end. */
  readonly last: number | undefined;
}

const readAtOnce = 200;

/** Reads events behind `after`, those of the most telling field that is asked for. */
async function readSome({ storage, prefix }: Parts, query: EventQuery, after: number): Promise<Some> {
  const field = fields.find((candidate) => query[candidate] !== undefined);
  const places = field ? [...prefix, field, indexed(query[field] ?? '')] : [...prefix, 'event'];
  const page = await storage.list({ prefix: places, after: [...places, after], limit: readAtOnce });
  const last = page.length < readAtOnce ? undefined : Number(page.at(-1)?.key.at(-1));
  const entries = field
    ? await Promise.all(page.map(({ key }) => storage.get([...prefix, 'event', Number(key.at(-1))])))
    : page;
  return { events: entries.flatMap((entry) => entry ? [entry.value as LoggedEvent] : []), last }; // written here alone
}

function matches(event: ObservedEvent, query: EventQuery): boolean {
  const at = Date.parse(event.timestamp);
  if (query.from !== undefined && at < query.from) return false;
  if (query.until !== undefined && at >= query.until) return false;
  return matchesFilter(event, query);
}

/** Whether the event has all that is wanted. */
export function matchesFilter(event: ObservedEvent, filter: EventFilter): boolean {
  return fields.every((field) => filter[field] === undefined || valueOf(event, field) === filter[field]);
}

/** Clocks of instances differ: an event may stand so much before older ones. */
const skewMs = 60_000;

/** The number before the first event that may be as new as this: times go up with numbers, but for the skew. */
async function lastBefore({ storage, prefix }: Parts, time: number | undefined): Promise<number> {
  if (time === undefined) return 0;
  let high = headOf(await storage.get([...prefix, 'head'])).seq;
  let low = 0;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    const entry = await storage.get([...prefix, 'event', middle]);
    const isOlder = !entry || Date.parse((entry.value as LoggedEvent).event.timestamp) < time - skewMs; // as above
    if (isOlder) low = middle;
    else high = middle - 1;
  }
  return low;
}

async function verifyChain({ storage, prefix, ttl }: Parts, signal: AbortSignal | undefined): Promise<Verification> {
  const events = [...prefix, 'event'];
  const head = headOf(await storage.get([...prefix, 'head']));
  let checked = 0;
  let before: Head | undefined;
  for (;;) {
    signal?.throwIfAborted();
    const page = await storage.list({ prefix: events, after: [...events, before?.seq ?? 0], limit: readAtOnce });
    for (const { key, value } of page) {
      const logged = value as LoggedEvent; // whatever stands there now: that is the question
      if (logged.seq > head.seq) return { ok: true, checked }; // added since
      const seq = before ? before.seq + 1 : ttl.ttlMs === undefined ? 1 : Number(key.at(-1)); // what is older has expired
      const prevHash = before?.hash ?? (seq === 1 ? origin.hash : logged.prevHash);
      const isIntact = logged.seq === seq && logged.prevHash === prevHash &&
        logged.hash === await hashOf(prevHash, logged.event);
      if (!isIntact) return { ok: false, checked, brokenAt: seq };
      before = { seq, hash: logged.hash };
      checked += 1;
    }
    if (page.length < readAtOnce) break;
  }
  const end = before ?? { ...origin, seq: head.seq, hash: head.hash }; // all that there was has expired
  return end.seq === head.seq && end.hash === head.hash
    ? { ok: true, checked }
    : { ok: false, checked, brokenAt: end.seq + 1 };
}
