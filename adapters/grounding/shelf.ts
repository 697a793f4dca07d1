/**
 * The items of one tenant in one source: stored in a log, and searched by an engine that follows the log.
 *
 * What must hold:
 * - Reads and writes of the log run one at a time, in `inTurn`. A change is applied as a whole: no signal stops it halfway.
 * - A write first reads what other instances have written, then commits, then applies. What is in memory is in the log.
 * - The engine has the items of `held`, in the same order of changes. Only between `leave` and `follow` it lags behind, while a
 *   snapshot may replace the work of adding each item.
 * - A snapshot is optional: one that is missing, damaged, of another log or format costs time, never items.
 * - What was removed leaves the storage: the log is rewritten when a fifth of it is dead, and at once when nothing is left.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import {
  compileFilters,
  type Filter,
  type GroundingRequest,
  type SourceHit,
} from '../../src/contracts/grounding-source.ts';
import { canonicalJson } from '../../src/base/json.ts';
import type { Key } from '../../src/base/key.ts';
import type { Change, Storage } from '../../src/contracts/storage.ts';
import { sha256 } from '../../src/base/hash.ts';
import { createSplitMap } from '../../src/search/split-map.ts';
import { createTurns } from '../../src/base/turns.ts';
import { readItem, type StoredItem, type StoredRow } from './item.ts';
import { type ItemEngine, type Items, listItems } from './item-engine.ts';
import { type ItemLog, type LogChange, memoryLog, storedLog } from './item-log.ts';
import { createSnapshotStore, type SnapshotStore, type StoredSnapshot } from './snapshot-store.ts';

export interface ShelfOptions {
  readonly engine: ItemEngine;
  readonly storage: Storage | undefined;
  readonly prefix: Key;
  readonly now: () => number;
  /** How long writes of other instances may go unread. */
  readonly refreshMs: number;
}

/** The items to remove: those with one of the ids that pass the filters. */
export interface Removal {
  readonly ids?: readonly string[] | undefined;
  readonly filters?: readonly Filter[] | undefined;
}

export type Shelf = ReturnType<typeof createShelf>;

interface State {
  readonly engine: ItemEngine;
  readonly log: ItemLog;
  readonly held: HeldItems;
  readonly once: Once;
  readonly snapshots: SnapshotStore | undefined;
  /** Whether the engine was made ready after the latest change. */
  isSettled: boolean;
  /** Rows that came since the latest snapshot. */
  unsaved: number;
}

export function createShelf({ engine, storage, prefix, now, refreshMs }: ShelfOptions) {
  const log = storage ? storedLog(storage, prefix, now) : memoryLog();
  const held = createHeldItems(engine, now);
  const snapshots = storage && engine.snapshot && createSnapshotStore(storage, prefix, now);
  const once = createOnce(storage, prefix);
  const state: State = { engine, log, held, once, snapshots, isSettled: true, unsaved: 0 };
  const inTurn = createQueue();
  let refreshedAt = -Infinity;
  return {
    version: (): string => log.version(),
    stats: (): { readonly items: number; readonly details?: Readonly<Record<string, unknown>> } => ({
      items: held.items.size,
      ...(engine.stats && { details: engine.stats() }),
    }),
    async refresh(signal: AbortSignal): Promise<void> {
      if (now() - refreshedAt >= refreshMs || now() < refreshedAt) {
        await inTurn(() => catchUp(state));
        refreshedAt = now();
      }
      if (!state.isSettled) await inTurn(() => settle(state, signal, { measure: false }));
      held.expire();
      if (isWorthSaving(state)) void inTurn(() => save(state)); // callers need not wait for it
    },
    put: (
      rows: readonly StoredRow[],
      { key, signal }: { readonly key: string | undefined; readonly signal: AbortSignal },
    ): Promise<string[]> =>
      inTurn(async () => {
        await put(state, rows, key);
        await afterWriting(state, signal);
        return rows.map(({ item }) => item.id);
      }),
    forget: (which: Removal, signal: AbortSignal): Promise<number> =>
      inTurn(async () => {
        const count = await forget(state, which);
        await afterWriting(state, signal);
        return count;
      }),
    async search(request: GroundingRequest, signal: AbortSignal): Promise<SourceHit[]> {
      const hasQuery = request.embedding || (request.query ?? '').trim() !== '';
      const context = { signal, items: held.items, version: log.version() };
      return hasQuery ? await engine.search(request, context) : await listItems(request, context);
    },
    settle: (signal: AbortSignal): Promise<void> =>
      inTurn(async () => {
        await settle(state, signal, { measure: true });
        if (isWorthSaving(state)) await save(state);
      }),
  };
}

/** Runs the reads and writes of the log one at a time. */
function createQueue(): <T>(work: () => Promise<T>) => Promise<T> {
  let queue: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  };
}

/** Takes no signal, because a change must be applied as a whole. A newly opened engine starts from its snapshot where it can. */
async function catchUp(state: State): Promise<void> {
  const { log, held } = state;
  let snapshot = log.version() === '0' ? await state.snapshots?.find() : undefined;
  if (snapshot) held.leave();
  try {
    for await (const change of log.catchUp()) {
      state.isSettled = false;
      if (snapshot && log.version() === snapshot.version) snapshot = await takeOver(state, snapshot);
      if (change === 'reset') held.clear();
      else await apply(state, change);
    }
    if (snapshot && log.version() === snapshot.version) snapshot = await takeOver(state, snapshot);
  } finally {
    if (snapshot) await held.follow({ restored: false }); // it was of another log, or of more of it than can be read
  }
}

/** Restores the engine from its snapshot; without one, every item is added to it. */
async function takeOver(state: State, snapshot: StoredSnapshot): Promise<undefined> {
  const bytes = await snapshot.read();
  const restored = bytes !== undefined && await state.engine.restore?.(bytes) === true;
  await state.held.follow({ restored });
  if (restored) state.unsaved = 0;
}

async function apply(state: State, change: LogChange): Promise<void> {
  state.unsaved += change.put.length;
  await state.held.apply(change);
}

/** Fewer rows are indexed so quickly that a snapshot is not worth it. */
const fewestSaved = 5_000;

function isWorthSaving({ snapshots, held, unsaved }: State): boolean {
  return snapshots !== undefined && unsaved >= Math.max(fewestSaved, held.items.size / 4);
}

/** A snapshot is optional: without it, the next opening takes longer. */
async function save(state: State): Promise<void> {
  if (!isWorthSaving(state)) return;
  state.unsaved = 0;
  try {
    const bytes = await state.engine.snapshot?.();
    if (bytes) await state.snapshots?.write(state.log.version(), bytes);
  } catch {
    // The storage may be full.
  }
}

/** A snapshot holds words of what was removed. */
async function dropSnapshot({ snapshots, log }: State): Promise<void> {
  if (await snapshots?.find()) await snapshots?.write(log.version(), new Uint8Array());
}

/** An abort does not fail the call: the items are stored already. */
async function settle(state: State, signal: AbortSignal, options: { readonly measure: boolean }): Promise<void> {
  try {
    await state.engine.settle?.(signal, options);
    state.isSettled = true;
  } catch (error) {
    if (!signal.aborted) throw error;
  }
}

async function put(state: State, rows: readonly StoredRow[], key: string | undefined): Promise<void> {
  const once = key === undefined ? undefined : { key, digest: await digestOf(rows) };
  await write(state, async () => {
    if (once && await state.once.isDone(once)) return true;
    state.engine.require?.(rows);
    const change = { removed: [], put: rows };
    if (!await state.log.append(change, once ? state.once.changes(once) : [])) return false;
    await apply(state, change);
    return true;
  });
}

async function forget(state: State, { ids, filters = [] }: Removal): Promise<number> {
  const passes = compileFilters<StoredItem>(filters, readItem);
  const { items } = state.held;
  let removed: string[] = [];
  await write(state, async () => {
    state.held.expire();
    const candidates = ids ? [...new Set(ids)].flatMap((id) => items.get(id) ?? []) : [...items.values()];
    removed = candidates.flatMap((item) => passes(item) ? [item.id] : []);
    if (removed.length === 0) return true;
    const change = { removed, put: [] };
    if (!await state.log.append(change)) return false;
    await apply(state, change);
    return true;
  });
  return removed.length;
}

/** Retries while other instances write in between. */
async function write(state: State, work: () => Promise<boolean>): Promise<void> {
  for (let attempt = 0; attempt < 10; attempt++) {
    await catchUp(state);
    if (await work()) return;
  }
  throw new PinnaceError('conflict', 'Cannot write to the data source: other instances keep writing to it; try again');
}

/** A log is rewritten when a fifth of its rows are removed, and at least this many; and when all are, so that no text of them stays. */
const fewestDead = 1_000;

async function afterWriting(state: State, signal: AbortSignal): Promise<void> {
  const { held, log, engine } = state;
  const isEmptied = held.items.size === 0 && held.dead > 0;
  if (isEmptied || held.dead >= Math.max(fewestDead, (held.items.size + held.dead) / 5)) {
    const rows = held.items.values().map((item) => engine.rowOf?.(item) ?? { item });
    if (await log.rewrite(rows)) held.dead = 0;
  }
  if (isEmptied) await dropSnapshot(state);
  await settle(state, signal, { measure: true });
}

function digestOf(rows: readonly StoredRow[]): Promise<string> {
  return sha256(canonicalJson(rows.map(({ item: { updatedAt: _, expiresAt: __, ...item } }) => item)));
}

interface HeldItems {
  readonly items: Items;
  apply(change: LogChange): Promise<void>;
  clear(): void;
  leave(): void;
  /** Updates the engine from now on. With `restored` it has the current items already; otherwise they are all added. */
  follow(given: { readonly restored: boolean }): Promise<void>;
  expire(): void;
  /** The number of rows in the log that are no longer needed since it was last reset. */
  dead: number;
}

function createHeldItems(engine: ItemEngine, now: () => number): HeldItems {
  const items = createSplitMap<StoredItem>();
  let nextExpiry = Infinity;
  let follows = true;
  function drop(id: string): void {
    const item = items.get(id);
    if (!item) return;
    items.delete(id);
    if (follows) engine.remove(item);
    held.dead++;
  }
  const held: HeldItems = {
    items,
    dead: 0,
    async apply(change) {
      const turns = createTurns();
      for (const id of change.removed) drop(id);
      for (const row of change.put) {
        await turns.next();
        const { id, expiresAt = Infinity } = row.item;
        drop(id);
        if (follows && expiresAt <= now()) {
          held.dead++;
          continue;
        }
        items.set(id, row.item);
        if (follows) engine.add(row);
        nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
    clear() {
      for (const { id } of items.values()) drop(id);
    },
    leave: () => void (follows = false),
    async follow({ restored }) {
      const turns = createTurns();
      for (const item of items.values()) {
        await turns.next();
        // The snapshot has no items that had expired by then.
        if (restored && !engine.has?.(item.id)) drop(item.id);
        if (!restored) engine.add({ item });
      }
      follows = true;
      held.expire();
    },
    expire() {
      if (now() < nextExpiry) return;
      nextExpiry = Infinity;
      for (const { id, expiresAt = Infinity } of items.values()) {
        if (expiresAt <= now()) drop(id);
        else nextExpiry = Math.min(nextExpiry, expiresAt);
      }
    },
  };
  return held;
}

/** A key, and a digest of what is done under it. */
interface Keyed {
  readonly key: string;
  readonly digest: string;
}

interface Once {
  /** Whether it was done. Throws `conflict` when something else was. */
  isDone(keyed: Keyed): Promise<boolean>;
  changes(keyed: Keyed): readonly Change[];
}

const dayMs = 86_400_000;

/** Keeps keys in the storage under the prefix, or without one for as long as the process lives. */
function createOnce(storage: Storage | undefined, prefix: Key): Once {
  const noted = new Map<string, string>();
  return {
    async isDone({ key, digest }) {
      const known = storage ? (await storage.get([...prefix, 'once', key]))?.value : noted.get(key);
      if (known === undefined || known === digest) return known !== undefined;
      throw new PinnaceError('conflict', 'Cannot remember under this idempotency key: it was used for other items', {
        retryable: false,
        details: { reason: 'idempotency_key_reused' },
      });
    },
    changes({ key, digest }) {
      if (storage) return [{ key: [...prefix, 'once', key], value: digest, ifVersion: null, ttlMs: dayMs }];
      noted.set(key, digest);
      return [];
    },
  };
}
