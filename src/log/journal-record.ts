/** How a journal is stored: a head, and the items in chunks that are named by the number of their last item. */

import type { Key } from '../base/key.ts';
import type { Change, Entry, Storage } from '../contracts/storage.ts';
import { commitHead, readHead } from './commits.ts';

/** The head of a journal: one small value, checked by every commit. */
export interface JournalHead<S> {
  /** The number of the last item, from 1; 0 for none. */
  readonly seq: number;
  /** Counts the owners. */
  readonly fence: number;
  /** Names an owner that took the journal over: two that do so at the same time write the same fence. */
  readonly owner?: string;
  /** The instance that owns it. Absent in records of version 0.2, and where the owner has a sign of life of its own. */
  readonly instance?: string;
  /** When it was last committed, in milliseconds since 1970. */
  readonly at: number;
  readonly state: S;
}

/** A head with its version in the storage. */
export interface StoredJournal<S> {
  readonly head: JournalHead<S>;
  readonly version: string;
}

/** The most text of a chunk with several items: readers read eight chunks at a time. */
export const chunkLength = 24_000;
/** The most chunks of a commit. Where it has more text, its chunks are longer. */
export const chunksPerCommit = 20;
const chunksPerRead = 8;

/** The key of a journal's head. */
export function headKey(prefix: Key): Key {
  return [...prefix, 'head'];
}

/** Reads the number of the last item: the head may be behind. */
export async function readLastSeq(storage: Storage, prefix: Key, from: number): Promise<number> {
  for (let seq = from;;) {
    const last = (await readItems(storage, prefix, seq)).at(-1);
    if (!last) return seq;
    ({ seq } = last);
  }
}

/** Reads the head, with its version. The schema of the state is the caller's. */
export async function readJournal<S>(storage: Storage, prefix: Key): Promise<StoredJournal<S> | undefined> {
  const found = await readHead<JournalHead<S>>(storage, headKey(prefix));
  return found && { head: found.value, version: found.version };
}

/** Reads the items behind `after` in one page of at least one chunk; none when there are no more. */
export async function readItems(
  storage: Storage,
  prefix: Key,
  after: number,
): Promise<readonly { readonly seq: number; readonly item: string }[]> {
  const key = chunksKey(prefix);
  const chunks = await storage.list({ prefix: key, after: [...key, after], limit: chunksPerRead });
  return chunks.flatMap(itemsOf).filter(({ seq }) => seq > after);
}

function itemsOf({ key, value }: Entry): { seq: number; item: string }[] {
  const items = value as readonly string[]; // only `chunkChanges` writes it
  const last = Number(key.at(-1));
  return items.map((item, i) => ({ seq: last - items.length + 1 + i, item }));
}

/** What a new journal starts with. */
interface NewJournal<S> {
  readonly state: S;
  readonly at: number;
  readonly ttlMs: number;
  readonly items?: readonly string[];
  /** The number of the last item, where items are left out behind these; their count when absent. */
  readonly seq?: number;
  readonly instance?: string | undefined;
}

/** The changes that create a journal, to be part of the caller's commit; the head's is the first. */
export function creation<S>(
  prefix: Key,
  { state, at, ttlMs, items = [], seq = items.length, instance }: NewJournal<S>,
): { readonly head: JournalHead<S>; readonly changes: readonly Change[] } {
  const head: JournalHead<S> = { seq, fence: 1, ...(instance !== undefined && { instance }), at, state };
  const chunks = chunkChanges(prefix, items, { seq: 0, ttlMs });
  return { head, changes: [{ key: headKey(prefix), value: head, ifVersion: null, ttlMs }, ...chunks] };
}

/** The changes that add the items behind number `seq`: at most about {@link chunksPerCommit}, of one item at least. */
export function chunkChanges(
  prefix: Key,
  items: readonly string[],
  { seq, ttlMs }: { readonly seq: number; readonly ttlMs: number },
): Change[] {
  const total = items.reduce((sum, item) => sum + item.length, 0);
  const most = Math.max(chunkLength, total / chunksPerCommit);
  const chunks: Change[] = [];
  let start = 0;
  for (let length = 0, i = 0; i < items.length; i++) {
    length += items[i]?.length ?? 0;
    const next = items[i + 1]?.length ?? Infinity;
    if (length + next <= most) continue;
    chunks.push({ key: [...chunksKey(prefix), seq + i + 1], value: items.slice(start, i + 1), ifVersion: null, ttlMs });
    start = i + 1;
    length = 0;
  }
  return chunks;
}

function chunksKey(prefix: Key): Key {
  return [...prefix, 'j'];
}

/** Which journal to take over, and when. */
interface TakeOverOptions<S> {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly now: () => number;
  readonly ttlMs: number;
  /** Whether to take over a journal with this head; always when absent. */
  readonly when?: (head: JournalHead<S>) => boolean;
  /** The state of the new owner; unchanged when absent. */
  readonly next?: (state: S) => S;
  /** The instance of the new owner. */
  readonly instance?: string;
  /** What is committed with it, or must hold for it. */
  readonly changes?: readonly Change[];
}

/**
 * Takes a journal over; the former owner's next commit then fails. Returns `undefined` when there is no journal, when another owner
 * was first, or when `when` returns false.
 */
export async function takeOver<S>(options: TakeOverOptions<S>): Promise<StoredJournal<S> | undefined> {
  const { storage, prefix, now, ttlMs, when = () => true, next = (state) => state, instance, changes = [] } = options;
  const found = await readJournal<S>(storage, prefix);
  if (!found || !when(found.head)) return undefined;
  const { head: before } = found;
  const owned = {
    state: next(before.state),
    fence: before.fence + 1,
    owner: crypto.randomUUID(),
    at: now(),
    ...(instance !== undefined && { instance }),
  };
  const head = { ...before, ...owned };
  const own = ({ owner }: JournalHead<S>): boolean => owner === head.owner;
  const result = await commitHead(storage, { key: headKey(prefix), value: head, before: found, ttlMs, own, changes });
  if (!result.ok) return undefined;
  // The former owner can add no more, so what is read now is all.
  return { head: { ...head, seq: await readLastSeq(storage, prefix, head.seq) }, version: result.version };
}
