/** How the events of a chain are stored: a head, and records that each have the hash of the one before. */

import type { Key } from '../base/key.ts';
import { sha256OfText } from '../base/hash.ts';
import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Entry, Storage } from '../contracts/storage.ts';

/** An event with its number. */
export interface StoredEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: ObservedEvent;
}

/** Links a record to the one before. */
export interface Link {
  /** The hash of the record before; for the first, 64 zeros. */
  readonly prevHash: string;
  /** SHA-256 over `prevHash`, a line feed and the text of the record, as hexadecimal digits. */
  readonly hash: string;
}

/** A record before it has a number. */
export interface Draft {
  readonly count: number;
  /** Its index rows, at most {@link maxPlaces}. */
  readonly places: readonly Key[];
  /** Its text, when its first event has this number. */
  readonly textAt: (seq: number) => string;
  /** The stored value. */
  readonly recordOf: (seq: number, text: string, link: Link) => Link;
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
  /** Reads the events of a record, whose hash may not be checked yet. */
  readonly eventsOf: (record: Link) => readonly Kept[];
  /** Returns the text of a record, to be hashed again. */
  readonly textOf: (record: Link) => string;
}

export interface StoredChain<Kept extends StoredEvent> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly ttl: { readonly ttlMs?: number };
  readonly form: RecordForm<Kept>;
}

/** The most index rows of a record: a commit takes 100 changes, among them the head and the record itself. */
export const maxPlaces = 98;

/** The end of a chain: the number of its last event, and the hash of its last record. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** The start of every chain. */
export const origin: Head = { seq: 0, hash: '0'.repeat(64) };

/** Reads the end of a chain. */
export function headOf(entry: Entry | undefined): Head {
  return entry ? entry.value as Head : origin; // only the chain writes it
}

export function linkOf({ value }: Entry): Link {
  return value as Link; // only the chain writes it, and `verifyChain` reports changes
}

/** The number of the first event of a record, or of the record that an index row names. */
export function numberOf({ key }: Entry): number {
  return Number(key.at(-1));
}

export function hashOf(prevHash: string, text: string): string | Promise<string> {
  return sha256OfText(`${prevHash}\n${text}`);
}
