/**
 * Values in the storage that the caches of all instances share. Each value carries the position of the last invalidation
 * that its writer knew when the load started. A reader refuses a value whose position is older than an invalidation that concerns
 * it, so a load in flight on another instance cannot bring back what was invalidated, and nothing has to be deleted.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import type { Key } from '../base/key.ts';
import type { Storage } from '../contracts/storage.ts';

/** The options of shared values. */
export interface SharedOptions<T> {
  readonly storage: Storage;
  /** The name of the values' source. */
  readonly source: string;
  /** The position of the last invalidation that this instance knows; `undefined` before it has read any. */
  readonly position: () => number | undefined;
  /** The revision of a record. A shared one with a lower revision than this instance has loaded or read is refused. */
  readonly revisionOf?: (value: T) => number;
}

/** A value and when its load started. `undefined` is a miss. */
export interface Cached<T> {
  readonly value: T | undefined;
  readonly loadedAt: number;
}

/** The shared values of one cache. */
export interface SharedValues<T> {
  /** Returns the value; `undefined` when none may be used, or the storage does not answer. */
  read(id: string): Promise<Cached<T> | undefined>;
  /** Writes what the source returned. `position` is the one before the load started. Never rejects. */
  write(
    id: string,
    entry: Cached<T>,
    options: { readonly position: number | undefined; readonly ttlMs: number },
  ): Promise<void>;
  /** Refuses values of loads that started before this position, for one id or for all. */
  refuseBefore(position: number, id?: string): void;
}

interface Stored<T> extends Cached<T> {
  readonly position?: number; // absent in entries of earlier versions
}

const maxIds = 10_000;

/** Creates the shared values of the cache with this name. */
export function createSharedValues<T>(name: string, options: SharedOptions<T>): SharedValues<T> {
  const { storage, source, position: current, revisionOf } = options;
  const keyOf = (id: string): Key => ['cache', name, source, id];
  const revisions = new BoundedMap<string, number>(maxIds);
  const firstOf = new Map<string, number>();
  let first = 0;
  let hasRead = false;
  const note = (id: string, value: T): void => {
    if (revisionOf) revisions.set(id, revisionOf(value));
  };
  const isCurrent = (id: string, position = -1): boolean => position >= Math.max(first, firstOf.get(id) ?? 0);
  const isLatest = (id: string, value: T): boolean => !revisionOf || revisionOf(value) >= (revisions.get(id) ?? 0);
  return {
    async read(id) {
      const position = current();
      if (position === undefined) return undefined;
      // What was invalidated before the first read is unknown here, so all that is older is refused.
      if (!hasRead) first = Math.max(first, position);
      hasRead = true;
      const found = await storage.get(keyOf(id)).catch(() => undefined);
      const stored = found?.value as Stored<T> | undefined; // only `write` writes it
      if (stored?.value === undefined || !isCurrent(id, stored.position) || !isLatest(id, stored.value)) {
        return undefined;
      }
      note(id, stored.value);
      return { value: stored.value, loadedAt: stored.loadedAt };
    },
    async write(id, { value, loadedAt }, { position, ttlMs }) {
      if (value === undefined) return;
      note(id, value); // also a lower one than before: the source decides
      if (position === undefined) return;
      const stored: Stored<T> = { value, loadedAt, position };
      await storage.commit([{ key: keyOf(id), value: stored, ttlMs }]).catch(() => undefined);
    },
    refuseBefore(position, id) {
      if (id !== undefined) firstOf.set(id, position);
      if (id !== undefined && firstOf.size <= maxIds) return;
      first = Math.max(first, position);
      firstOf.clear();
    },
  };
}
