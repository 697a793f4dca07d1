/** A stored record as verification reads it. */

import { createPlaces } from './event-query.ts';
import { numberOf, recordOf, type StoredChain, type StoredEvent } from './event-records.ts';
import type { Key } from '../base/key.ts';
import type { Entry } from '../contracts/storage.ts';

/** What verification compares. Its hash is not checked yet. */
export interface CheckedRecord {
  /** The number in its key. */
  readonly number: number;
  /** How many events it has. */
  readonly count: number;
  readonly prevHash: string;
  readonly hash: string;
  readonly text: string;
  /** The ends of the keys of its index rows, without the number. */
  readonly places: readonly Key[];
}

/** Reads a record; returns `undefined` for a value that is not a record, or whose events have other numbers than its key. */
export function readRecord({ form }: StoredChain<StoredEvent>, entry: Entry): CheckedRecord | undefined {
  const number = numberOf(entry);
  try {
    const record = recordOf(entry);
    const { prevHash, hash } = record;
    const events = form.eventsOf(record);
    if (events.length === 0 || events.some(({ seq }, i) => seq !== number + i)) return undefined;
    const places = createPlaces();
    for (const { event } of events) places.add(event);
    return { number, count: events.length, prevHash, hash, text: form.textOf(record), places: places.keys() };
  } catch {
    return undefined; // a changed value can have any shape
  }
}
