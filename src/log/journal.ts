/**
 * The append-only log over `Storage`. It has one owner, who holds the version of its head: taking the journal over changes that
 * version, and the former owner's next commit fails. Items that are appended during a commit go into the next one.
 */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { createCommitSchedule } from './commit-schedule.ts';
import { type CommitTick, createCommitTick } from './commit-tick.ts';
import {
  chunkChanges,
  chunkLength,
  chunksPerCommit,
  headKey,
  type JournalHead,
  readJournal,
} from './journal-record.ts';
import { defaultGraceMs, outlast } from './outage.ts';
import type { Change, Storage } from '../contracts/storage.ts';

/** What goes with appended items into their commit. */
export interface AppendOptions<S> {
  /** The state after them. */
  readonly state?: S;
  /** Changes of other keys. Where two appends of one commit change the same key, the later one counts. */
  readonly changes?: readonly Change[];
}

/** A journal as its owner holds it. */
export interface Journal<S> {
  /**
   * Adds items. The items of one call are committed together, with the state and the changes, or not at all: no reader sees a part
   * of them. They are visible once `onCommit` has passed their number.
   */
  append(items: readonly string[], options?: AppendOptions<S>): void;
  /** Commits what was added, the head at least, and resolves when that is done. Rejects when the journal was lost. */
  flush(): Promise<void>;
}

/** What an owner needs to hold a journal. */
export interface JournalOptions<S> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly head: JournalHead<S>;
  /** The version of the head in the storage. */
  readonly version: string;
  readonly now: () => number;
  /** When commits are made that no caller waits for; at the end of the current turn when absent. */
  readonly tick?: CommitTick | undefined;
  readonly ttlMs: number;
  /**
   * How long commits of items alone leave the head as it is, where the storage can check a version; 0 when absent. Until then the
   * head's `seq` and `at` are behind.
   */
  readonly headMs?: number;
  /** How long a commit is repeated while the storage is out of reach; 10 s when absent. */
  readonly graceMs?: number | undefined;
  /** Everything up to this number is committed. */
  readonly onCommit: (seq: number) => void;
  /**
   * Nothing more will be committed: another owner has the journal, or the storage was out of reach for longer than the grace. Called
   * once. What was not committed by then may still be written.
   */
  readonly onLost: (error: PinnaceError) => void;
}

/** The most changes of one commit, besides the chunks and the head. */
const otherChanges = 70;

interface JournalAccess {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly graceMs: number;
}

/** What one `append` added. */
interface Group<S> extends AppendOptions<S> {
  readonly items: readonly string[];
}

/** Opens a journal for its owner. */
export function openJournal<S>(options: JournalOptions<S>): Journal<S> {
  const {
    storage,
    prefix,
    now,
    tick = createCommitTick(0, now),
    ttlMs,
    headMs = 0,
    graceMs = defaultGraceMs,
    onCommit,
    onLost,
  } = options;
  let { head, version } = options;
  let pending: Group<S>[] = [];
  let lost: PinnaceError | undefined;
  let headAt = head.at;

  /** Returns whether there was more than fits into one commit. */
  const commitOnce = async (): Promise<boolean> => {
    const { items, state, changes, rest } = takeCommit(pending);
    const next = { ...head, seq: head.seq + items.length, at: now(), state: state ?? head.state };
    const chunks = chunkChanges(prefix, items, { seq: head.seq, ttlMs });
    pending = rest; // grows while the commit is under way
    const hasMore = rest.length > 0;
    const isLight = storage.checks && state === undefined && changes.length === 0 && chunks.length > 0 &&
      next.at - headAt < headMs;
    if (isLight) {
      await commitChecked(
        { storage, prefix, graceMs, version },
        chunks.map((chunk) => ({ ...chunk, ifVersion: null })),
      );
    } else {
      const own: Change = { key: headKey(prefix), value: next, ifVersion: version, ttlMs };
      version = await commitSurely({ storage, prefix, graceMs }, [own, ...chunks, ...changes]);
      headAt = next.at;
    }
    head = next;
    onCommit(next.seq);
    return hasMore;
  };
  const work = async (): Promise<void> => {
    try {
      while (await commitOnce());
    } catch (error) {
      onLost(lost = toLost(error));
    }
  };
  const isDue = (): boolean => !lost && pending.length > 0;
  const schedule = createCommitSchedule({ work, isDue, tick, now });
  return {
    append(items, added = {}) {
      if (lost) return;
      pending.push({ items, ...added });
      schedule.request();
    },
    async flush() {
      const isEmpty = pending.length === 0;
      while (schedule.running) await schedule.running;
      // What was added may be committed by now: a commit of nothing could fail, and end a log that is complete.
      if (!lost && (isEmpty || pending.length > 0)) await schedule.run();
      if (lost) throw lost;
    },
  };
}

function toLost(error: unknown): PinnaceError {
  return error instanceof PinnaceError
    ? error
    : new PinnaceError('unavailable', 'The storage failed', { cause: error });
}

/**
 * Commits changes of which the first is the head's, and returns the head's new version. When the answer does not arrive, or the
 * storage reports a conflict, the head shows whether they were written: its fence and owner are this owner's alone. When they were
 * not, the very same changes are committed again, until the grace is over.
 */
async function commitSurely(
  { storage, prefix, graceMs }: JournalAccess,
  changes: readonly [Change, ...Change[]],
): Promise<string> {
  const [{ value, ifVersion }] = changes;
  const { fence, owner } = value as JournalHead<unknown>; // safe: made by the caller
  let conflicts = 0;
  return await outlast(async () => {
    const result = await storage.commit(changes).catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok) return result.version;
    const found = await readJournal(storage, prefix);
    if (found && found.version !== ifVersion && found.head.fence === fence && found.head.owner === owner) {
      return found.version;
    }
    if (found?.version === ifVersion) {
      if (result.ok === undefined) throw result.error;
      if (conflicts++ === 0) throw contradiction();
    }
    throw takenOver();
  }, graceMs);
}

/**
 * Commits chunks, and only checks the head. When the answer does not arrive, or the storage reports a conflict, the last chunk shows
 * whether they were written: only the owner of the head writes chunks.
 */
async function commitChecked(
  { storage, prefix, graceMs, version }: JournalAccess & { readonly version: string },
  chunks: readonly Change[],
): Promise<void> {
  let conflicts = 0;
  await outlast(async () => {
    const check: Change = { key: headKey(prefix), ifVersion: version, keep: true };
    const result = await storage.commit([check, ...chunks]).catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok) return;
    const found = await readJournal(storage, prefix);
    if (found?.version !== version) throw takenOver();
    const last = chunks.at(-1);
    if (last && await storage.get(last.key)) return;
    if (result.ok === undefined) throw result.error;
    if (conflicts++ === 0) throw contradiction();
    throw takenOver();
  }, graceMs);
}

function takenOver(): PinnaceError {
  return new PinnaceError('conflict', 'Cannot write the journal: another owner has taken it over');
}

function contradiction(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot write the journal: the storage reports a conflict, but the head is unchanged',
  );
}

/** Takes as many groups as fit into one commit, one at least. */
function takeCommit<S>(pending: readonly Group<S>[]) {
  const items: string[] = [];
  const changes = new Map<string, Change>();
  let state: S | undefined;
  let taken = 0;
  let length = 0;
  for (const group of pending) {
    const longer = group.items.reduce((sum, item) => sum + item.length, length);
    const more = changes.size + (group.changes?.length ?? 0);
    if (taken > 0 && (longer > chunkLength * chunksPerCommit || more > otherChanges)) break;
    for (const item of group.items) items.push(item);
    for (const change of group.changes ?? []) changes.set(JSON.stringify(change.key), change);
    if (group.state !== undefined) state = group.state;
    length = longer;
    taken++;
  }
  return { items, state, changes: [...changes.values()], rest: pending.slice(taken) };
}
