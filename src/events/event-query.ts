/** Queries for events: by trace, actor, action, target and time. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Key } from '../base/key.ts';
import type { PageOptions } from '../base/page.ts';

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

/** Whether the event matches the filter. */
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
  readonly size: number;
  add(event: ObservedEvent): void;
  /** The ends of the rows' keys, without the number. */
  keys(): readonly Key[];
}

/** Creates an empty set of index rows. */
export function createPlaces(): Places {
  const values = eventFields.map((field) => ({ field, known: new Set<string>() }));
  return {
    get size() {
      return values.reduce((sum, { known }) => sum + known.size, 0);
    },
    add(event) {
      for (const { field, known } of values) {
        const value = fieldOf(event, field);
        if (!known.has(value)) known.add(indexed(value)); // most events of a run have the same values
      }
    },
    keys: () => values.flatMap(({ field, known }) => [...known].map((value) => [field, value])),
  };
}

/** The index rows of one event. */
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
