/** The port to durable storage, and its rules. */

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
  /** The value expires after this time. */
  readonly ttlMs?: number;
  /** The version that the key must have now; `null`: the key must not exist; absent: no matter. */
  readonly ifVersion?: string | null;
  /** Only checks the version, and writes nothing under this key. Needs an `ifVersion`, and a storage that {@link Storage.checks}. */
  readonly keep?: true;
}

/** The outcome of a commit. */
export type CommitResult =
  | { readonly ok: true; readonly version: string }
  | { readonly ok: false; readonly conflicts: readonly Key[] };

/**
 * Durable key-value storage. All durable state of Pinnace goes through this port.
 *
 * A value is anything that `structuredClone` copies without loss: JSON, dates, maps, sets, byte arrays, up to 4 MiB. Reads return
 * copies: changing them does not change stored values. `get` returns `undefined` on a miss. `list` returns the entries under
 * `prefix`, the entry at the prefix itself first, in the order of their keys (numbers before text, by size; text by code point),
 * those after `after`, at most `limit` (1 to 1,000); `get` finds each listed entry. `commit` takes 1 to 100 changes of different keys
 * and is all-or-nothing: when the version of any key differs from its `ifVersion`, it writes nothing and returns the keys that
 * differed. When the answer of a commit with an `ifVersion` was lost, do not repeat it inside the storage, where it would conflict
 * with itself: reject it. Repeating a commit without `ifVersion` has no further effect. Reads, lists and version checks treat an
 * expired value as deleted.
 *
 * Rejects with `invalid_argument` for invalid keys and values, and for a commit whose keys take more than 80,000 bytes
 * (`commit_too_large`). A store that is full, closed or out of reach rejects with `unavailable` and the reason `storage_full`,
 * `storage_closed` or `storage_blocked`; nothing of that commit is written. Keys and values are never logged.
 */
export interface Storage {
  /** Whether `commit` takes changes with `keep`. Without it, logs write their heads with every commit. */
  readonly checks?: true;
  /** Whether it is gone with its process: an endpoint that stops ends its runs then, for no other could continue them. */
  readonly isVolatile?: true;
  /** Whether processes live, where no other machine shares the storage and the platform knows it. */
  readonly presence?: Presence | undefined;
  get(key: Key): Promise<Entry | undefined>;
  list(options: { readonly prefix: Key; readonly after?: Key; readonly limit: number }): Promise<Entry[]>;
  commit(changes: readonly Change[]): Promise<CommitResult>;
}

/** Of the processes that share a storage, says which have ended: at once, and without clocks. */
export interface Presence {
  /** Shows that this process lives until it ends, or the signal aborts. Resolves when the others see it. */
  show(id: string, signal: AbortSignal): Promise<void>;
  /** Resolves when a process that has shown itself has ended. Rejects when the signal aborts. */
  ended(id: string, signal: AbortSignal): Promise<void>;
}

/**
 * Reports changes, where the platform supports it. Calls `onNews` after any instance may have changed one of the keys. One call may
 * report several changes, and a call may come without a change. Calls end when the signal aborts. `onNews` must not throw.
 */
export interface Watchable {
  watch(keys: readonly Key[], options: { readonly signal: AbortSignal; readonly onNews: () => void }): void;
}

/** A storage that holds resources: after `close`, every call rejects with `unavailable` and the reason `storage_closed`. */
export interface ClosableStorage extends Storage {
  close(): Promise<void>;
}
