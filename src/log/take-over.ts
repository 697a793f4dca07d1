/** Takes over a journal whose owner has stopped. */

import type { Key } from '../base/key.ts';
import type { Storage } from '../contracts/storage.ts';
import { commitHead } from './head.ts';
import { headKey, type JournalHead, readJournal, readLastSeq, type StoredJournal } from './journal-record.ts';

/** Which journal to take over, and when. */
export interface TakeOverOptions<S> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly now: () => number;
  readonly ttlMs: number;
  /** Whether to take over a journal with this head; always when absent. */
  readonly when?: (head: JournalHead<S>) => boolean;
  /** The state of the new owner; unchanged when absent. */
  readonly next?: (state: S) => S;
}

/**
 * Takes a journal over; the former owner's next commit then fails. Returns `undefined` when there is no journal, when another owner
 * was first, or when `when` returns false.
 */
export async function takeOver<S>(options: TakeOverOptions<S>): Promise<StoredJournal<S> | undefined> {
  const { storage, prefix, now, ttlMs, when = () => true, next = (state) => state } = options;
  const found = await readJournal<S>(storage, prefix);
  if (!found || !when(found.head)) return undefined;
  const { head: before } = found;
  const owned = { state: next(before.state), fence: before.fence + 1, owner: crypto.randomUUID(), at: now() };
  const head = { ...before, ...owned };
  const own = ({ owner }: JournalHead<S>): boolean => owner === head.owner;
  const result = await commitHead(storage, { key: headKey(prefix), value: head, before: found, ttlMs, own });
  if (!result.ok) return undefined;
  // The former owner can add no more, so what is read now is all.
  return { head: { ...head, seq: await readLastSeq(storage, prefix, head.seq) }, version: result.version };
}
