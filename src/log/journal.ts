/**
 * The append-only log over `Storage`. It has one owner, who holds the version of its head: taking the journal over changes that
 * version, and the former owner's next commit fails. Items that are appended during a commit go into the next one.
 */

import { PinnaceError } from '../base/errors.ts';
import { createCommitSchedule } from './commit-schedule.ts';
import { type CommitTick, createCommitTick } from './commit-tick.ts';
import { createJournalCommit, type JournalOwner } from './journal-commit.ts';
import { chunkLength, chunksPerCommit } from './journal-record.ts';
import type { Change } from '../contracts/storage.ts';

/** What goes with appended items into their commit. */
export interface AppendOptions<S> {
  /** The state after them. */
  readonly state?: S;
  /** Changes of other keys. Where two appends of one commit change the same key, the later one counts. */
  readonly changes?: readonly Change[];
  /** Whether they are committed at the end of the task, and do not wait for the tick. */
  readonly soon?: boolean;
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
export interface JournalOptions<S> extends JournalOwner<S> {
  /** When commits are made that no caller waits for; at the end of the current turn when absent. */
  readonly tick?: CommitTick | undefined;
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

/** What one `append` added. */
interface Group<S> {
  readonly items: readonly string[];
  readonly added: AppendOptions<S> | undefined;
}

/** Opens a journal for its owner. */
export function openJournal<S>(options: JournalOptions<S>): Journal<S> {
  const { now, tick = createCommitTick(0, now), onCommit, onLost } = options;
  const commit = createJournalCommit(options);
  let pending: Group<S>[] = [];
  let lost: PinnaceError | undefined;

  /** Returns whether there was more than fits into one commit. */
  const commitOnce = async (): Promise<boolean> => {
    const { rest, ...taken } = takeCommit(pending);
    pending = rest; // grows while the commit is under way
    const hasMore = rest.length > 0;
    onCommit(await commit(taken));
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
    append(items, added) {
      if (lost) return;
      pending.push({ items, added });
      schedule.request(added);
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
    : new PinnaceError('unavailable', 'The storage failed', { cause: error, details: { reason: 'storage_failed' } });
}

/** Takes as many groups as fit into one commit, one at least. */
function takeCommit<S>(pending: readonly Group<S>[]) {
  const items: string[] = [];
  const changes = new Map<string, Change>();
  let state: S | undefined;
  let taken = 0;
  let length = 0;
  for (const { items: more, added } of pending) {
    let longer = length;
    for (const item of more) longer += item.length;
    const count = changes.size + (added?.changes?.length ?? 0);
    if (taken > 0 && (longer > chunkLength * chunksPerCommit || count > otherChanges)) break;
    for (const item of more) items.push(item);
    for (const change of added?.changes ?? []) changes.set(JSON.stringify(change.key), change);
    if (added?.state !== undefined) state = added.state;
    length = longer;
    taken++;
  }
  return { items, state, changes: [...changes.values()], rest: pending.slice(taken) };
}
