/** Which events somebody asks for: by trace, actor, action, target and time. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Key } from '../base/key.ts';
import type { PageOptions } from '../base/page.ts';

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
  /** Behind this number. */
  readonly after?: number | undefined;
}

/** What events are found by, the most telling first. */
export const eventFields = ['traceId', 'target', 'actor', 'action'] as const;

type EventField = (typeof eventFields)[number];

function fieldOf(event: ObservedEvent, field: EventField): string {
  return field === 'actor' || field === 'target' ? event[field].id : event[field];
}

/** Whether anything is wanted rather than all. */
export function isFiltered(filter: EventFilter): boolean {
  return eventFields.some((field) => filter[field] !== undefined);
}

/** Whether the event has all that is wanted. */
export function matchesFilter(event: ObservedEvent, filter: EventFilter): boolean {
  return eventFields.every((field) => filter[field] === undefined || fieldOf(event, field) === filter[field]);
}

/** Whether the event has all that is wanted, and is of the time. */
export function matchesQuery(event: ObservedEvent, query: EventQuery): boolean {
  const at = Date.parse(event.timestamp);
  if (query.from !== undefined && at < query.from) return false;
  if (query.until !== undefined && at >= query.until) return false;
  return matchesFilter(event, query);
}

/** Where some events stand in the indexes: each of their values once. */
export interface Places {
  readonly size: number;
  add(event: ObservedEvent): void;
  /** The ends of keys. */
  keys(): readonly Key[];
}

/** Gives no places. */
export function createPlaces(): Places {
  const values = eventFields.map((field) => ({ field, known: new Set<string>() }));
  return {
    get size() {
      return values.reduce((sum, { known }) => sum + known.size, 0);
    },
    add(event) {
      for (const { field, known } of values) known.add(indexed(fieldOf(event, field)));
    },
    keys: () => values.flatMap(({ field, known }) => [...known].map((value) => [field, value])),
  };
}

/** The place to look at for a query, that of its most telling value; `undefined` when it asks for none. */
export function placeFor(query: EventQuery): Key | undefined {
  const field = eventFields.find((candidate) => query[candidate] !== undefined);
  return field && [field, indexed(query[field] ?? '')];
}

/** Ids come from outside: a key holds 1,536 bytes, and no half of a surrogate pair, which a cut may leave. */
function indexed(value: string): string {
  return value.slice(0, 256).toWellFormed();
}
