/** How events are stored: a head, and records. In a chain, which the audit is, each record has the hash of the one before. */

import type { Key } from '../base/key.ts';
import { sha256OfText } from '../base/hash.ts';
import { canonicalJson } from '../base/json.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Entry, Storage } from '../contracts/storage.ts';

/** An event with its number. */
export interface StoredEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: ObservedEvent;
}

/** An event with its number, and a hash over the one before and the event as canonical JSON (RFC 8785). */
export interface LoggedEvent extends StoredEvent {
  /** The hash of the record before; for the first, 64 zeros. */
  readonly prevHash: string;
  /** SHA-256 over `prevHash`, a line feed and the text of the event, as hexadecimal digits. */
  readonly hash: string;
}

/** A record before it has a number. */
export interface Draft {
  /** Its number of events. */
  readonly count: number;
  /** Its index rows, at most {@link maxPlaces}. */
  readonly places: readonly Key[];
  /** Returns the stored value, when its first event has this number, and its hash; the hash is empty outside of chains. */
  readonly seal: (seq: number, prevHash: string) => Sealed | Promise<Sealed>;
}

interface Sealed {
  readonly value: object;
  readonly hash: string;
}

export interface RecordForm<Kept extends StoredEvent> {
  /** The first part of all keys. */
  readonly root: string;
  /** The second part of a record's key, before the number of its first event. */
  readonly records: string;
  /** The most events of one record. */
  readonly most: number;
  /** How many records are read at a time. */
  readonly readAtOnce: number;
  readonly draft: (events: readonly ObservedEvent[]) => readonly Draft[];
  /** Reads the events of a stored value. */
  readonly eventsOf: (value: unknown) => readonly Kept[];
}

export interface StoredRecords<Kept extends StoredEvent> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly ttl: { readonly ttlMs?: number };
  readonly form: RecordForm<Kept>;
}

/** The most index rows of a record: a commit takes 100 changes, among them the head and the record itself. */
export const maxPlaces = 98;

/** The end of the records: the number of the last event, and the hash of the last record in a chain. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

export const origin: Head = { seq: 0, hash: '0'.repeat(64) };

export function headOf(entry: Entry | undefined): Head {
  return entry ? entry.value as Head : origin; // only the log writes it
}

/** The number of the first event of a record, or of the record that an index row names. */
export function numberOf({ key }: Entry): number {
  return Number(key.at(-1));
}

export function hashOf(prevHash: string, event: ObservedEvent): string | Promise<string> {
  return sha256OfText(`${prevHash}\n${canonicalJson(event)}`);
}
