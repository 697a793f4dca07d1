/**
 * The two-layer cache of the records that runs are resolved from. L1 is this instance's memory, L2 the storage that instances share.
 * Each key has one load at a time; a slightly old value is served while a new one loads; an old value is used when the source does
 * not answer. An invalidation also covers loads in progress: their values are not stored, and later callers do not join them.
 */

import { BoundedMap } from '../base/bounded-map.ts';
import { PinnaceError, toPinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Storage } from '../contracts/storage.ts';

/** How long values live, in milliseconds. */
interface CacheTimes {
  /** A value is fresh. */
  readonly ttlMs: number;
  /** After that, a value is served at once and reloaded in the background. */
  readonly staleMs: number;
  /** Since its load, a value may be served while the source is out of reach. */
  readonly staleIfErrorMs: number;
  /** A miss is cached. */
  readonly negativeMs: number;
  /** The timeout of a load. */
  readonly loadMs: number;
  /** The timeout of a load while an old value is available, which is served then. */
  readonly refreshMs: number;
}

/** The default times. */
const defaultCacheTimes: CacheTimes = {
  ttlMs: 60_000,
  staleMs: 60_000,
  staleIfErrorMs: 600_000,
  negativeMs: 5_000,
  loadMs: 2_000,
  refreshMs: 300,
};

/** The options of a cache. */
export interface CacheOptions<T> {
  /** Names the cache in metrics and in the storage. */
  readonly name: string;
  /** Loads a value from its source; `undefined` when there is none. */
  readonly load: (id: string, signal: AbortSignal) => Promise<T | undefined>;
  /** The shared layer; absent for secrets, which must not be stored in clear. */
  readonly shared?: SharedOptions<T>;
  readonly times?: Partial<CacheTimes>;
  readonly now: () => number;
  readonly metrics: Metrics;
  /** The health of the source, shared by its caches; the cache's own when absent. */
  readonly health?: SourceHealth;
  /** Called when an old value was served because the source did not answer. */
  readonly onStale?: (id: string) => void;
}

/** A cache of values by id. */
export interface Cache<T> {
  /** Returns the value, `undefined` when there is none. Rejects as the source does, when no old value may be used. */
  get(id: string): Promise<T | undefined>;
  /**
   * Removes one value, those that a function selects, or all. Shared values whose load started before the position `since` (the
   * last known one when absent) are ignored from now on. Takes effect before it returns.
   */
  invalidate(which?: string | ((id: string) => boolean), since?: number): void;
}

const maxEntries = 10_000;

/** Creates an empty cache. */
export function createCache<T>(options: CacheOptions<T>): Cache<T> {
  const { name, now, metrics, onStale, health = createSourceHealth(now) } = options;
  const times = { ...defaultCacheTimes, ...options.times };
  const shared = options.shared && createSharedValues(name, options.shared);
  const entries = new BoundedMap<string, Cached<T>>(maxEntries);
  const { load, loads } = createLoads({ options, times, shared, entries, health });

  const ageOf = ({ loadedAt }: Cached<T>): number => now() - loadedAt;
  const isFresh = (entry: Cached<T>): boolean => isFreshAt(entry, now(), times);
  /** Whether an old value may be used instead of the source. */
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
        loading.catch(() => undefined); // continues in the background
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

function isFreshAt(
  { value, loadedAt }: Cached<unknown>,
  now: number,
  { negativeMs, ttlMs }: Pick<CacheTimes, 'negativeMs' | 'ttlMs'>,
): boolean {
  return now - loadedAt < (value === undefined ? negativeMs : ttlMs);
}

interface LoadParts<T> {
  readonly options: CacheOptions<T>;
  readonly times: CacheTimes;
  readonly shared: SharedValues<T> | undefined;
  readonly entries: Map<string, Cached<T>>;
  readonly health: SourceHealth;
}

/** Creates the loads of a cache: one at a time for each id, from the shared values or from the source. */
function createLoads<T>({ options, times, shared, entries, health }: LoadParts<T>) {
  const { name, now, metrics } = options;
  const loads = new Map<string, Promise<Cached<T>>>();
  const fetchEntry = async (id: string, isCurrent: () => boolean): Promise<Cached<T>> => {
    const started = now();
    const position = options.shared?.position();
    const stored = await shared?.read(id);
    if (stored && isFreshAt(stored, now(), times)) {
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
  const load = (id: string): Promise<Cached<T>> => {
    const known = loads.get(id);
    if (known) return known;
    // An invalidation removes the load from the map: then its value must not be stored.
    const isCurrent = (): boolean => loads.get(id) === flight;
    const flight: Promise<Cached<T>> = fetchEntry(id, isCurrent).finally(() => {
      if (isCurrent()) loads.delete(id);
    });
    loads.set(id, flight);
    return flight;
  };
  return { load, loads };
}

/** Only temporary failures: an old value must not hide a refusal, a miss or a mistake. */
function isOutOfReach(error: unknown): boolean {
  const { code, retryable } = toPinnaceError(error);
  return code === 'deadline_exceeded' || code === 'rate_limited' || code === 'internal' ||
    (code === 'unavailable' && retryable);
}

/** Records whether the source answers. A refusal is an answer. */
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

/** The options of shared values. */
interface SharedOptions<T> {
  readonly storage: Storage;
  /** The name of the values' source. */
  readonly source: string;
  /** The position of the last invalidation that this instance knows; `undefined` before it has read any. */
  readonly position: () => number | undefined;
  /** The revision of a record. A shared one with a lower revision than this instance has loaded or read is refused. */
  readonly revisionOf?: (value: T) => number;
}

/** A value and when its load started. `undefined` is a miss. */
interface Cached<T> {
  readonly value: T | undefined;
  readonly loadedAt: number;
}

/** The shared values of one cache. */
interface SharedValues<T> {
  /** Returns the value; `undefined` when none may be used, or the storage does not answer. */
  read(id: string): Promise<Cached<T> | undefined>;
  /** Writes what the source returned. `position` is the one before the load started. Never rejects. */
  write(
    id: string,
    entry: Cached<T>,
    options: { readonly position: number | undefined; readonly ttlMs: number },
  ): Promise<void>;
  /** Refuses values of loads that started before this position, for one id or for all. */
  refuseBefore(position: number, id?: string): void;
}

interface Stored<T> extends Cached<T> {
  readonly position?: number; // absent in entries of earlier versions
}

const maxIds = 10_000;

/** Creates the shared values of the cache with this name. */
function createSharedValues<T>(name: string, options: SharedOptions<T>): SharedValues<T> {
  const { storage, source, position: current, revisionOf } = options;
  const keyOf = (id: string): Key => ['cache', name, source, id];
  const revisions = new BoundedMap<string, number>(maxIds);
  const firstOf = new Map<string, number>();
  let first = 0;
  let hasRead = false;
  const note = (id: string, value: T): void => {
    if (revisionOf) revisions.set(id, revisionOf(value));
  };
  const isCurrent = (id: string, position = -1): boolean => position >= Math.max(first, firstOf.get(id) ?? 0);
  const isLatest = (id: string, value: T): boolean => !revisionOf || revisionOf(value) >= (revisions.get(id) ?? 0);
  return {
    async read(id) {
      const position = current();
      if (position === undefined) return undefined;
      // What was invalidated before the first read is unknown here, so all that is older is refused.
      if (!hasRead) first = Math.max(first, position);
      hasRead = true;
      const found = await storage.get(keyOf(id)).catch(() => undefined);
      const stored = found?.value as Stored<T> | undefined; // only `write` writes it
      if (stored?.value === undefined || !isCurrent(id, stored.position) || !isLatest(id, stored.value)) {
        return undefined;
      }
      note(id, stored.value);
      return { value: stored.value, loadedAt: stored.loadedAt };
    },
    async write(id, { value, loadedAt }, { position, ttlMs }) {
      if (value === undefined) return;
      note(id, value); // also a lower one than before: the source decides
      if (position === undefined) return;
      const stored: Stored<T> = { value, loadedAt, position };
      await storage.commit([{ key: keyOf(id), value: stored, ttlMs }]).catch(() => undefined);
    },
    refuseBefore(position, id) {
      if (id !== undefined) firstOf.set(id, position);
      if (id !== undefined && firstOf.size <= maxIds) return;
      first = Math.max(first, position);
      firstOf.clear();
    },
  };
}

/** Whether a source answers. */
interface SourceHealth {
  /** Whether it failed so recently that callers use a stale value without a call. */
  readonly isFailing: boolean;
  succeeded(): void;
  failed(): void;
}

const firstPauseMs = 1_000;
const longestPauseMs = 30_000;

/** Creates the health of a source. Each further failure doubles the pause, up to 30 s. */
export function createSourceHealth(now: () => number): SourceHealth {
  let failures = 0;
  let until = -Infinity;
  return {
    get isFailing() {
      return now() < until;
    },
    succeeded() {
      failures = 0;
      until = -Infinity;
    },
    failed() {
      if (now() < until) return; // parallel failures count once
      until = now() + Math.min(longestPauseMs, firstPauseMs * 2 ** failures++);
    },
  };
}
