/** Queries for events: by trace, actor, action, target and time. */

import type { StoredEvent } from './event-records.ts';
import type { Page, PageOptions } from '../base/page.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Key } from '../base/key.ts';

/** Matches events that have all of these values. */
export interface EventFilter {
  readonly traceId?: string | undefined;
  /** The actor's id. */
  readonly actor?: string | undefined;
  readonly action?: string | undefined;
  /** The target's id. */
  readonly target?: string | undefined;
}

/** A query over a log, page by page. */
export interface EventQuery extends EventFilter, PageOptions {
  /** From this time on, in milliseconds since 1970. */
  readonly from?: number | undefined;
  /** Before this time. */
  readonly until?: number | undefined;
  /** Behind this number. */
  readonly after?: number | undefined;
}

/** The indexed fields, the most selective first. */
export const eventFields = ['traceId', 'target', 'actor', 'action'] as const;

type EventField = (typeof eventFields)[number];

function fieldOf(event: ObservedEvent, field: EventField): string {
  return field === 'actor' || field === 'target' ? event[field].id : event[field];
}

/** Whether the filter excludes any event. */
export function isFiltered(filter: EventFilter): boolean {
  return eventFields.some((field) => filter[field] !== undefined);
}

export function matchesFilter(event: ObservedEvent, filter: EventFilter): boolean {
  return eventFields.every((field) => filter[field] === undefined || fieldOf(event, field) === filter[field]);
}

/** Whether the event matches the query, its time included. */
export function matchesQuery(event: ObservedEvent, query: EventQuery): boolean {
  const at = Date.parse(event.timestamp);
  if (query.from !== undefined && at < query.from) return false;
  if (query.until !== undefined && at >= query.until) return false;
  return matchesFilter(event, query);
}

/** The index rows of some events: one for each of their values. */
export interface Places {
  size(): number;
  add(event: ObservedEvent): void;
  /** The ends of the rows' keys, without the number. */
  keys(): readonly Key[];
}

/** Creates an empty set of index rows. */
export function createPlaces(): Places {
  const values = eventFields.map((field) => ({ field, known: new Set<string>() }));
  return {
    size: () => values.reduce((sum, { known }) => sum + known.size, 0),
    add(event) {
      for (const { field, known } of values) {
        const value = fieldOf(event, field);
        if (!known.has(value)) known.add(indexed(value)); // most events of a run have the same values
      }
    },
    keys: () => values.flatMap(({ field, known }) => [...known].map((value) => [field, value])),
  };
}

export function placesOf(event: ObservedEvent): readonly Key[] {
  return eventFields.map((field) => [field, indexed(fieldOf(event, field))]);
}

/** The index to read for a query, that of its most selective value; `undefined` for a query without filter. */
export function placeFor(query: EventQuery): Key | undefined {
  const field = eventFields.find((candidate) => query[candidate] !== undefined);
  return field && [field, indexed(query[field] ?? '')];
}

/** Ids come from outside: a key takes 1,536 bytes, and no half of a surrogate pair, which a cut may leave. */
function indexed(value: string): string {
  return value.slice(0, 256).toWellFormed();
}

/** A log of events. */
export interface EventRows<Kept extends StoredEvent> {
  /**
   * Adds events in this order, and resolves when they are stored. Calls at the same time share a commit. Rejects as the storage does,
   * and with `unavailable` when too many instances write at the same time; then none of these events is stored, or only the first
   * ones where they take several commits.
   */
  append(events: readonly ObservedEvent[]): Promise<void>;
  /** Returns a page, the oldest event first. @throws PinnaceError `invalid_argument` for an invalid limit or page token. */
  list(query?: EventQuery): Promise<Page<Kept>>;
  /** The numbers of the first stored event and of the last event; where none is stored, `first` is `last + 1`. */
  bounds(): Promise<Bounds>;
  /** Calls back after events may have been added, here or elsewhere, until the returned function is called. */
  watch(onNews: () => void): () => void;
}

/** A log whose records are a chain of hashes. */
export interface EventChain<Kept extends StoredEvent> extends EventRows<Kept> {
  /**
   * Reads the whole chain, from the oldest event that is stored, computes it again and compares its indexes. A writer of the storage
   * can also write another chain, or an older one: store the `head` of an earlier verification elsewhere, and pass it as `anchor`.
   *
   * @throws PinnaceError `invalid_argument` with the reason `anchor_invalid` for an anchor that no chain can have.
   */
  verify(options?: VerifyOptions): Promise<Verification>;
}

/** The first and the last number of a log. */
export interface Bounds {
  readonly first: number;
  readonly last: number;
}

/** A log of blocks. */
export type EventBlocks = EventRows<StoredEvent>;

/**
 * Stores the events of each tenant in a log of its own, which all instances over the same storage write. Events without a tenant are
 * not stored. An event with the action `lostAction` replaces events that could not be stored.
 */
export interface EventStore {
  /** Takes an event without waiting for its commit. */
  readonly observe: (event: ObservedEvent, tenant: string | undefined) => void;
  readonly log: (tenant: string) => EventBlocks;
}

/** The result of checking a chain. */
export interface Verification extends Partial<Break> {
  readonly ok: boolean;
  /** How many events were checked before the break. */
  readonly checked: number;
  /** The current end of the chain: store it elsewhere and pass it as `anchor` later. */
  readonly head: ChainAnchor;
  /** The number of the event where the chain is broken. 0: an index row without a number. */
  readonly brokenAt?: number;
  /** Present where the chain is broken. */
  readonly reason?: BreakReason;
  /** The retention has removed the entry at the anchor, so only the length of the chain was compared. */
  readonly anchorExpired?: true;
}

/** How a chain is checked. */
export interface VerifyOptions {
  /** Stops the check. */
  readonly signal?: AbortSignal | undefined;
  /** What the chain must still contain. */
  readonly anchor?: ChainAnchor | undefined;
}

/** One of them. */
export type BreakReason = (typeof breakReasons)[number];

export interface Break {
  readonly brokenAt: number;
  readonly reason: BreakReason;
}

/** The end of a chain at some time, stored outside of the storage. */
export interface ChainAnchor {
  readonly seq: number;
  readonly hash: string;
}

/** Why a chain can be broken. */
export const breakReasons = [
  /** An entry does not exist, though later ones or the head name it. */
  'entry_missing',
  /** An entry was changed, or is in the wrong place. */
  'entry_mismatch',
  /** The head has another hash than the last entry, or is not a head. */
  'head_mismatch',
  /** Entries exist behind the head: it was rolled back or removed. */
  'entries_beyond_head',
  /** An entry lacks an index row: queries do not find it. */
  'index_missing',
  /** An index row names an entry that does not exist or does not match. */
  'index_mismatch',
  /** The chain ends before the anchor. */
  'anchor_missing',
  /** The chain has another hash at the anchor. */
  'anchor_mismatch',
] as const;
