/** The commits of a journal's owner, which find out whether they were written when their answer is lost. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Change, Storage } from '../contracts/storage.ts';
import { chunkChanges, headKey, type JournalHead, readJournal, type StoredJournal } from './journal-record.ts';
import { defaultGraceMs, outlast } from './outage.ts';

/** What an owner holds of a journal. */
export interface JournalOwner<S> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly head: JournalHead<S>;
  /** The version of the head in the storage. */
  readonly version: string;
  readonly now: () => number;
  readonly ttlMs: number;
  /**
   * How long commits of items alone leave the head as it is, where the storage can check a version; 0 when absent. Until then the
   * head's `seq` and `at` are behind.
   */
  readonly headMs?: number;
  /** How long a commit is repeated while the storage is out of reach; 10 s when absent. */
  readonly graceMs?: number | undefined;
}

/** What goes into one commit. */
export interface JournalWrite<S> {
  readonly items: readonly string[];
  readonly state: S | undefined;
  readonly changes: readonly Change[];
}

/** Returns the function that commits, and resolves to the number of the last item. One call at a time. */
export function createJournalCommit<S>(owner: JournalOwner<S>): (write: JournalWrite<S>) => Promise<number> {
  const { storage, prefix, now, ttlMs, headMs = 0, graceMs = defaultGraceMs } = owner;
  let { head, version } = owner;
  let headAt = head.at;
  return async ({ items, state, changes }) => {
    const next = { ...head, seq: head.seq + items.length, at: now(), state: state ?? head.state };
    const chunks = chunkChanges(prefix, items, { seq: head.seq, ttlMs });
    const key = headKey(prefix);
    const last = chunks.at(-1);
    const access = { storage, prefix, graceMs };
    if (storage.checks && last && state === undefined && next.at - headAt < headMs) {
      const checked: Change = { key, ifVersion: version, keep: true };
      // Only the owner of the head writes chunks.
      const isOwn = async (found: StoredJournal<unknown>): Promise<boolean> =>
        found.version === version && await storage.get(last.key) !== undefined;
      await commitSurely(access, [checked, ...chunks, ...changes], isOwn);
    } else {
      const own: Change = { key, value: next, ifVersion: version, ttlMs };
      // Its fence and owner are this owner's alone.
      const isOwn = ({ head: { fence, owner: name }, version: found }: StoredJournal<unknown>): boolean =>
        found !== version && fence === next.fence && name === next.owner;
      version = await commitSurely(access, [own, ...chunks, ...changes], isOwn);
      headAt = next.at;
    }
    head = next;
    return next.seq;
  };
}

/** A journal, and how long its commits are repeated while its storage is out of reach. */
interface JournalAccess {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly graceMs: number;
}

/**
 * Commits changes of which the first is the head's, and returns the head's version. When the answer does not arrive, or the storage
 * reports a conflict, `isWritten` finds out whether they were written. When they were not, the very same changes are committed
 * again, until the grace is over.
 */
async function commitSurely(
  { storage, prefix, graceMs }: JournalAccess,
  changes: readonly [Change, ...Change[]],
  isWritten: (found: StoredJournal<unknown>) => boolean | Promise<boolean>,
): Promise<string> {
  const [{ ifVersion }] = changes;
  let conflicts = 0;
  return await outlast(async () => {
    const result = await storage.commit(changes).catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok) return result.version;
    const found = await readJournal(storage, prefix);
    if (found && await isWritten(found)) return found.version;
    if (found?.version === ifVersion) {
      if (result.ok === undefined) throw result.error;
      if (conflicts++ === 0) throw contradiction();
    }
    throw takenOver();
  }, graceMs);
}

function takenOver(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot write the journal: another owner has it');
}

function contradiction(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot write the journal: the storage reports a conflict, but its head is unchanged',
    {
      details: { reason: 'storage_failed' },
    },
  );
}
