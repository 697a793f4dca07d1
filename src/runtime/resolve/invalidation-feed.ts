/** The invalidations that reach this instance, from here and elsewhere. */

import type { Bulletin } from '../../log/bulletin.ts';
import { readCacheKey, requireCacheKeys } from '../../log/cache-key.ts';
import type { Change } from '../../contracts/storage.ts';
import type { Emit } from '../../events/events.ts';
import { createTraceId } from '../../events/trace-ids.ts';

/** What the feed works with. */
export interface InvalidationFeedOptions {
  readonly bulletin: Bulletin<readonly string[]>;
  readonly emit: Emit;
  /** Removes what the keys name here; shared values whose load started before the position `since` count no longer. */
  readonly remove: (keys: readonly string[], since: number) => void;
  /** Called when these agents may have changed; without ids, all may have. */
  readonly onAgentsChanged: (agentIds?: readonly string[]) => void;
}

/** Publishes invalidations, and applies those of every instance. */
export interface InvalidationFeed {
  /** How many invalidations this instance has read. */
  readonly count: number;
  /** Watches from the first use on: a runtime that resolves nothing watches nothing. */
  subscribe(): void;
  /** Applies what was invalidated before now, on any instance. Never rejects: a failing storage rejects the claim of the run. */
  refresh(): Promise<void>;
  /** Makes a commit conflict where an instance has invalidated more than is applied here; `undefined` before the first read. */
  readonly check: Change | undefined;
  /** @throws PinnaceError `invalid_argument` for an unknown key, `unavailable` when the other instances cannot be reached. */
  invalidate(keys: readonly string[]): Promise<void>;
  /** Stops watching. */
  close(): void;
}

/** Creates a feed that does not watch yet. */
export function createInvalidationFeed(
  { bulletin, emit, remove, onAgentsChanged }: InvalidationFeedOptions,
): InvalidationFeed {
  const closing = new AbortController();
  let count = 0;
  let subscribed = false;
  const apply = (keys: readonly string[]): void => {
    count += 1;
    remove(keys, bulletin.position ?? 0);
    reportAgents(keys, onAgentsChanged);
  };
  const subscribe = (): void => {
    if (subscribed) return;
    subscribed = true;
    bulletin.subscribe(apply, closing.signal);
  };
  return {
    get count() {
      return count;
    },
    get check() {
      return bulletin.check;
    },
    subscribe,
    async refresh() {
      subscribe();
      await bulletin.refresh().catch(() => undefined);
    },
    async invalidate(keys) {
      requireCacheKeys(keys);
      // Here it takes effect even if it cannot be published. Its own position will be higher than every one known now.
      remove(keys, (bulletin.position ?? 0) + 1);
      for (const key of keys) emit(invalidated(key));
      await bulletin.publish(keys);
    },
    close: () => closing.abort(),
  };
}

function invalidated(key: string): Parameters<Emit>[0] {
  return {
    traceId: createTraceId(),
    actor: { type: 'system', id: 'resolver' },
    action: 'cache.invalidate',
    target: { type: 'cache', id: key },
    status: 'ok',
    latency: 0,
    error: null,
    payloadSummary: '',
  };
}

function reportAgents(keys: readonly string[], report: InvalidationFeedOptions['onAgentsChanged']): void {
  const named = keys.map(readCacheKey).filter(({ kind }) => kind === '*' || kind === 'agent');
  if (named.some(({ id }) => id === undefined)) report();
  else if (named.length > 0) report(named.flatMap(({ id }) => id ?? []));
}
