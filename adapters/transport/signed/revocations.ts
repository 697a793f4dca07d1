/** Revoking sessions: who adds to the denylist, who asks it, and who hears of it while a run goes on. */

import type { Storage } from '../../../src/contracts/storage.ts';
import { type Denylist, readDenylist, type Revocable, type Revocation, toChange } from './denylist.ts';
import { refusal } from './refusal.ts';

/** The denylist of an endpoint. */
export interface Revocations {
  /** Adds to the list: it counts here at once, on other instances as soon as their copy is too old. */
  revoke(revocation: Revocation): Promise<void>;
  /**
   * Whether this session is revoked.
   *
   * @throws PinnaceError `overloaded` where the list cannot be read: nobody is believed then.
   */
  isRevoked(session: Revocable): Promise<boolean>;
  /** Calls the listener once, when this session is found revoked. Call what it gives when nobody needs to hear of it. */
  onRevoked(session: Revocable, listener: () => void): () => void;
}

/** What {@link createRevocations} works with. */
export interface RevocationOptions {
  readonly storage: Storage;
  readonly now: () => number;
  /** How long a copy of the list is believed. */
  readonly maxAgeMs?: number;
  /** Repeats a task until the function that it gives is called; used only while somebody listens. */
  readonly every?: (intervalMs: number, task: () => void) => () => void;
}

/** Keeps the denylist in a storage, and a copy of it for moments. */
export function createRevocations(options: RevocationOptions): Revocations {
  const { storage, now } = options;
  const watchers = createWatchers(options);
  const copy = createCopy({ ...options, onRead: (list) => watchers.tell(list) });
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
    // What cannot be read now is read the next time; requests are refused meanwhile.
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
    // A slow read that began before another must not undo it.
    if (last === undefined || last.turn < turn) last = { list, readAt, turn };
    onRead(list);
    return list;
  }

  return {
    renew,
    async current() {
      if (last !== undefined && now() - last.readAt < maxAgeMs) return last.list;
      return await (reading ??= renew().finally(() => reading = undefined));
    },
  };
}

interface Watcher {
  readonly session: Revocable;
  readonly listener: () => void;
}

interface Watchers {
  add(watcher: Watcher, check: () => void): () => void;
  /** Calls those whose session is on the list. */
  tell(list: Denylist): void;
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
    tell(list) {
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
