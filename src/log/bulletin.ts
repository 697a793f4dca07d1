/**
 * Messages to every instance that shares a storage: an invalidation, a cancel, a revocation. A publisher writes a message and
 * increments the head in one commit; a subscriber watches the head and reads each new message once and in order.
 */

import { PinnaceError } from '../base/errors.ts';
import { canonicalJson } from '../base/json.ts';
import type { Key } from '../base/key.ts';
import type { Change, Storage, Watchable } from '../contracts/storage.ts';
import { commitOwn, readPages } from './commits.ts';

const pollMs = 250;

/** Calls back after the value under the key may have changed, until the returned function is called. */
export function watchKey(storage: Storage & Partial<Watchable>, key: Key, onNews: () => void): () => void {
  if (storage.watch) {
    const stop = new AbortController();
    storage.watch([key], { signal: stop.signal, onNews });
    return () => stop.abort();
  }
  const timer = setInterval(onNews, pollMs);
  return () => clearInterval(timer);
}

/** The news of a stored value, for a reader that reads again after each. */
export interface News {
  /** Resolves when something may have changed since it last resolved, and after the end of the news. */
  next(): Promise<void>;
  /** Ends the news. */
  stop(): void;
}

/** Waits for news that `watch` reports, until the signal aborts. */
export function createNews(watch: (onNews: () => void) => () => void, signal?: AbortSignal): News {
  let wake = Promise.withResolvers<void>();
  let isOver = false;
  const unwatch = watch(() => wake.resolve());
  const stop = (): void => {
    isOver = true;
    signal?.removeEventListener('abort', stop);
    unwatch();
    wake.resolve();
  };
  signal?.addEventListener('abort', stop, { once: true });
  if (signal?.aborted) stop();
  return {
    stop,
    async next() {
      await wake.promise;
      if (!isOver) wake = Promise.withResolvers();
    },
  };
}

/** A list of messages with many publishers and subscribers. */
export interface Bulletin<M> {
  /** Resolves when the message is stored. @throws PinnaceError `unavailable` when the storage refuses it. */
  publish(message: M): Promise<void>;
  /** Calls back with each message published from now on, here or elsewhere, until the signal aborts. */
  subscribe(listener: (message: M) => void, signal: AbortSignal): void;
  /** Reads all that was published before, without waiting for the storage's news. */
  refresh(): Promise<void>;
  /** The number of the last message read, also while its listeners run; `undefined` before the first read. It only grows. */
  readonly position: number | undefined;
  /** Makes a commit conflict where more was published than is read here; `undefined` before the first read. Writes nothing. */
  readonly check: Change | undefined;
}

/** Longer than a subscriber may be without news before it reads by itself. */
const ttlMs = 3_600_000;
const maxTries = 50;

/** Opens the bulletin of this name. */
export function createBulletin<M>(storage: Storage, name: string): Bulletin<M> {
  const head: Key = ['bulletin', name];
  const messages: Key = ['bulletin-message', name];
  const listeners = new Set<(message: M) => void>();
  let position: number | undefined;
  let version: string | null | undefined;
  /** The last read that was started, and the one after it, for all callers meanwhile. */
  let current: Promise<void> = Promise.resolve();
  let following: Promise<void> | undefined;
  const read = async (): Promise<void> => {
    const entry = await storage.get(head);
    const last = countOf(entry);
    position ??= last; // a new subscriber starts with now
    if (position < last) await readUntil(last);
    version = entry?.version ?? null;
  };
  const readUntil = async (last: number): Promise<void> => {
    const after: Key = [...messages, position ?? last];
    for await (const page of readPages(storage, { prefix: messages, after, limit: 100 })) {
      for (const { key, value } of page) {
        position = Number(key.at(-1));
        for (const listener of listeners) listener(value as M); // only `publish` writes it
      }
    }
    position = Math.max(position ?? last, last); // messages expire
  };
  const readNext = async (): Promise<void> => {
    await current.catch(() => undefined);
    following = undefined;
    current = read();
    await current;
  };
  const refresh = (): Promise<void> => following ??= readNext();
  return {
    refresh,
    get position() {
      return position;
    },
    get check() {
      return version === undefined ? undefined : { key: head, ifVersion: version, keep: true } as const;
    },
    async publish(message) {
      await publish(storage, { name, head, messages, message });
      await refresh();
    },
    subscribe(listener, signal) {
      listeners.add(listener);
      void refresh().catch(() => undefined); // the next news tries again
      const stop = watchKey(storage, head, () => void refresh().catch(() => undefined));
      signal.addEventListener('abort', () => {
        listeners.delete(listener);
        stop();
      }, { once: true });
    },
  };
}

interface Publication {
  readonly name: string;
  readonly head: Key;
  readonly messages: Key;
  readonly message: unknown;
}

/** Appends a message: writes it and increments the head in one commit. */
async function publish(storage: Storage, { name, head, messages, message }: Publication): Promise<void> {
  for (let tries = 0; tries < maxTries; tries++) {
    const entry = await storage.get(head);
    const next = countOf(entry) + 1;
    const result = await commitOwn(storage, [
      { key: head, value: next, ifVersion: entry?.version ?? null },
      { key: [...messages, next], value: message, ttlMs },
    ], {
      // An equal message under this number has the same effect.
      written: async () => {
        const found = await storage.get([...messages, next]);
        return found && canonicalJson(found.value) === canonicalJson(message) ? found.version : undefined;
      },
    });
    if (result.ok) return;
  }
  throw new PinnaceError(
    'unavailable',
    `Cannot publish on "${name}": too many instances publish at the same time; try again`,
    { details: { reason: 'storage_contended' } },
  );
}

function countOf(entry: { readonly value: unknown } | undefined): number {
  return typeof entry?.value === 'number' ? entry.value : 0;
}
