/** Readiness of an instance: probes its parts in parallel, in limited time, and once for concurrent callers. */

import { PinnaceError } from '../base/errors.ts';
import type { Catalog } from '../contracts/catalog.ts';
import type { Storage } from '../contracts/storage.ts';

/** The result of each probe. */
export type Readiness = Readonly<Record<string, 'ok' | 'failed'>>;

/** Why a part is not ready. Of what is no `PinnaceError` only the name: its message may hold a secret. */
export interface Failure {
  readonly code: string;
  readonly reason?: string;
  readonly message: string;
  /** The code that a library below gave, such as `ECONNREFUSED`, or `28P01` of PostgreSQL. */
  readonly cause?: string;
}

/** The result of each probe, and why those failed that did. */
export interface Diagnosis {
  readonly checks: Readiness;
  readonly failures: Readonly<Record<string, Failure>>;
}

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

/** Returns the functions that probe. They never reject, and answer within two seconds. */
export function createReadiness(
  { storage, catalog, isClosed, now }: ReadinessOptions,
): {
  readonly ready: (options?: ReadyOptions) => Promise<Readiness>;
  readonly diagnose: (options?: ReadyOptions) => Promise<Diagnosis>;
} {
  const key = ['ready', crypto.randomUUID()];
  const writes = createProbe(() => writeEntry(storage, key), now);
  const reads = createProbe(() => storage.get(key), now);
  const lists = createProbe((signal) => catalog.listTools({ limit: 1 }, signal), now);
  const diagnose = async ({ writeEveryMs = resultMs }: ReadyOptions = {}): Promise<Diagnosis> => {
    const [written, read, listed] = await Promise.all([writes(writeEveryMs), reads(resultMs), lists(resultMs)]);
    const results = { storage: written ?? read, catalog: listed, ...(isClosed() && { runtime: runtimeClosed }) };
    const failures: Record<string, Failure> = {};
    const checks: Record<string, 'ok' | 'failed'> = {};
    for (const [part, failure] of Object.entries(results)) {
      checks[part] = failure ? 'failed' : 'ok';
      if (failure) failures[part] = failure;
    }
    return { checks, failures };
  };
  return { diagnose, ready: async (options) => (await diagnose(options)).checks };
}

/** Returns the function that probes once for all callers, and again when the result is too old. */
function createProbe(
  work: (signal: AbortSignal) => Promise<unknown>,
  now: () => number,
): (maxAgeMs: number) => Promise<Failure | undefined> {
  let current: Promise<Failure | undefined> | undefined;
  let startedAt = -Infinity;
  return (maxAgeMs) => {
    if (current === undefined || now() - startedAt >= maxAgeMs) {
      startedAt = now();
      current = failureOf(work);
    }
    return current;
  };
}

/** A full disk still answers reads, so the probe writes a new entry, and deletes it. */
async function writeEntry(storage: Storage, key: readonly string[]): Promise<void> {
  await storage.commit([{ key, value: true, ttlMs: entryMs }]);
  await storage.commit([{ key }]);
}

const runtimeClosed: Failure = { code: 'unavailable', reason: 'runtime_closed', message: 'The runtime is closed' };
const noAnswer: Failure = { code: 'deadline_exceeded', message: `It did not answer within ${probeMs} ms` };

async function failureOf(work: (signal: AbortSignal) => Promise<unknown>): Promise<Failure | undefined> {
  const stop = new AbortController();
  const { promise: late, resolve } = Promise.withResolvers<Failure>();
  const timer = setTimeout(() => resolve(noAnswer), probeMs);
  try {
    const ended = Promise.resolve(stop.signal).then(work); // a catalog may throw rather than reject
    return await Promise.race([late, ended.then(() => undefined, failureBy)]);
  } finally {
    clearTimeout(timer);
    stop.abort('probe_ended');
  }
}

function failureBy(error: unknown): Failure {
  const cause = codeIn(error);
  const own = cause === undefined ? {} : { cause };
  if (!(error instanceof PinnaceError)) {
    return { code: 'internal', message: error instanceof Error ? error.name : 'It failed', ...own };
  }
  const { code, message, details } = error;
  const reason = details?.['reason'];
  return { code, ...(typeof reason === 'string' && { reason }), message, ...own };
}

/** The code of the innermost error that has one, in the form of such codes. */
function codeIn(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }; // any object may be asked
  return codeIn(cause) ?? (typeof code === 'string' && /^[A-Z0-9_]{3,32}$/.test(code) ? code : undefined);
}
