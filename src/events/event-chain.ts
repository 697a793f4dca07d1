/**
 * Append-only logs of events with indexes. The form of the records says how many events each holds: one in the audit, where they are
 * a chain of hashes, and many in the blocks of `createEventBlocks`.
 *
 * - All instances over one storage write one log: a commit behind an older head conflicts, and is made again with new numbers.
 * - Head, records and index rows are one commit.
 */

import { checkNames, optional } from '../base/check-options.ts';
import {
  type Bounds,
  createPlaces,
  type EventBlocks,
  eventFields,
  type EventRows,
  type Places,
} from './event-query.ts';
import {
  type Draft,
  type Head,
  headOf,
  maxPlaces,
  numberOf,
  origin,
  type RecordForm,
  type StoredEvent,
  type StoredRecords,
} from './event-records.ts';
import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Change, Storage, Watchable } from '../contracts/storage.ts';
import { watchKey } from '../log/bulletin.ts';
import { commitHead, type Head as StoredHead, readHead } from '../log/commits.ts';
import { createBatches } from '../log/group-commit.ts';

/** The options of a log. */
export interface EventLogOptions {
  /** Where events are stored. */
  readonly storage: Storage & Partial<Watchable>;
  /** Logs with different names in one storage are independent. */
  readonly name?: string;
  /** How long events are stored; without a limit when absent. */
  readonly retentionMs?: number | undefined;
}

interface Waiting {
  readonly drafts: readonly Draft[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const loadList = /* @__PURE__ */ loadOnce(() => import('./list-events.ts')); // no run reads a log

const maxTries = 50;

/** Opens stored records. */
export function openRecords<Kept extends StoredEvent>(
  form: RecordForm<Kept>,
  { storage, name = 'events', retentionMs }: EventLogOptions,
): WritableRecords<Kept> {
  const ttl = retentionMs === undefined ? {} : { ttlMs: retentionMs };
  return { storage, prefix: [form.root, name], ttl, form, written: undefined };
}

/** Returns the log in these records. All instances over one storage write the same one. */
export function createEventRows<Kept extends StoredEvent>(log: WritableRecords<Kept>): EventRows<Kept> {
  const add = createBatches<Waiting>((queue) => appendGroup(log, takeFitting(queue, ({ drafts }) => sizeOf(drafts))));
  return {
    async append(events) {
      if (events.length === 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      add({ drafts: log.form.draft(events), resolve, reject });
      await promise;
    },
    async list(query = {}) {
      const { listEvents } = await loadList();
      return await listEvents(log, query);
    },
    bounds: () => readBounds(log),
    watch: (onNews) => watchKey(log.storage, [...log.prefix, 'head'], onNews),
  };
}

/** Records as one of their writers sees them. */
export interface WritableRecords<Kept extends StoredEvent> extends StoredRecords<Kept> {
  readonly storage: Storage & Partial<Watchable>;
  /** The head of this writer's last commit, which it need not read again. A commit behind an older head conflicts. */
  written: StoredHead<WrittenHead> | undefined;
}

async function readBounds({ storage, prefix, form }: StoredRecords<StoredEvent>): Promise<Bounds> {
  const { seq: last } = headOf(await storage.get([...prefix, 'head'])); // first: later events have higher numbers
  const [oldest] = await storage.list({ prefix: [...prefix, form.records], limit: 1 });
  return { first: oldest ? Math.min(numberOf(oldest), last + 1) : last + 1, last };
}

/** The number of changes that records take: themselves and their index rows. */
function sizeOf(drafts: readonly Draft[]): number {
  return drafts.reduce((sum, { places }) => sum + 1 + places.length, 0);
}

/** Takes from the front as many as fit into one commit, one at least. */
function takeFitting<T>(queue: T[], size: (item: T) => number): T[] {
  let sum = 0;
  const end = queue.findIndex((item, at) => (sum += size(item)) > maxPlaces + 1 && at > 0);
  return queue.splice(0, end < 0 ? queue.length : end);
}

async function appendGroup(log: WritableRecords<StoredEvent>, group: readonly Waiting[]): Promise<void> {
  try {
    const drafts = group.flatMap((waiting) => waiting.drafts);
    while (drafts.length > 0) await appendSome(log, takeFitting(drafts, (draft) => sizeOf([draft])));
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

async function appendSome(log: WritableRecords<StoredEvent>, drafts: readonly Draft[]): Promise<void> {
  const { storage, prefix } = log;
  const key = [...prefix, 'head'];
  for (let tries = 0; tries < maxTries; tries++) {
    const before = log.written ?? await readHead<WrittenHead>(storage, key);
    log.written = undefined; // until this commit is known to be the last one
    const { head, changes } = await link(log, before?.value ?? origin, drafts);
    const by = crypto.randomUUID(); // two instances may add the same event at the same time: only this differs
    const value = { ...head, by };
    const own = (stored: WrittenHead): boolean => stored.by === by;
    const result = await commitHead(storage, { key, value, before, changes, own });
    if (!result.ok) continue;
    log.written = { value, version: result.version };
    return;
  }
  throw new PinnaceError(
    'unavailable',
    'Cannot add to the event log: too many instances write at the same time; try again',
    { details: { reason: 'storage_contended' } },
  );
}

/** A stored head names the commit that wrote it. */
interface WrittenHead extends Head {
  readonly by?: string;
}

/** Numbers the records behind the head; returns their changes and the new head. */
async function link({ prefix, ttl, form }: StoredRecords<StoredEvent>, from: Head, drafts: readonly Draft[]) {
  let head = from;
  const changes: Change[] = [];
  for (const { count, places, seal } of drafts) {
    const number = head.seq + 1;
    const { value, hash } = await seal(number, head.hash);
    changes.push({ key: prefix.concat(form.records, number), value, ...ttl });
    for (const place of places) changes.push({ key: prefix.concat(place, number), value: true, ...ttl });
    head = { seq: head.seq + count, hash };
  }
  return { head, changes };
}

/** Opens the log. All instances over one storage write the same one. Each `append` writes blocks of its own. */
export function createEventBlocks(options: EventLogOptions): EventBlocks {
  checkNames('create the log', options, optional('storage', 'name', 'retentionMs'));
  return createEventRows(openRecords(inBlocks, options));
}

/** The most text of a block with several events: a query reads and parses whole blocks. */
const maxLength = 60_000;

const maxEvents = 200;

interface Block {
  /** JSON: `{ seq, events }`, with the number of the first event. */
  readonly text: string;
}

const inBlocks: RecordForm<StoredEvent> = {
  root: 'event-blocks',
  records: 'block',
  most: maxEvents,
  readAtOnce: 20,
  draft: cutBlocks,
  eventsOf: (value) => eventsOf((value as Block).text), // only made below
};

interface OpenBlock {
  readonly texts: string[];
  readonly places: Places;
  length: number;
}

function cutBlocks(events: readonly ObservedEvent[]): readonly Draft[] {
  const blocks: OpenBlock[] = [];
  for (const event of events) {
    const text = JSON.stringify(event);
    let block = blocks.at(-1);
    if (!block || isFull(block, text)) {
      block = { texts: [], places: createPlaces(), length: 0 };
      blocks.push(block);
    }
    block.texts.push(text);
    block.places.add(event);
    block.length += text.length + 1;
  }
  return blocks.map(draftOf);
}

function isFull({ texts, length, places }: OpenBlock, next: string): boolean {
  return texts.length >= maxEvents || length + next.length > maxLength ||
    places.size() + eventFields.length > maxPlaces;
}

function draftOf({ texts, places }: OpenBlock): Draft {
  const events = texts.join(',');
  return {
    count: texts.length,
    places: places.keys(),
    seal: (seq): { value: Block; hash: string } => ({
      value: { text: `{"seq":${seq},"events":[${events}]}` },
      hash: '',
    }),
  };
}

/** A damaged text has no events. */
function eventsOf(text: string): readonly StoredEvent[] {
  try {
    const { seq, events } = JSON.parse(text) as { seq: number; events: readonly ObservedEvent[] }; // as written
    return events.map((event, i) => ({ seq: seq + i, event }));
  } catch {
    return [];
  }
}

/** The action of an event that replaces lost events; its payload has their number. */
export const lostAction = 'events.lost';
