/** Streams what waits. All viewers of a tenant share one look at its bell, and each compares its own listing with the last one. */

import { PinnaceError } from '../base/errors.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import { createNews, watchKey } from '../log/bulletin.ts';
import { bellKey } from '../permission/waiting.ts';
import type { InboxChange, InboxItem } from '../runtime/inbox.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';

interface Watching {
  readonly tenant: string;
  readonly list: () => Promise<readonly InboxItem[]>;
  readonly signal?: AbortSignal | undefined;
}

/** Resolves to the stream once the first listing is read. Rejects as the listing does. */
export async function watchInbox(
  parts: RuntimeParts,
  { tenant, list, signal }: Watching,
): Promise<ReadableStream<InboxChange>> {
  const left = new AbortController();
  const ended = AbortSignal.any([left.signal, parts.closing, ...signal ? [signal] : []]);
  const news = createNews((onNews) => bellOf(parts.storage, tenant).listen(onNews), ended);
  let known = new Map<string, InboxItem>();
  const pending: InboxChange[] = [];
  const compare = async (): Promise<void> => {
    const items = await list();
    const now = new Map(items.map((item) => [item.id, item]));
    for (const id of known.keys()) if (!now.has(id)) pending.push({ type: 'settled', id });
    for (const item of items) if (!known.has(item.id)) pending.push({ type: 'opened', item });
    known = now;
  };
  try {
    const items = await list();
    known = new Map(items.map((item) => [item.id, item]));
    pending.push({ type: 'snapshot', items });
  } catch (error) {
    news.stop();
    throw error;
  }
  return new ReadableStream<InboxChange>({
    async pull(controller) {
      while (pending.length === 0 && !ended.aborted) {
        await news.next();
        // What cannot be read now is read with the next news: a short outage cuts no viewer.
        if (!ended.aborted) await compare().catch(reportedOutage(parts));
      }
      const change = pending.shift();
      if (change) return controller.enqueue(change);
      news.stop();
      controller.close();
    },
    cancel: () => left.abort(),
  }, { highWaterMark: 0 });
}

function reportedOutage({ report }: RuntimeParts): (error: unknown) => void {
  return (error) => {
    if (!(error instanceof PinnaceError) || error.code !== 'unavailable') report(error, { kind: 'hook', id: 'inbox' });
  };
}

/** The bell of one tenant, read for all its viewers. */
interface Bell {
  listen(onNews: () => void): () => void;
}

const bells = new WeakMap<object, Map<string, Bell>>();

function bellOf(storage: Storage & Partial<Watchable>, tenant: string): Bell {
  const ofStorage = bells.get(storage) ?? new Map<string, Bell>();
  bells.set(storage, ofStorage);
  const bell = ofStorage.get(tenant) ?? createBell(storage, tenant);
  ofStorage.set(tenant, bell);
  return bell;
}

function createBell(storage: Storage & Partial<Watchable>, tenant: string): Bell {
  const listeners = new Set<() => void>();
  let heard: string | undefined;
  let reading: 'no' | 'yes' | 'again' = 'no';
  let unwatch: (() => void) | undefined;
  const look = async (): Promise<void> => {
    const version = (await storage.get(bellKey(tenant)))?.version;
    if (version === heard) return;
    heard = version;
    for (const onNews of listeners) onNews();
  };
  const read = async (): Promise<void> => {
    if (reading !== 'no') return void (reading = 'again');
    do {
      reading = 'yes';
      await look().catch(() => heard = ''); // the next look compares again
    } while ((reading as string) === 'again'); // news may have come meanwhile
    reading = 'no';
  };
  return {
    listen(onNews) {
      listeners.add(onNews);
      unwatch ??= watchKey(storage, bellKey(tenant), () => void read());
      return () => {
        listeners.delete(onNews);
        if (listeners.size > 0) return;
        unwatch?.();
        unwatch = undefined;
      };
    },
  };
}
