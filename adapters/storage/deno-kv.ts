/** State in Deno KV: in a file, in memory, or in the database that Deno Deploy provides. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { encodeKey } from '../../src/base/key.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import type { ClosableStorage, Entry, Watchable } from '../../src/contracts/storage.ts';
import { createReport, type OnError } from '../../src/events/report.ts';
import { isExpired, type ListBounds, listBounds, prepareChanges } from './changes.ts';
import { createConnection } from './connection.ts';
import { createCommits, draftChanges, type Head, headKey, versionOf } from './deno-kv-commit.ts';
import { readParts, sweep, whenUnlocked } from './deno-kv-parts.ts';
import { storageBlocked, storageFull } from './unavailable.ts';

export type { ClosableStorage, Watchable } from '../../src/contracts/storage.ts';

/** Options of {@link denoKvStorage}. */
export interface DenoKvStorageOptions {
  /** A file, or `:memory:`; without it the database that belongs to the app. Two paths never see each other. */
  readonly path?: string;
  /** Milliseconds since 1970; the clock of the platform when absent. */
  readonly now?: () => number;
  /** Receives why work in the background failed: subscriptions (`watch`), and the removal of what crashed writers left (`sweep`). */
  readonly onError?: OnError;
  /** Instead of `Deno.openKv`. */
  readonly openKv?: (path?: string) => Promise<Deno.Kv>;
}

/** Loads the serializer with the first value: its module of Node takes 9 ms of a cold start. */
const loadCodec = /* @__PURE__ */ loadOnce(() => import('./value-codec.ts'));

/** Values may be replaced this often while their parts are read. */
const readAttempts = 10;
const entriesPerBatch = 100;

/**
 * Stores state in Deno KV, which is opened on first use. Values larger than its limit (64 KiB) are stored in parts, up to 4 MiB in
 * serialized form; beyond that a commit is `invalid_argument` with the reason `value_too_large`. The keys of one commit may take
 * 80,000 bytes together, about 700 each where there are a hundred: else the reason is `commit_too_large`.
 *
 * @example
 * const storage = denoKvStorage({ path: './state.kv' }); // deno run --unstable-kv
 */
export function denoKvStorage(options: DenoKvStorageOptions = {}): ClosableStorage & Watchable {
  checkNames('create the storage', options, optional('path', 'now', 'onError', 'openKv'));
  const { path, now = Date.now, onError, openKv } = options;
  const report = createReport(onError);
  const onSwept = (cause: unknown): void => report(cause, { kind: 'storage', id: 'sweep' });
  let isClosed = false;
  const connection = createConnection({
    open: () => open({ path, openKv, time: now(), onSwept }),
    shut: (kv) => kv.close(),
  });
  const inTurn = createKeyQueue();
  const commitDrafts = createCommits(now); // those whose turn it is name different keys

  async function use<Result>(call: (kv: Deno.Kv) => Promise<Result>): Promise<Result> {
    try {
      return await connection.use(call);
    } catch (error) {
      throw explain(error);
    }
  }

  return {
    checks: true,
    async get(key) {
      const place = headKey(encodeKey(key));
      return await use((kv) => read(kv, place, now));
    },
    async list(asked) {
      const bounds = listBounds(asked);
      return await use((kv) => readWithin(kv, bounds, { limit: asked.limit, now }));
    },
    async commit(changes) {
      const prepared = prepareChanges(changes, now()); // copies the values before it waits
      return await use(async (kv) => {
        const { encodeValue } = await loadCodec();
        const drafts = draftChanges(prepared, encodeValue);
        // Those that only check a key need not wait for each other.
        const ids = drafts.filter(({ change }) => !change.keep).map(({ change }) => change.id);
        return await inTurn(ids, () => commitDrafts(kv, drafts));
      });
    },
    watch(keys, { signal, onNews }) {
      const places = keys.map((key) => headKey(encodeKey(key)));
      const onFailed = (cause: unknown): void => {
        if (!signal.aborted && !isClosed) report(cause, { kind: 'storage', id: 'watch' });
      };
      const watching = { signal, onNews, onFailed, pollMs: pollMsOf(path) };
      void connection.use((kv) => Promise.resolve(watchPlaces(kv, places, watching))).catch(onFailed);
    },
    async close() {
      isClosed = true;
      await connection.close();
    },
  };
}

/** Deno KV's own watch reports the commits of this process, and all commits where a service hosts the database. */
function watchPlaces(
  kv: Deno.Kv,
  places: readonly Deno.KvKey[],
  { signal, onNews, onFailed, pollMs }: {
    readonly signal: AbortSignal;
    readonly onNews: () => void;
    readonly onFailed: (cause: unknown) => void;
    readonly pollMs: number | undefined;
  },
): void {
  if (signal.aborted) return;
  const reader = kv.watch([...places]).getReader();
  signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined), { once: true });
  const timer = pollMs === undefined ? undefined : setInterval(onNews, pollMs);
  const pump = async (): Promise<void> => {
    while (!(await reader.read()).done && !signal.aborted) onNews();
  };
  // It ends with the signal, or with an error when the database is closed.
  void pump().catch(onFailed).finally(() => clearInterval(timer));
}

/** How often to poll for other processes' commits to a file. The app's default database may be a file or a service. */
function pollMsOf(path: string | undefined): number | undefined {
  if (path === undefined) return 1000;
  return path === ':memory:' || /^https?:/.test(path) ? undefined : 250;
}

async function open(
  { path, openKv = globalThis.Deno?.openKv, time, onSwept }: {
    readonly path: string | undefined;
    readonly openKv: DenoKvStorageOptions['openKv'];
    readonly time: number;
    readonly onSwept: (cause: unknown) => void;
  },
): Promise<Deno.Kv> {
  if (typeof openKv !== 'function') {
    const advice = 'run Deno with --unstable-kv, or put "unstable": ["kv"] into deno.json';
    throw storageBlocked(`Cannot open Deno KV: this runtime has none; ${advice}`, { retryable: false });
  }
  const kv = await whenUnlocked(() => openKv(path));
  await sweep(kv, time).catch(onSwept); // what it leaves, the next one finds
  return kv;
}

/** Deno KV has no error codes: only the text shows a full disk. */
function explain(error: unknown): PinnaceError {
  if (error instanceof PinnaceError) return error;
  if (error instanceof Error && /disk is full|no space left/i.test(error.message)) {
    return storageFull('Cannot write to Deno KV: the disk is full; make room', error);
  }
  const advice = 'check that its path can be read and written, then try again';
  return storageBlocked(`Cannot reach Deno KV: it failed; ${advice}`, { cause: error });
}

/** Reads an entry. Where a part is missing, the value has just been replaced, so it reads again. */
async function read(kv: Deno.Kv, place: Deno.KvKey, now: () => number): Promise<Entry | undefined> {
  for (let attempt = 0; attempt < readAttempts; attempt++) {
    const found = await kv.get<Head>(place);
    if (found.value === null || isExpired(found.value, now())) return undefined;
    const entry = await toEntry(kv, found);
    if (entry !== undefined) return entry;
  }
  throw storageBlocked('Cannot read an entry of Deno KV: a part of its value is missing; write it again');
}

async function readWithin(
  kv: Deno.Kv,
  { lower, upper }: ListBounds,
  { limit, now }: { readonly limit: number; readonly now: () => number },
): Promise<Entry[]> {
  const entries: Entry[] = [];
  const batchSize = Math.min(limit, entriesPerBatch);
  for await (const found of kv.list<Head>({ start: headKey(lower), end: headKey(upper) }, { batchSize })) {
    if (isExpired(found.value, now())) continue;
    const entry = await toEntry(kv, found) ?? await read(kv, found.key, now);
    if (entry !== undefined) entries.push(entry);
    if (entries.length === limit) break;
  }
  return entries;
}

/** The entry of a head, or nothing where a part of its value is missing. */
async function toEntry(kv: Deno.Kv, { value: head, versionstamp }: Deno.KvEntry<Head>): Promise<Entry | undefined> {
  const bytes = head.parts === undefined ? head.bytes : await readParts(kv, head.parts);
  if (bytes === undefined) return undefined;
  const { decodeValue } = await loadCodec();
  return { key: head.key, value: decodeValue(bytes), version: versionOf(head, versionstamp) };
}

type KeyQueue = <Result>(keys: readonly string[], call: () => Promise<Result>) => Promise<Result>;

function createKeyQueue(): KeyQueue {
  const last = new Map<string, Promise<unknown>>();
  return async (keys, call) => {
    const earlier = keys.flatMap((key) => last.get(key) ?? []);
    const result = Promise.allSettled(earlier).then(call);
    for (const key of keys) last.set(key, result);
    try {
      return await result;
    } finally {
      for (const key of keys) if (last.get(key) === result) last.delete(key);
    }
  };
}
