/**
 * The two-layer cache of what runs are resolved from. L1 is this instance's memory, L2 the storage that instances share. One load
 * at a time for each key; a value that is a little old is served while a new one is loaded; an old one stands in when the source
 * does not answer. An invalidation beats loads in flight: their values are not stored, and later callers do not join them.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import { type Cached, createSharedValues, type SharedOptions } from './shared-values.ts';
import { createSourceHealth, type SourceHealth } from './source-health.ts';

/** How long values live, in milliseconds. */
export interface CacheTimes {
  /** Fresh. */
  readonly ttlMs: number;
  /** After that: served at once, and loaded anew behind the answer. */
  readonly staleMs: number;
  /** From the load: served when the source is out of reach. */
  readonly staleIfErrorMs: number;
  /** A miss is believed. */
  readonly negativeMs: number;
  /** A load is waited for. */
  readonly loadMs: number;
  /** A load is waited for while an old value is at hand, which is served then. */
  readonly refreshMs: number;
}

/** What holds where nothing else is said. */
export const defaultCacheTimes: CacheTimes = {
  ttlMs: 60_000,
  staleMs: 60_000,
  staleIfErrorMs: 600_000,
  negativeMs: 5_000,
  loadMs: 2_000,
  refreshMs: 300,
};

/** What a cache is made of. */
export interface CacheOptions<T> {
  /** Names the cache in metrics and in the storage. */
  readonly name: string;
  /** Loads a value from its source; `undefined` when there is none. */
  readonly load: (id: string, signal: AbortSignal) => Promise<T | undefined>;
  /** The shared layer; without it there is none, as for secrets, which must not be written in clear. */
  readonly shared?: SharedOptions<T>;
  readonly times?: Partial<CacheTimes>;
  readonly now: () => number;
  readonly metrics: Metrics;
  /** Whether the source answers, shared by the caches of one source; one of its own when absent. */
  readonly health?: SourceHealth;
  /** Called when an old value stood in for a source that does not answer. */
  readonly onStale?: (id: string) => void;
}

/** A cache of values by id. */
export interface Cache<T> {
  /** Gives the value, `undefined` when there is none. Rejects as the source does, when no old value may stand in. */
  get(id: string): Promise<T | undefined>;
  /**
   * Removes a value, or those that a function picks; without either every value. Shared values count no longer when their load
   * started before the position `since`: the last one known when absent. Takes effect before it returns.
   */
  invalidate(which?: string | ((id: string) => boolean), since?: number): void;
}

const maxEntries = 10_000;

/** Gives an empty cache. */
export function createCache<T>(options: CacheOptions<T>): Cache<T> {
  const { name, now, metrics, onStale, health = createSourceHealth(now) } = options;
  const times = { ...defaultCacheTimes, ...options.times };
  const shared = options.shared && createSharedValues(name, options.shared);
  const entries = new BoundedMap<string, Cached<T>>(maxEntries);
  const loads = new Map<string, Promise<Cached<T>>>();

  const ageOf = ({ loadedAt }: Cached<T>): number => now() - loadedAt;
  const isFresh = (entry: Cached<T>): boolean =>
    ageOf(entry) < (entry.value === undefined ? times.negativeMs : times.ttlMs);
  const load = (id: string): Promise<Cached<T>> => {
    const known = loads.get(id);
    if (known) return known;
    // Only while the flight is the key's own may it leave something behind: an invalidation has taken it out.
    const isCurrent = (): boolean => loads.get(id) === flight;
    const flight: Promise<Cached<T>> = fetchEntry(id, isCurrent).finally(() => {
      if (isCurrent()) loads.delete(id);
    });
    loads.set(id, flight);
    return flight;
  };
  const fetchEntry = async (id: string, isCurrent: () => boolean): Promise<Cached<T>> => {
    const started = now();
    const position = options.shared?.position();
    const stored = await shared?.read(id);
    if (stored && isFresh(stored)) {
      metrics.time('pinnace_resolution_seconds', now() - started, { cache: name, layer: 'l2' });
      metrics.count('pinnace_cache_hits_total', { cache: name, layer: 'l2' });
      if (isCurrent()) entries.set(id, stored);
      return stored;
    }
    metrics.count('pinnace_cache_misses_total', { cache: name });
    const value = await observed(loadInTime(options, id, times.loadMs), health);
    const entry = { value, loadedAt: started };
    metrics.time('pinnace_resolution_seconds', now() - started, { cache: name, layer: 'source' });
    if (isCurrent()) {
      entries.set(id, entry);
      await shared?.write(id, entry, { position, ttlMs: times.ttlMs });
    }
    return entry;
  };
  /** Whether there is an old value that may stand in for the source. */
  const standIn = (id: string): boolean => {
    const old = entries.get(id);
    return old?.value !== undefined && ageOf(old) < times.staleIfErrorMs;
  };
  const serveStale = (id: string): T | undefined => {
    onStale?.(id);
    return entries.get(id)?.value;
  };
  return {
    async get(id) {
      const entry = entries.get(id);
      if (entry && isFresh(entry)) {
        metrics.count('pinnace_cache_hits_total', { cache: name, layer: 'l1' });
        return entry.value;
      }
      if (entry?.value !== undefined && ageOf(entry) < times.ttlMs + times.staleMs) {
        metrics.count('pinnace_cache_hits_total', { cache: name, layer: 'stale' });
        void load(id).catch(() => undefined);
        return entry.value;
      }
      if (health.isFailing && standIn(id)) return serveStale(id);
      const loading = load(id);
      if (standIn(id) && !await isSettledIn(loading, times.refreshMs) && standIn(id)) {
        health.failed();
        loading.catch(() => undefined); // goes on behind the answer
        return serveStale(id);
      }
      try {
        return (await loading).value;
      } catch (error) {
        if (!standIn(id) || !isOutOfReach(error)) throw error;
        return serveStale(id);
      }
    },
    invalidate(which = () => true, since = options.shared?.position() ?? 0) {
      const ids = typeof which === 'string' ? [which] : [...entries.keys(), ...loads.keys()].filter(which);
      for (const one of ids) {
        entries.delete(one);
        loads.delete(one);
      }
      // Other instances have loaded more than this one knows, so a choice among the shared values refuses all that are older.
      shared?.refuseBefore(since, typeof which === 'string' ? which : undefined);
    },
  };
}

/** Only what may pass by itself: a refusal, a miss or a mistake must not be papered over with an old value. */
function isOutOfReach(error: unknown): boolean {
  const { code, retryable } = toPinnaceError(error);
  return code === 'deadline_exceeded' || code === 'rate_limited' || code === 'internal' ||
    (code === 'unavailable' && retryable);
}

/** Notes whether the source answers. A refusal is an answer. */
async function observed<T>(load: Promise<T>, health: SourceHealth): Promise<T> {
  try {
    const value = await load;
    health.succeeded();
    return value;
  } catch (error) {
    if (isOutOfReach(error)) health.failed();
    throw error;
  }
}

async function isSettledIn(work: Promise<unknown>, ms: number): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<false>();
  const timer = setTimeout(() => resolve(false), ms);
  const settled = work.then(() => true, () => true);
  return await Promise.race([settled, late]).finally(() => clearTimeout(timer));
}

async function loadInTime<T>({ name, load }: CacheOptions<T>, id: string, loadMs: number): Promise<T | undefined> {
  const stop = new AbortController();
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new PinnaceError(
      'deadline_exceeded',
      `Cannot load the ${name}: its source did not answer within ${loadMs} ms; try again`,
      { details: { reason: 'source_timeout' } },
    );
    stop.abort(error);
    reject(error);
  }, loadMs);
  try {
    return await Promise.race([late, load(id, stop.signal)]);
  } finally {
    clearTimeout(timer);
  }
}
