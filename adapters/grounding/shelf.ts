/** The items of one tenant in one source: stored in a log, and searched by an engine that follows the log. */

import { PinnaceError } from '../../src/base/errors.ts';
import { compileFilters, type Filter } from '../../src/contracts/filter.ts';
import { canonicalJson } from '../../src/base/json.ts';
import type { Key } from '../../src/base/key.ts';
import type { GroundingRequest, SourceHit } from '../../src/contracts/grounding-source.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { sha256 } from '../../src/base/hash.ts';
import { createHeldItems, type HeldItems } from './held-items.ts';
import { readItem, type StoredItem } from './item.ts';
import type { ItemEngine } from './item-engine.ts';
import { type ItemLog, memoryLog, storedLog } from './item-log.ts';
import { listItems } from './list-items.ts';
import type { LogChange, StoredRow } from './log-part.ts';
import { createOnce, type Once } from './once.ts';
import { createSnapshotStore, type SnapshotStore, type StoredSnapshot } from './snapshot-store.ts';

/** The options of a shelf. */
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

/** The items of one tenant. */
export interface Shelf {
  version(): string;
  stats(): { readonly items: number; readonly details?: Readonly<Record<string, unknown>> };
  /** Reads what other instances have written, if it is time to. */
  refresh(signal: AbortSignal): Promise<void>;
  put(
    rows: readonly StoredRow[],
    once: { readonly key: string | undefined; readonly signal: AbortSignal },
  ): Promise<string[]>;
  forget(which: Removal, signal: AbortSignal): Promise<number>;
  search(request: GroundingRequest, signal: AbortSignal): Promise<SourceHit[]>;
  settle(signal: AbortSignal): Promise<void>;
}

/** What the steps of a shelf share. */
interface State {
  readonly engine: ItemEngine;
  readonly log: ItemLog;
  readonly held: HeldItems;
  readonly once: Once;
  /** For engines with snapshots. */
  readonly snapshots: SnapshotStore | undefined;
  /** Whether the engine was made ready after the latest change. */
  isSettled: boolean;
  /** Rows that came since the latest snapshot. */
  unsaved: number;
}

/** Opens a shelf. Nothing is read before the first call. */
export function createShelf({ engine, storage, prefix, now, refreshMs }: ShelfOptions): Shelf {
  const log = storage ? storedLog(storage, prefix, now) : memoryLog();
  const held = createHeldItems(engine, now);
  const snapshots = storage && engine.snapshot && createSnapshotStore(storage, prefix, now);
  const once = createOnce(storage, prefix);
  const state: State = { engine, log, held, once, snapshots, isSettled: true, unsaved: 0 };
  const inTurn = createQueue();
  let refreshedAt = -Infinity;
  return {
    version: () => log.version(),
    stats: () => ({ items: held.items.size, ...(engine.stats && { details: engine.stats() }) }),
    async refresh(signal) {
      if (now() - refreshedAt >= refreshMs || now() < refreshedAt) {
        await inTurn(() => catchUp(state));
        refreshedAt = now();
      }
      if (!state.isSettled) await inTurn(() => settle(state, signal, { measure: false }));
      held.expire();
      if (isWorthSaving(state)) void inTurn(() => save(state)); // callers need not wait for it
    },
    put: (rows, { key, signal }) =>
      inTurn(async () => {
        await put(state, rows, key);
        await afterWriting(state, signal);
        return rows.map(({ item }) => item.id);
      }),
    forget: (which, signal) =>
      inTurn(async () => {
        const count = await forget(state, which);
        await afterWriting(state, signal);
        return count;
      }),
    async search(request, signal) {
      const hasQuery = request.embedding || (request.query ?? '').trim() !== '';
      const context = { signal, items: held.items, version: log.version() };
      return hasQuery ? await engine.search(request, context) : await listItems(request, context);
    },
    settle: (signal) =>
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
