/**
 * The append-only log over `Storage`. It has one owner, who holds the version of its head: whoever takes the journal over changes
 * that version, and the former owner's next commit fails. What is appended while a commit is under way goes with the next one.
 */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { commitOwn, defaultGraceMs, outlast } from './outage.ts';
import type { Change, Entry, Storage } from '../contracts/storage.ts';

/** The head of a journal: one small value, checked by every commit. */
export interface JournalHead<S> {
  /** The number of the last item, from 1; 0 for none. */
  readonly seq: number;
  /** Counts the owners. */
  readonly fence: number;
  /** Names the owner, where it took the journal over: two that do at once write the same fence. */
  readonly owner?: string;
  /** When it was last committed, in milliseconds since 1970: a sign of life of its owner. */
  readonly at: number;
  readonly state: S;
}

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
   * Adds items. Those of one call are committed together, with the state and the changes, or not at all: nobody reads a part of
   * them. They are seen when `onCommit` tells their number.
   */
  append(items: readonly string[], options?: AppendOptions<S>): void;
  /** Commits what was added, the head at least, and resolves when that is done. Rejects when the journal was lost. */
  flush(): Promise<void>;
}

/** What an owner gives to hold a journal. */
export interface JournalOptions<S> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly head: JournalHead<S>;
  /** The version of the head in the storage. */
  readonly version: string;
  readonly now: () => number;
  /** The time between two commits, unless one is asked for; 0: as soon as whatever runs now has run, and no timer is set. */
  readonly spacingMs: number;
  readonly ttlMs: number;
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

/** The most text that is put into one chunk; Deno KV takes 64 KiB a value. A commit of more text has longer chunks instead. */
const chunkLength = 24_000;
const chunksPerCommit = 20;
/** The most changes of one commit, beside the chunks and the head. */
const otherChanges = 70;

/** The key of a journal's head. */
export function headKey(prefix: Key): Key {
  return [...prefix, 'head'];
}

/** The change that creates a journal, to be part of the caller's commit. */
export function creation(prefix: Key, { state, at, ttlMs }: { state: unknown; at: number; ttlMs: number }): Change {
  const head: JournalHead<unknown> = { seq: 0, fence: 1, at, state };
  return { key: headKey(prefix), value: head, ifVersion: null, ttlMs };
}

/** The changes that create a journal which has items from the start, with its head; the head's is the first. */
export function creationWith<S>(
  prefix: Key,
  { state, at, ttlMs, items }: {
    readonly state: S;
    readonly at: number;
    readonly ttlMs: number;
    readonly items: readonly string[];
  },
): { readonly head: JournalHead<S>; readonly changes: readonly Change[] } {
  const head: JournalHead<S> = { seq: items.length, fence: 1, at, state };
  const length = items.reduce((sum, item) => sum + item.length, 0);
  const most = Math.max(chunkLength, length / chunksPerCommit);
  const chunks = cutChunks(items, [...prefix, 'j'], { seq: 0, ttlMs, most });
  return { head, changes: [{ key: headKey(prefix), value: head, ifVersion: null, ttlMs }, ...chunks] };
}

/** Reads the head, with its version. The schema of the state is its writer's. */
export async function readHead<S>(
  storage: Storage,
  prefix: Key,
): Promise<{ readonly head: JournalHead<S>; readonly version: string } | undefined> {
  const entry = await storage.get(headKey(prefix));
  return entry && { head: entry.value as JournalHead<S>, version: entry.version }; // written by this module alone
}

/** Reads the items behind `after` in one page of at least one chunk; none when there are no more. */
export async function readItems(
  storage: Storage,
  prefix: Key,
  after: number,
): Promise<readonly { readonly seq: number; readonly item: string }[]> {
  const items = [...prefix, 'j'];
  // A chunk is named by the number of its last item, so those behind `after` are the ones to read.
  const chunks = await storage.list({ prefix: items, after: [...items, after], limit: 8 });
  return chunks.flatMap(itemsOf).filter(({ seq }) => seq > after);
}

function itemsOf({ key, value }: Entry): { seq: number; item: string }[] {
  const items = value as readonly string[]; // written by this module alone
  const last = Number(key.at(-1));
  return items.map((item, i) => ({ seq: last - items.length + 1 + i, item }));
}

/**
 * Takes a journal over from an owner who gives no sign of life; `undefined` when there is none, when another owner was faster, or
 * when `when` says that it is not to be taken.
 */
export async function takeOver<S>(
  { storage, prefix, now, ttlMs, when = () => true }: {
    storage: Storage;
    prefix: Key;
    now: () => number;
    ttlMs: number;
    when?: (head: JournalHead<S>) => boolean;
  },
): Promise<{ readonly head: JournalHead<S>; readonly version: string } | undefined> {
  const found = await readHead<S>(storage, prefix);
  if (!found || !when(found.head)) return undefined;
  const head = { ...found.head, fence: found.head.fence + 1, owner: crypto.randomUUID(), at: now() };
  const result = await commitOwn(storage, [{ key: headKey(prefix), value: head, ifVersion: found.version, ttlMs }], {
    written: async () => {
      const stored = await readHead(storage, prefix);
      return stored?.head.owner === head.owner ? stored.version : undefined;
    },
  });
  return result.ok ? { head, version: result.version } : undefined;
}

/** What one `append` added. */
interface Group<S> extends AppendOptions<S> {
  readonly items: readonly string[];
}

/** Gives the journal to its owner. */
export function openJournal<S>(options: JournalOptions<S>): Journal<S> {
  const { storage, prefix, now, spacingMs, ttlMs, graceMs = defaultGraceMs, onCommit, onLost } = options;
  let { head, version } = options;
  let pending: Group<S>[] = [];
  let lost: PinnaceError | undefined;
  let lastAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let scheduled = false;
  let running: Promise<void> | undefined;

  /** Answers whether there was more than one commit takes. */
  const commitOnce = async (): Promise<boolean> => {
    const { chunks, count, state = head.state, changes, rest } = cutCommit(pending, { prefix, seq: head.seq, ttlMs });
    const next = { ...head, seq: head.seq + count, at: now(), state };
    pending = rest;
    const own: Change = { key: headKey(prefix), value: next, ifVersion: version, ttlMs };
    version = await commitSurely({ storage, prefix, graceMs }, [own, ...chunks, ...changes]);
    head = next;
    lastAt = now();
    onCommit(next.seq);
    return rest.length > 0;
  };
  const run = async (): Promise<void> => {
    try {
      while (await commitOnce());
    } catch (error) {
      lost = error instanceof PinnaceError
        ? error
        : new PinnaceError('unavailable', 'The storage failed', { cause: error });
      onLost(lost);
    } finally {
      running = undefined;
      if (pending.length > 0) schedule();
    }
  };
  const start = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    scheduled = false;
    return running ??= run();
  };
  const schedule = (): void => {
    if (running || lost || scheduled) return;
    scheduled = true;
    if (spacingMs === 0) return queueMicrotask(() => void (scheduled && start()));
    const waitMs = Math.min(spacingMs, Math.max(0, lastAt + spacingMs - now()));
    timer = setTimeout(() => void start(), waitMs);
  };
  return {
    append(items, added = {}) {
      if (lost) return;
      pending.push({ items, ...added });
      schedule();
    },
    async flush() {
      if (running) await running;
      if (!lost) await start();
      if (lost) throw lost;
    },
  };
}

/**
 * Commits changes of which the first is the head's, and returns the head's new version. When the answer does not arrive, or the
 * storage reports a conflict, the head shows whether they were written: its fence and owner are this owner's alone. When they were
 * not, the very same changes are committed again, until the grace is over.
 */
async function commitSurely(
  { storage, prefix, graceMs }: { readonly storage: Storage; readonly prefix: Key; readonly graceMs: number },
  changes: readonly [Change, ...Change[]],
): Promise<string> {
  const [{ value, ifVersion }] = changes;
  const { fence, owner } = value as JournalHead<unknown>; // safe: made by the caller
  let conflicts = 0;
  return await outlast(async () => {
    const result = await storage.commit(changes).catch((error: unknown) => ({ ok: undefined, error }));
    if (result.ok) return result.version;
    const found = await readHead(storage, prefix);
    if (found && found.version !== ifVersion && found.head.fence === fence && found.head.owner === owner) {
      return found.version;
    }
    if (found?.version === ifVersion) {
      if (result.ok === undefined) throw result.error;
      if (conflicts++ === 0) throw contradiction();
    }
    throw new PinnaceError('conflict', 'Cannot go on with the journal: another owner has it');
  }, graceMs);
}

/** The storage reports a conflict, and the head is what it was. */
function contradiction(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot write the journal: the storage reports a conflict that is none');
}

/** Takes as many groups as one commit takes, one at least, and cuts their items into chunks. */
function cutCommit<S>(
  pending: readonly Group<S>[],
  { prefix, seq, ttlMs }: { readonly prefix: Key; readonly seq: number; readonly ttlMs: number },
) {
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
  const chunks = cutChunks(items, [...prefix, 'j'], {
    seq,
    ttlMs,
    most: Math.max(chunkLength, length / chunksPerCommit),
  });
  return { chunks, count: items.length, state, changes: [...changes.values()], rest: pending.slice(taken) };
}

/** Cuts items into chunks of at most so much text, or of one item. */
function cutChunks(
  items: readonly string[],
  key: Key,
  { seq, ttlMs, most }: { readonly seq: number; readonly ttlMs: number; readonly most: number },
): Change[] {
  const chunks: Change[] = [];
  let start = 0;
  for (let length = 0, i = 0; i < items.length; i++) {
    length += items[i]?.length ?? 0;
    const next = items[i + 1]?.length ?? Infinity;
    if (length + next <= most) continue;
    chunks.push({ key: [...key, seq + i + 1], value: items.slice(start, i + 1), ttlMs });
    start = i + 1;
    length = 0;
  }
  return chunks;
}
