/** The log of an audit: each event is a record with a hash of its own, and is stored before the caller continues. */

import { createEventChain, type EventChain, type EventLogOptions } from './event-chain.ts';
import { placesOf } from './event-query.ts';
import type { Draft, Link, RecordForm, StoredEvent } from './event-records.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import { canonicalJson } from '../base/json.ts';

/** An event with its number, and a hash over the one before and the event as canonical JSON (RFC 8785). */
export interface LoggedEvent extends StoredEvent, Link {}

/** A log of single events. */
export type EventLog = EventChain<LoggedEvent>;

/** Opens the log. All instances over one storage write one chain. */
export function createEventLog(options: EventLogOptions): EventLog {
  return createEventChain(oneByOne, options);
}

const oneByOne: RecordForm<LoggedEvent> = {
  root: 'event-log',
  records: 'event',
  most: 1,
  readAtOnce: 200,
  draft: (events) => events.map(draftOf),
  eventsOf: (record) => [logged(record)],
  textOf: (record) => canonicalJson(logged(record).event),
};

function logged(record: Link): LoggedEvent {
  return record as LoggedEvent; // only made below
}

function draftOf(event: ObservedEvent): Draft {
  const text = canonicalJson(event);
  return {
    count: 1,
    places: placesOf(event),
    textAt: () => text,
    recordOf: (seq, _text, { prevHash, hash }): LoggedEvent => ({ seq, event, prevHash, hash }),
  };
}
