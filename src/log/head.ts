/** The head of a log: a small value that every commit to the log checks and replaces, so that of two writers one is refused. */

import type { Key } from '../base/key.ts';
import type { Change, CommitResult, Storage } from '../contracts/storage.ts';
import { commitMarked, commitOwn } from './own-commit.ts';

/** A head as it was read or written. */
export interface Head<H> {
  readonly value: H;
  readonly version: string;
}

/** A new head, and what belongs to it. */
export interface HeadCommit<H> {
  readonly key: Key;
  readonly value: H;
  /** The head that this one replaces; `undefined` when the log is new. */
  readonly before: { readonly version: string } | undefined;
  readonly ttlMs?: number;
  readonly changes?: readonly Change[];
  /**
   * How the commit recognizes itself after its answer was lost: by a head that no other commit writes, or by a mark under a key that
   * no other writer has, which costs one change more and also works when other commits follow at once.
   */
  readonly own: ((stored: H) => boolean) | { readonly markKey: Key };
  readonly graceMs?: number;
}

/** Reads a head. Its schema is the caller's. */
export async function readHead<H>(storage: Pick<Storage, 'get'>, key: Key): Promise<Head<H> | undefined> {
  const entry = await storage.get(key);
  return entry && { value: entry.value as H, version: entry.version }; // only the log's own module writes it
}

/** Replaces a head, together with the changes that belong to it. Writes nothing when another writer was first. */
export async function commitHead<H>(
  storage: Pick<Storage, 'commit' | 'get'>,
  { key, value, before, ttlMs, changes = [], own, graceMs = 0 }: HeadCommit<H>,
): Promise<CommitResult> {
  const head = { key, value, ifVersion: before?.version ?? null, ...(ttlMs !== undefined && { ttlMs }) };
  if (typeof own !== 'function') return await commitMarked(storage, [head, ...changes], { ...own, graceMs });
  const written = async (): Promise<string | undefined> => {
    const stored = await readHead<H>(storage, key);
    return stored && own(stored.value) ? stored.version : undefined;
  };
  return await commitOwn(storage, [head, ...changes], { written, graceMs });
}
