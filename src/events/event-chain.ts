/**
 * An append-only chain of events with indexes: each record has the hash of the one before. The form of the records says how many
 * events each holds: one in `event-log.ts`, many in `event-blocks.ts`.
 */

import { checkNames, optional } from '../base/check-options.ts';
import {
  type Bounds,
  createPlaces,
  type EventBlocks,
  type EventChain,
  eventFields,
  type Places,
} from './event-query.ts';
import {
  type Draft,
  hashOf,
  type Head,
  headOf,
  type Link,
  maxPlaces,
  numberOf,
  origin,
  type RecordForm,
  type StoredChain,
  type StoredEvent,
} from './event-records.ts';
import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Change, Storage, Watchable } from '../contracts/storage.ts';
import { watchKey } from '../log/bulletin.ts';
import { commitHead, type Head as StoredHead, readHead } from '../log/commits.ts';
import { createBatches } from '../log/group-commit.ts';

/** The options of a chain. */
export interface EventLogOptions {
  /** Where events are stored. */
  readonly storage: Storage & Partial<Watchable>;
  /** Chains with different names in one storage are independent. */
  readonly name?: string;
  /** How long events are stored; without a limit when absent. */
  readonly retentionMs?: number | undefined;
}

interface Waiting {
  readonly drafts: readonly Draft[];
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const loadList = /* @__PURE__ */ loadOnce(() => import('./list-events.ts')); // no run reads the chain

const maxTries = 50;

/** Opens a chain. All instances over one storage write the same one. */
export function createEventChain<Kept extends StoredEvent>(
  form: RecordForm<Kept>,
  { storage, name = 'events', retentionMs }: EventLogOptions,
): EventChain<Kept> {
  const ttl = retentionMs === undefined ? {} : { ttlMs: retentionMs };
  const chain: WritableChain<Kept> = { storage, prefix: [form.root, name], ttl, form, written: undefined };
  const add = createBatches<Waiting>((queue) => appendGroup(chain, takeFitting(queue, ({ drafts }) => sizeOf(drafts))));
  return {
    async append(events) {
      if (events.length === 0) return;
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      add({ drafts: form.draft(events), resolve, reject });
      await promise;
    },
    async list(query = {}) {
      const { listEvents } = await loadList();
      return await listEvents(chain, query);
    },
    bounds: () => readBounds(chain),
    watch: (onNews) => watchKey(storage, [...chain.prefix, 'head'], onNews),
    async verify(options = {}) {
      const { verifyChain } = await import('./verify-chain.ts'); // no run needs it: it is fetched with the first check
      return await verifyChain(chain, options);
    },
  };
}

interface WritableChain<Kept extends StoredEvent> extends StoredChain<Kept> {
  /** The head of this writer's last commit, which it need not read again. A commit behind an older head conflicts. */
  written: StoredHead<WrittenHead> | undefined;
}

async function readBounds({ storage, prefix, form }: StoredChain<StoredEvent>): Promise<Bounds> {
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

async function appendGroup(chain: WritableChain<StoredEvent>, group: readonly Waiting[]): Promise<void> {
  try {
    const drafts = group.flatMap((waiting) => waiting.drafts);
    while (drafts.length > 0) await appendSome(chain, takeFitting(drafts, (draft) => sizeOf([draft])));
    for (const { resolve } of group) resolve();
  } catch (error) {
    for (const { reject } of group) reject(error);
  }
}

async function appendSome(chain: WritableChain<StoredEvent>, drafts: readonly Draft[]): Promise<void> {
  const { storage, prefix } = chain;
  const key = [...prefix, 'head'];
  for (let tries = 0; tries < maxTries; tries++) {
    const before = chain.written ?? await readHead<WrittenHead>(storage, key);
    chain.written = undefined; // until this commit is known to be the last one
    const { head, changes } = await link(chain, before?.value ?? origin, drafts);
    const by = crypto.randomUUID(); // two instances may add the same event at the same time: only this differs
    const value = { ...head, by };
    const own = (stored: WrittenHead): boolean => stored.by === by;
    const result = await commitHead(storage, { key, value, before, changes, own });
    if (!result.ok) continue;
    chain.written = { value, version: result.version };
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

/** Numbers and hashes the records behind the head; returns their changes and the new head. */
async function link({ prefix, ttl, form }: StoredChain<StoredEvent>, from: Head, drafts: readonly Draft[]) {
  let head = from;
  const changes: Change[] = [];
  for (const { count, places, textAt, recordOf } of drafts) {
    const number = head.seq + 1;
    const text = textAt(number);
    const tie: Link = { prevHash: head.hash, hash: await hashOf(head.hash, text) };
    changes.push({ key: prefix.concat(form.records, number), value: recordOf(number, text, tie), ...ttl });
    for (const place of places) changes.push({ key: prefix.concat(place, number), value: true, ...ttl });
    head = { seq: head.seq + count, hash: tie.hash };
  }
  return { head, changes };
}

/** Opens the log. All instances over one storage write one chain. Each `append` writes blocks of its own. */
export function createEventBlocks(options: EventLogOptions): EventBlocks {
  checkNames('create the log', options, optional('storage', 'name', 'retentionMs'));
  return createEventChain(inBlocks, options);
}

/** The most text of a block with several events: a query reads and parses whole blocks. */
const maxLength = 60_000;

const maxEvents = 200;

/** A stored block. Its text has the number of its first event, so that the hash covers it. */
interface Block extends Link {
  /** JSON: `{ seq, events }`. */
  readonly text: string;
}

const inBlocks: RecordForm<StoredEvent> = {
  root: 'event-blocks',
  records: 'block',
  most: maxEvents,
  readAtOnce: 20,
  draft: cutBlocks,
  eventsOf: (record) => eventsOf(textOf(record)),
  textOf,
};

function textOf(record: Link): string {
  return (record as Block).text; // only made below
}

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
  return texts.length >= maxEvents || length + next.length > maxLength || places.size + eventFields.length > maxPlaces;
}

function draftOf({ texts, places }: OpenBlock): Draft {
  const events = texts.join(',');
  return {
    count: texts.length,
    places: places.keys(),
    textAt: (seq) => `{"seq":${seq},"events":[${events}]}`,
    recordOf: (_seq, text, { prevHash, hash }): Block => ({ text, prevHash, hash }),
  };
}

/** A damaged text has no events: `verify` reports it. */
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
