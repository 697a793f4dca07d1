/** Readiness of an instance: probes its parts in parallel, in limited time, and once for concurrent callers. */

import type { Catalog } from '../contracts/catalog.ts';
import type { Storage } from '../contracts/storage.ts';

/** The result of each probe. */
export type Readiness = Readonly<Record<string, 'ok' | 'failed'>>;

/** What is probed. */
export interface ReadinessOptions {
  readonly storage: Storage;
  readonly catalog: Pick<Catalog, 'listTools'>;
  /** Whether the runtime takes no more runs. */
  readonly isClosed: () => boolean;
  readonly now: () => number;
}

/** How old a result may be. */
export interface ReadyOptions {
  /** How often the storage is written to at most, in milliseconds (1,000). Reads tell of an outage earlier. */
  readonly writeEveryMs?: number;
}

/** A part that has not answered by then is not ready. */
const probeMs = 2_000;
/** For so long a result answers the next requests as well: the route needs no authentication. */
const resultMs = 1_000;
/** Removes the entry of a probe whose instance died before it deleted it. */
const entryMs = 60_000;

/** Returns the function that probes. It never rejects, and answers within two seconds. */
export function createReadiness(
  { storage, catalog, isClosed, now }: ReadinessOptions,
): (options?: ReadyOptions) => Promise<Readiness> {
  const key = ['ready', crypto.randomUUID()];
  const writes = createProbe(() => writeEntry(storage, key), now);
  const reads = createProbe(() => storage.get(key), now);
  const lists = createProbe((signal) => catalog.listTools({ limit: 1 }, signal), now);
  return async ({ writeEveryMs = resultMs } = {}) => {
    const [written, read, listed] = await Promise.all([writes(writeEveryMs), reads(resultMs), lists(resultMs)]);
    return { storage: written === 'ok' ? read : written, catalog: listed, ...(isClosed() && { runtime: 'failed' }) };
  };
}

/** Returns the function that probes once for all callers, and again when the result is too old. */
function createProbe(
  work: (signal: AbortSignal) => Promise<unknown>,
  now: () => number,
): (maxAgeMs: number) => Promise<'ok' | 'failed'> {
  let current: Promise<'ok' | 'failed'> | undefined;
  let startedAt = -Infinity;
  return (maxAgeMs) => {
    if (current === undefined || now() - startedAt >= maxAgeMs) {
      startedAt = now();
      current = answers(work);
    }
    return current;
  };
}

/** A full disk still answers reads, so the probe writes a new entry, and deletes it. */
async function writeEntry(storage: Storage, key: readonly string[]): Promise<void> {
  await storage.commit([{ key, value: true, ttlMs: entryMs }]);
  await storage.commit([{ key }]);
}

async function answers(work: (signal: AbortSignal) => Promise<unknown>): Promise<'ok' | 'failed'> {
  const stop = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<'failed'>();
  const timer = setTimeout(() => resolve('failed'), probeMs);
  try {
    const ended = Promise.resolve(stop.signal).then(work); // a catalog may throw rather than reject
    return await Promise.race([late, ended.then(() => 'ok' as const, () => 'failed' as const)]);
  } finally {
    clearTimeout(timer);
    stop.abort('probe_ended');
  }
}
