/** Revokes sessions: adds to the denylist, checks it, and calls listeners during runs. */

import type { Storage } from '../../../src/contracts/storage.ts';
import { type Denylist, readDenylist, type Revocable, type Revocation, toChange } from './denylist.ts';
import { refusal } from './refusal.ts';

/** The denylist of an endpoint. */
export interface Revocations {
  /** Adds to the list. It takes effect here at once, and on other instances when their copy is too old. */
  revoke(revocation: Revocation): Promise<void>;
  /**
   * Whether this session is revoked.
   *
   * @throws PinnaceError `overloaded` where the list cannot be read: no session is accepted then.
   */
  isRevoked(session: Revocable): Promise<boolean>;
  /** Calls the listener once when this session is revoked. Returns the function that removes it. */
  onRevoked(session: Revocable, listener: () => void): () => void;
}

/** What {@link createRevocations} works with. */
export interface RevocationOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long a copy of the list is used. */
  readonly maxAgeMs?: number;
  /** Repeats a task until the returned function is called. Used only while there are listeners. */
  readonly every?: (intervalMs: number, task: () => void) => () => void;
}

/** Stores the denylist, and caches a copy of it for a short time. */
export function createRevocations(options: RevocationOptions): Revocations {
  const { storage, now } = options;
  const watchers = createWatchers(options);
  const copy = createCopy({ ...options, onRead: (list) => watchers.notify(list) });
  return {
    async revoke(revocation) {
      await storage.commit([toChange(revocation, now())]);
      await copy.renew();
    },
    async isRevoked(session) {
      const list = await copy.current().catch((error: unknown) => {
        throw refusal('overloaded', { cause: error });
      });
      return list.has(session);
    },
    // A failed read is repeated the next time; requests are rejected meanwhile.
    onRevoked: (session, listener) => watchers.add({ session, listener }, () => void copy.current().catch(() => {})),
  };
}

const defaultMaxAgeMs = 5000;

interface Copy {
  current(): Promise<Denylist>;
  renew(): Promise<Denylist>;
}

function createCopy(
  { storage, now, maxAgeMs = defaultMaxAgeMs, onRead }: RevocationOptions & {
    readonly onRead: (list: Denylist) => void;
  },
): Copy {
  let last: { readonly list: Denylist; readonly readAt: number; readonly turn: number } | undefined;
  let turns = 0;
  let reading: Promise<Denylist> | undefined;

  async function renew(): Promise<Denylist> {
    const [turn, readAt] = [++turns, now()];
    const list = await readDenylist(storage);
    // A slow read that started before another must not overwrite its result.
    if (last === undefined || last.turn < turn) last = { list, readAt, turn };
    onRead(list);
    return list;
  }

  return {
    renew,
    async current() {
      const ageMs = last === undefined ? Infinity : now() - last.readAt;
      // Half its time before it is too old, so that with steady traffic no request waits for it.
      if (ageMs >= maxAgeMs / 2) reading ??= renew().finally(() => reading = undefined);
      if (last === undefined || ageMs >= maxAgeMs) return await (reading ?? renew());
      reading?.catch(() => undefined); // the next request reads again
      return last.list;
    },
  };
}

interface Watcher {
  readonly session: Revocable;
  readonly listener: () => void;
}

interface Watchers {
  add(watcher: Watcher, check: () => void): () => void;
  /** Calls the listeners whose session is on the list. */
  notify(list: Denylist): void;
}

function createWatchers({ maxAgeMs = defaultMaxAgeMs, every = repeat }: RevocationOptions): Watchers {
  const watchers = new Set<Watcher>();
  let stop: (() => void) | undefined;
  function remove(watcher: Watcher): void {
    if (!watchers.delete(watcher) || watchers.size > 0) return;
    stop?.();
    stop = undefined;
  }
  return {
    add(watcher, check) {
      watchers.add(watcher);
      stop ??= every(Math.max(maxAgeMs, 1000), check);
      return () => remove(watcher);
    },
    notify(list) {
      for (const watcher of [...watchers].filter(({ session }) => list.has(session))) {
        remove(watcher);
        watcher.listener();
      }
    },
  };
}

function repeat(intervalMs: number, task: () => void): () => void {
  const timer = setInterval(task, intervalMs);
  return () => clearInterval(timer);
}
