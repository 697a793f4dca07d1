/** Commits that recognize themselves after their answer was lost. */

import type { Key } from '../base/key.ts';
import type { Change, CommitResult, Storage } from '../contracts/storage.ts';
import { outlast } from './outage.ts';

/** How a commit recognizes itself. */
export interface OwnCommit {
  /** Reads a value that only this commit writes, and returns its version when it exists. */
  readonly written: () => Promise<string | undefined>;
  readonly graceMs?: number;
}

/**
 * Commits changes with an `ifVersion`, and retries during an outage. A commit whose answer was lost conflicts with itself when it is
 * repeated, here or inside the storage: `written` then shows that it was done.
 */
export async function commitOwn(
  storage: Pick<Storage, 'commit'>,
  changes: readonly Change[],
  { written, graceMs = 0 }: OwnCommit,
): Promise<CommitResult> {
  return await outlast(async () => {
    const result = await storage.commit(changes).catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok) return result;
    const version = await written();
    if (version !== undefined) return { ok: true, version };
    if (result.ok === undefined) throw result.error;
    return result;
  }, graceMs);
}

/** The lifetime of a mark: far longer than a commit and its retries take. */
const markTtlMs = 60_000;

/**
 * Commits changes together with a random mark under `markKey`, by which the commit recognizes itself. No other writer may use this key,
 * so other commits that follow at once do not hide the mark. Makes one change more.
 */
export async function commitMarked(
  storage: Pick<Storage, 'commit' | 'get'>,
  changes: readonly Change[],
  { markKey, graceMs = 0 }: { readonly markKey: Key; readonly graceMs?: number },
): Promise<CommitResult> {
  const mark = crypto.randomUUID();
  return await commitOwn(storage, [...changes, { key: markKey, value: mark, ttlMs: markTtlMs }], {
    written: async () => {
      const found = await storage.get(markKey);
      return found?.value === mark ? found.version : undefined;
    },
    graceMs,
  });
}
