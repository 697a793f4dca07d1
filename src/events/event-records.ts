/** The records of a chain of events, as they are stored: each has the hash of the one before. */

import type { ObservedEvent } from '../contracts/event-sink.ts';
import type { Key } from '../base/key.ts';
import type { Entry, Storage } from '../contracts/storage.ts';
import { sha256 } from '../base/hash.ts';

/** An event in its place. */
export interface StoredEvent {
  /** From 1, without gaps. */
  readonly seq: number;
  readonly event: ObservedEvent;
}

/** What ties a record to the one before. */
export interface Link {
  /** The hash of the record before; for the first, 64 zeros. */
  readonly prevHash: string;
  /** SHA-256 over `prevHash`, a line feed and the text of the record, as hexadecimal digits. */
  readonly hash: string;
}

/** A record before it has its place. */
export interface Draft {
  /** How many events it has. */
  readonly count: number;
  /** Where it stands in the indexes, at most {@link maxPlaces}. */
  readonly places: readonly Key[];
  /** Its text, where its first event has this number. */
  readonly textAt: (seq: number) => string;
  /** What is stored. */
  readonly recordOf: (seq: number, text: string, link: Link) => Link;
}

/** How events stand in records. */
export interface RecordForm<Kept extends StoredEvent> {
  /** The first part of all keys. */
  readonly root: string;
  /** The part of the keys of records; what follows is the number of the record's first event. */
  readonly records: string;
  /** The most events of one record. */
  readonly most: number;
  /** So many records are read at once. */
  readonly readAtOnce: number;
  /** Makes records of events. */
  readonly draft: (events: readonly ObservedEvent[]) => readonly Draft[];
  /** Reads the events of a record. Before its hash is checked, nothing in it is certain. */
  readonly eventsOf: (record: Link) => readonly Kept[];
  /** Gives the text of a record, to be hashed again. */
  readonly textOf: (record: Link) => string;
}

/** A chain in its storage. */
export interface StoredChain<Kept extends StoredEvent> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly ttl: { readonly ttlMs?: number };
  readonly form: RecordForm<Kept>;
}

/** The most places of a record: a commit takes 100 changes, among them the head and the record itself. */
export const maxPlaces = 98;

/** The end of a chain: the number of its last event, and the hash of its last record. */
export interface Head {
  readonly seq: number;
  readonly hash: string;
}

/** Where every chain begins. */
export const origin: Head = { seq: 0, hash: '0'.repeat(64) };

/** Reads the end of a chain. */
export function headOf(entry: Entry | undefined): Head {
  return entry ? entry.value as Head : origin; // written by the chain alone
}

/** Reads a record. */
export function recordOf({ value }: Entry): Link {
  return value as Link; // written by the chain, unless somebody changed it: `verifyChain` tells
}

/** The number of a record's first event, or of that of the record that an index names. */
export function numberOf({ key }: Entry): number {
  return Number(key.at(-1));
}

/** Gives the hash of a record. */
export async function hashOf(prevHash: string, text: string): Promise<string> {
  return await sha256(`${prevHash}\n${text}`);
}
