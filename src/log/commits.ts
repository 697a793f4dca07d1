/** Retries while a storage is out of reach: a short outage delays work and does not end it. */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Change, CommitResult, Entry, Storage, Watchable } from '../contracts/storage.ts';

/** How long calls are repeated while a storage is out of reach. */
export const defaultGraceMs = 10_000;
const firstWaitMs = 50;
const longestWaitMs = 500;

/** Returns whether the same call may succeed a moment later. */
function mayPass(error: unknown): boolean {
  if (!(error instanceof PinnaceError)) return true; // a network error that the adapter did not translate
  return error.code === 'unavailable' && error.retryable;
}

/**
 * Retries idempotent work while it fails as in an outage: once immediately, then with growing, random pauses until `graceMs` have
 * passed since the first failure. Sets no timer unless the work fails. Rejects with the last error; an attempt in progress when the
 * grace ends is abandoned.
 */
export async function outlast<T>(work: () => Promise<T>, graceMs: number): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!mayPass(error)) throw error;
    return graceMs > 0 ? await repeat(work, { graceMs, last: error }) : await work();
  }
}

async function repeat<T>(
  work: () => Promise<T>,
  { graceMs, last }: { readonly graceMs: number; last: unknown },
): Promise<T> {
  const { promise: over, resolve: end } = Promise.withResolvers<'over'>();
  const deadline = setTimeout(() => end('over'), graceMs);
  try {
    for (let waitMs = firstWaitMs;; waitMs = Math.min(2 * waitMs, longestWaitMs)) {
      const attempt = work().then((value) => ({ value }), (error: unknown) => ({ error }));
      const outcome = await Promise.race([attempt, over]);
      if (outcome === 'over') throw last;
      if ('value' in outcome) return outcome.value;
      if (!mayPass(outcome.error)) throw outcome.error;
      last = outcome.error;
      if (await pause(waitMs, over) === 'over') throw last;
    }
  } finally {
    clearTimeout(deadline);
  }
}

/** Waits a random time from half of `waitMs` to all of it, so that instances do not retry at the same time. */
async function pause(waitMs: number, over: Promise<'over'>): Promise<unknown> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, waitMs * (1 + Math.random()) / 2);
  return await Promise.race([promise, over]).finally(() => clearTimeout(timer));
}

/** Returns the same storage with other calls: all that it says of itself stays. */
export function withCalls(
  storage: Storage & Partial<Watchable>,
  calls: Pick<Storage, 'get' | 'list' | 'commit'>,
): Storage & Partial<Watchable> {
  return {
    ...(storage.checks && { checks: true }),
    ...(storage.presence && { presence: storage.presence }),
    ...(storage.watch && { watch: storage.watch.bind(storage) }),
    ...calls,
  };
}

/**
 * Returns the same storage, which retries idempotent calls during an outage: reads, lists, and commits without an `ifVersion`. Other
 * commits are passed on as they are.
 */
export function steadyStorage(
  storage: Storage & Partial<Watchable>,
  graceMs: number,
): Storage & Partial<Watchable> {
  return withCalls(storage, {
    get: (key) => outlast(() => storage.get(key), graceMs),
    list: (options) => outlast(() => storage.list(options), graceMs),
    commit: (changes) =>
      changes.some(({ ifVersion }) => ifVersion !== undefined)
        ? storage.commit(changes)
        : outlast(() => storage.commit(changes), graceMs),
  });
}

/** Whether the keys include the key. */
export function hasKey(keys: readonly Key[], key: Key): boolean {
  const text = JSON.stringify(key);
  return keys.some((one) => JSON.stringify(one) === text);
}

/** How a commit recognizes itself. */
interface OwnCommit {
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

/** A head as it was read or written. */
export interface Head<H> {
  readonly value: H;
  readonly version: string;
}

/** A new head, and what belongs to it. */
interface HeadCommit<H> {
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

/** Reads the entries under `prefix` behind `after`, `limit` at a time. Returns no empty page. */
export async function* readPages(
  storage: Pick<Storage, 'list'>,
  { after, ...options }: { readonly prefix: Key; readonly after?: Key | undefined; readonly limit: number },
): AsyncGenerator<readonly Entry[], void> {
  for (let last = after;;) {
    const page = await storage.list({ ...options, ...(last && { after: last }) });
    if (page.length > 0) yield page;
    if (page.length < options.limit) return;
    last = page.at(-1)?.key;
  }
}

const keysPerCommit = 100;

/** Removes keys, as many per commit as a storage takes: after an outage some may remain. */
export async function removeKeys(storage: Pick<Storage, 'commit'>, keys: readonly Key[]): Promise<void> {
  for (let at = 0; at < keys.length; at += keysPerCommit) {
    await storage.commit(keys.slice(at, at + keysPerCommit).map((key) => ({ key })));
  }
}
