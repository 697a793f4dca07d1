/**
 * The append-only log over `Storage`. It has one owner, who holds the version of its head: whoever takes the journal over changes
 * that version, and the former owner's next commit fails. What is appended while a commit is under way goes with the next one.
 */

import { PinnaceError } from './errors.ts';
import type { Key } from './key.ts';
import type { Change, Entry, Storage } from './ports.ts';

/** The head of a journal: one small value, checked by every commit. */
export interface JournalHead<S> {
  /** The number of the last item, from 1; 0 for none. */
  readonly seq: number;
  /** Counts the owners. */
  readonly fence: number;
  /** When it was last committed, in milliseconds since 1970: a sign of life of its owner. */
  readonly at: number;
  readonly state: S;
}

/** A journal as its owner holds it. */
export interface Journal<S> {
  /** Adds items, and what the state is after them. They are seen when `onCommit` tells their number. */
  append(items: readonly string[], state?: S): void;
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
  /** The time between two commits, unless one is asked for. */
  readonly spacingMs: number;
  readonly ttlMs: number;
  /** Everything up to this number is committed. */
  readonly onCommit: (seq: number) => void;
  /** Nothing more will be committed: another owner has the journal, or the storage does not answer. Called once. */
  readonly onLost: (error: PinnaceError) => void;
}

/** The most text that is put into one chunk; Deno KV takes 64 KiB a value. */
const chunkLength = 24_000;
const chunksPerCommit = 20;

/** The key of a journal's head. */
export function headKey(prefix: Key): Key {
  return [...prefix, 'head'];
}

/** The change that creates a journal, to be part of the caller's commit. */
export function creation(prefix: Key, { state, at, ttlMs }: { state: unknown; at: number; ttlMs: number }): Change {
  const head: JournalHead<unknown> = { seq: 0, fence: 1, at, state };
  return { key: headKey(prefix), value: head, ifVersion: null, ttlMs };
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

/** Takes a journal over from an owner who gives no sign of life. Conflicts when another did so first. */
export async function takeOver<S>(
  { storage, prefix, now, ttlMs }: { storage: Storage; prefix: Key; now: () => number; ttlMs: number },
): Promise<{ readonly head: JournalHead<S>; readonly version: string } | undefined> {
  const found = await readHead<S>(storage, prefix);
  if (!found) return undefined;
  const head = { ...found.head, fence: found.head.fence + 1, at: now() };
  const result = await storage.commit([{ key: headKey(prefix), value: head, ifVersion: found.version, ttlMs }]);
  return result.ok ? { head, version: result.version } : undefined;
}

/** Gives the journal to its owner. */
export function openJournal<S>(options: JournalOptions<S>): Journal<S> {
  const { storage, prefix, now, spacingMs, ttlMs, onCommit, onLost } = options;
  let { head, version } = options;
  let pending: string[] = [];
  let dirty = false;
  let lost: PinnaceError | undefined;
  let lastAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running: Promise<void> | undefined;

  /** Answers whether there was more than one commit takes. */
  const commitOnce = async (): Promise<boolean> => {
    const { chunks, rest, count } = cutChunks(pending, [...prefix, 'j'], head.seq, ttlMs);
    const next = { ...head, seq: head.seq + count, at: now() };
    pending = rest;
    dirty = false;
    const result = await storage.commit([{ key: headKey(prefix), value: next, ifVersion: version, ttlMs }, ...chunks]);
    if (!result.ok) throw new PinnaceError('conflict', 'Cannot go on with the journal: another owner has it');
    // `append` may have set another state while the commit was under way.
    head = { ...next, state: head.state };
    version = result.version;
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
      if (dirty) schedule();
    }
  };
  const start = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    return running ??= run();
  };
  const schedule = (): void => {
    if (running || lost || timer !== undefined) return;
    const waitMs = Math.min(spacingMs, Math.max(0, lastAt + spacingMs - now()));
    timer = setTimeout(() => void start(), waitMs);
  };
  return {
    append(items, state) {
      if (lost) return;
      for (const item of items) pending.push(item);
      if (state !== undefined) head = { ...head, state };
      dirty = true;
      schedule();
    },
    async flush() {
      if (running) await running;
      if (!lost) await start();
      if (lost) throw lost;
    },
  };
}

/** Cuts as many chunks as one commit takes. */
function cutChunks(items: readonly string[], key: Key, seq: number, ttlMs: number) {
  const chunks: Change[] = [];
  let start = 0;
  for (let length = 0, i = 0; i < items.length && chunks.length < chunksPerCommit; i++) {
    length += items[i]?.length ?? 0;
    const next = items[i + 1]?.length ?? Infinity;
    if (length + next <= chunkLength) continue;
    chunks.push({ key: [...key, seq + i + 1], value: items.slice(start, i + 1), ttlMs });
    start = i + 1;
    length = 0;
  }
  return { chunks, rest: items.slice(start), count: start };
}
