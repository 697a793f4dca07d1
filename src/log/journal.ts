/**
 * The append-only log over `Storage`. It has one owner, who holds the version of its head: taking the journal over changes that
 * version, and the former owner's next commit fails. Items that are appended during a commit go into the next one.
 */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Change, CommitResult, Storage } from '../contracts/storage.ts';
import { defaultGraceMs, hasKey, outlast } from './commits.ts';
import {
  chunkChanges,
  chunkLength,
  chunksPerCommit,
  headKey,
  type JournalHead,
  readJournal,
  type StoredJournal,
} from './journal-record.ts';

/** What goes with appended items into their commit. */
interface AppendOptions<S> {
  /** The state after them. */
  readonly state?: S;
  /** Changes of other keys. Where two appends of one commit change the same key, the later one counts. */
  readonly changes?: readonly Change[];
  /** Whether they are committed at the end of the task, and do not wait for the tick. */
  readonly soon?: boolean;
  /** Is left out where it conflicts. At the last append alone. */
  readonly optional?: OptionalChange | undefined;
}

/** A change of another key that the journal can do without. */
export interface OptionalChange {
  readonly change: Change;
  /** Called with the version of the commit, where the change is in it. */
  readonly onWritten: (version: string) => void;
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
interface JournalOptions<S> extends JournalOwner<S> {
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
      for (let running = schedule.running(); running; running = schedule.running()) await running;
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
  let optional: OptionalChange | undefined;
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
    optional ??= added?.optional;
    length = longer;
    taken++;
  }
  return { items, state, optional, changes: [...changes.values()], rest: pending.slice(taken) };
}

/** What an owner holds of a journal. */
interface JournalOwner<S> {
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
interface JournalWrite<S> {
  readonly items: readonly string[];
  readonly state: S | undefined;
  readonly optional: OptionalChange | undefined;
  readonly changes: readonly Change[];
}

/** Returns the function that commits, and resolves to the number of the last item. One call at a time. */
function createJournalCommit<S>(owner: JournalOwner<S>): (write: JournalWrite<S>) => Promise<number> {
  const { storage, prefix, now, ttlMs, headMs = 0, graceMs = defaultGraceMs } = owner;
  let { head, version } = owner;
  let headAt = head.at;
  return async ({ items, state, optional, changes }) => {
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
      version = await commitSurely({ ...access, optional }, [own, ...chunks, ...changes], isOwn);
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
  readonly optional?: OptionalChange | undefined;
}

/**
 * Commits changes of which the first is the head's, and returns the head's version. When the answer does not arrive, or the storage
 * reports a conflict, `isWritten` finds out whether they were written. When they were not, the very same changes are committed
 * again, until the grace is over.
 */
async function commitSurely(
  { storage, prefix, graceMs, optional }: JournalAccess,
  changes: readonly [Change, ...Change[]],
  isWritten: (found: StoredJournal<unknown>) => boolean | Promise<boolean>,
): Promise<string> {
  const [{ ifVersion }] = changes;
  let conflicts = 0;
  let extra = optional;
  const version = await outlast(async () => {
    const commit = async (): Promise<CommitResult> =>
      await storage.commit(extra ? [...changes, extra.change] : changes);
    let result = await commit().catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok === false && extra && hasKey(result.conflicts, extra.change.key)) {
      extra = undefined;
      result = await commit().catch((error: unknown) => ({ ok: undefined, error }));
    }
    if (result.ok) return result.version;
    const found = await readJournal(storage, prefix);
    if (found && await isWritten(found)) return found.version;
    if (found?.version === ifVersion) {
      if (result.ok === undefined) throw result.error;
      if (conflicts++ === 0) throw contradiction();
    }
    throw takenOver();
  }, graceMs);
  extra?.onWritten(version);
  return version;
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

/** A schedule of one log's commits. At most one runs at a time. */
interface CommitSchedule {
  /**
   * Lets the work run at the next tick; at the end of the task where `soon` is set, or where it has not run for a spacing.
   */
  request(options?: { readonly soon?: boolean | undefined }): void;
  /** Runs the work now, unless it is running. Resolves when it has run. */
  run(): Promise<void>;
  /** The run in progress. */
  running(): Promise<void> | undefined;
}

/** What a schedule runs, and when. */
interface CommitScheduleOptions {
  /** Never rejects. */
  readonly work: () => Promise<void>;
  /** Whether there is work left after a run. */
  readonly isDue: () => boolean;
  readonly tick: CommitTick;
  readonly now: () => number;
}

/** What is added in one task goes together: an end is never committed in two parts. */
function atEndOfTask(run: () => unknown): () => void {
  const timer = setTimeout(run);
  return () => clearTimeout(timer);
}

const turn = Promise.resolve();

function createCommitSchedule({ work, isDue, tick, now }: CommitScheduleOptions): CommitSchedule {
  let lastAt = -Infinity;
  let requested = false;
  let cancel: (() => void) | undefined;
  let running: Promise<void> | undefined;
  const execute = async (): Promise<void> => {
    lastAt = now();
    await turn; // the calls of a step are added one after the other, and go into one commit
    await work();
    running = undefined;
    if (isDue()) request();
  };
  const run = (): Promise<void> => {
    requested = false;
    cancel?.();
    cancel = undefined;
    return running ??= execute();
  };
  const request = ({ soon = false } = {}): void => {
    if (running || (requested && !soon)) return;
    cancel?.();
    requested = true;
    const mayWait = !soon && now() - lastAt < tick.spacingMs;
    cancel = mayWait || tick.spacingMs === 0 ? tick.wait(run) : atEndOfTask(run);
  };
  return {
    request,
    run,
    running: () => running,
  };
}

/** A tick. */
export interface CommitTick {
  /** The time between two ticks in milliseconds; 0: each turn is one. */
  readonly spacingMs: number;
  /** Calls back at the next tick. Returns the function that no longer waits. */
  wait(run: () => unknown): () => void;
}

/** Creates a tick. It has one timer, and only while something waits. */
export function createCommitTick(spacingMs: number, now: () => number): CommitTick {
  let waiting = new Set<() => unknown>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tick = (): void => {
    const due = waiting;
    waiting = new Set();
    for (const run of due) run();
  };
  const cancel = (run: () => unknown): void => {
    if (waiting.delete(run) && waiting.size === 0) clearTimeout(timer);
  };
  return {
    spacingMs,
    wait(run) {
      if (waiting.size === 0) {
        if (spacingMs === 0) queueMicrotask(tick);
        else timer = setTimeout(tick, spacingMs - (now() % spacingMs));
      }
      waiting.add(run);
      return () => cancel(run);
    },
  };
}
