/** Storage: what keeps everything, and its rules. */

import type { Key } from '../base/key.ts';

/** One stored value. */
export interface Entry {
  readonly key: Key;
  readonly value: unknown;
  /** Differs for every write of this key, also after a delete. */
  readonly version: string;
}

/** One part of a commit: a write, or without a `value` a delete. */
export interface Change {
  readonly key: Key;
  readonly value?: unknown;
  /** The value is gone after this time. */
  readonly ttlMs?: number;
  /** The version that the key must have now; `null`: the key must not exist; absent: no matter. */
  readonly ifVersion?: string | null;
  /** Only checks the version, and writes nothing under this key. Needs an `ifVersion`, and a storage that {@link Storage.checks}. */
  readonly keep?: true;
}

/** What became of a commit. */
export type CommitResult =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly conflicts: readonly Key[] };

/**
 * Where state is kept. Everything durable in Pinnace is a module over this port.
 *
 * A value is what `structuredClone` copies without losing anything: JSON, dates, maps, sets, byte arrays, up to 4 MiB. What is
 * read is a copy: changing it changes nothing stored. `get` answers `undefined` on a miss. `list` answers the entries under
 * `prefix`, that at the prefix itself first, in the order of their keys (numbers before text, by size; text by code point), those
 * behind `after`, at most `limit` (1 to 1,000); what is listed can be read. `commit` takes 1 to 100 changes of different keys and is all-or-nothing: when the
 * version of any differs from its `ifVersion`, nothing is written and the keys that differed are the answer. When the answer of a
 * commit with an `ifVersion` was lost, do not repeat it inside the storage, where it would conflict with itself: reject it. The same commit
 * twice without `ifVersion` equals once. An expired value is as good as deleted, to reads, lists and versions.
 *
 * Bad keys and values are `invalid_argument`, and so is a commit whose keys take more than 80,000 bytes (`commit_too_large`). A store that is full, closed or out of reach is `unavailable` with the reason
 * `storage_full`, `storage_closed` or `storage_blocked`; nothing of that commit is written. Keys and values are never logged.
 */
export interface Storage {
  /** Whether `commit` takes changes with `keep`. Without it, logs write their heads with every commit. */
  readonly checks?: true;
  get(key: Key): Promise<Entry | undefined>;
  list(options: { readonly prefix: Key; readonly after?: Key; readonly limit: number }): Promise<Entry[]>;
  commit(changes: readonly Change[]): Promise<CommitResult>;
}

/**
 * Tells of changes, where the platform can. `onNews` is called after any of the keys may have changed, by whoever and wherever;
 * several changes may be told once, and a call may come for nothing. It is called until the signal aborts, and never throws.
 */
export interface Watchable {
  watch(keys: readonly Key[], options: { readonly signal: AbortSignal; readonly onNews: () => void }): void;
}

/** A storage that holds something open: after `close`, every call is `unavailable` with the reason `storage_closed`. */
export interface ClosableStorage extends Storage {
  close(): Promise<void>;
}
