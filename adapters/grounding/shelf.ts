/** The items of one tenant in one source: kept in a log, searched by an engine, which follows the log. */

import { PinnaceError } from '../../src/errors.ts';
import type { Filter } from '../../src/filter.ts';
import { compileFilters } from '../../src/filter.ts';
import { canonicalJson } from '../../src/json.ts';
import type { Key } from '../../src/key.ts';
import type { GroundingRequest, SourceHit, Storage } from '../../src/ports.ts';
import { hashText } from './hash.ts';
import { type KeptItem, originOf, readItem } from './item.ts';
import { forgetfulLog, storedLog } from './item-log.ts';
import type { KeptRow, LogChange } from './log-part.ts';
import { createTurns } from './turns.ts';

/** What finds items. It is told of every row that comes and of every row that goes. */
export interface ItemEngine {
  /** Throws `invalid_argument` for rows that it cannot hold. */
  require?(rows: readonly KeptRow[]): void;
  /** The id is not there yet. */
  add(row: KeptRow): void;
  remove(item: KeptItem): void;
  /** Gives an item with what the engine keeps of it. */
  rowOf?(item: KeptItem): KeptRow;
  /** Gives the best hits for a query or an embedding; filters hold before anything is cut. */
  search(request: GroundingRequest, context: SearchContext): Promise<SourceHit[]>;
  /** Makes ready what is better made before the next question; with `measure` also what takes seconds, where it is worth it. */
  settle?(signal: AbortSignal, options: { readonly measure: boolean }): Promise<void>;
  /** What whoever operates it may want to know. */
  stats?(): Readonly<Record<string, unknown>>;
}

/** What an engine may look at while it searches. */
export interface SearchContext {
  readonly signal: AbortSignal;
  readonly items: ReadonlyMap<string, KeptItem>;
  readonly version: string;
}

/** The items of one tenant. */
export interface Shelf {
  version(): string;
  stats(): { readonly items: number; readonly details?: Readonly<Record<string, unknown>> };
  /** Reads what other instances have written, if it is time to. */
  refresh(signal: AbortSignal): Promise<void>;
  put(
    rows: readonly KeptRow[],
    once: { readonly key: string | undefined; readonly signal: AbortSignal },
  ): Promise<string[]>;
  forget(
    which: { ids?: readonly string[] | undefined; filters?: readonly Filter[] | undefined },
    signal: AbortSignal,
  ): Promise<number>;
  search(request: GroundingRequest, signal: AbortSignal): Promise<SourceHit[]>;
  settle(signal: AbortSignal): Promise<void>;
}

/** What a shelf is made of. */
export interface ShelfOptions {
  readonly engine: ItemEngine;
  readonly storage: Storage | undefined;
  readonly prefix: Key;
  readonly now: () => number;
  /** How old the knowledge of other instances' writes may be. */
  readonly refreshMs: number;
}

const dayMs = 86_400_000;
/** A log is rewritten when a fifth of what it holds is gone, and at least so many. */
const fewestDead = 1_000;

/** Gives the shelf. Nothing is read before the first call. */
export function createShelf({ engine, storage, prefix, now, refreshMs }: ShelfOptions): Shelf {
  const log = storage ? storedLog(storage, prefix) : forgetfulLog();
  const items = new Map<string, KeptItem>();
  let [refreshedAt, nextExpiry, dead] = [-Infinity, Infinity, 0];
  let settled = true;
  let queue: Promise<unknown> = Promise.resolve();
  /** What was done under which idempotency key, where no storage knows it. */
  const done = new Map<string, string>();

  /** One after another: what is written and read of the log. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = queue.then(work);
    queue = result.catch(() => undefined);
    return result;
  }

  function drop(id: string): void {
    const item = items.get(id);
    if (!item) return;
    items.delete(id);
    engine.remove(item);
    dead++;
  }

  async function apply(change: LogChange, signal?: AbortSignal): Promise<void> {
    const turns = createTurns(signal);
    for (const id of change.removed) drop(id);
    for (const row of change.put) {
      await turns.next();
      drop(row.item.id);
      if ((row.item.expiresAt ?? Infinity) <= now()) {
        dead++;
        continue;
      }
      items.set(row.item.id, row.item);
      engine.add(row);
      nextExpiry = Math.min(nextExpiry, row.item.expiresAt ?? Infinity);
    }
  }

  async function catchUp(): Promise<void> {
    for await (const change of log.catchUp()) {
      settled = false;
      // Not stopped by anybody's signal: half a change is none.
      if (change === 'reset') await apply({ removed: [...items.keys()], put: [] });
      else await apply(change);
    }
    refreshedAt = now();
  }

  /** What is kept is kept, also when whoever gave it is gone meanwhile. */
  async function settle(signal: AbortSignal, options: { readonly measure: boolean }): Promise<void> {
    try {
      await engine.settle?.(signal, options);
      settled = true;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  function expire(): void {
    if (now() < nextExpiry) return;
    nextExpiry = Infinity;
    for (const [id, { expiresAt = Infinity }] of items) {
      if (expiresAt <= now()) drop(id);
      else nextExpiry = Math.min(nextExpiry, expiresAt);
    }
  }

  async function known(onceKey: Key): Promise<unknown> {
    return storage ? (await storage.get(onceKey))?.value : done.get(JSON.stringify(onceKey));
  }

  /** Tries until nobody else has written in between. */
  async function write(work: () => Promise<boolean>): Promise<void> {
    for (let attempt = 0; attempt < 10; attempt++) {
      await catchUp();
      if (await work()) return;
    }
    throw new PinnaceError('conflict', 'Cannot write to the data source: others are writing all the time');
  }

  async function compact(): Promise<void> {
    if (dead < fewestDead || dead < (items.size + dead) / 5) return;
    if (await log.rewrite(items.values().map((item) => engine.rowOf?.(item) ?? { item }))) dead = 0;
  }

  return {
    version: () => log.version(),
    stats: () => ({ items: items.size, ...(engine.stats && { details: engine.stats() }) }),
    async refresh(signal) {
      if (now() - refreshedAt >= refreshMs || now() < refreshedAt) {
        await inTurn(catchUp);
      }
      if (!settled) await inTurn(() => settle(signal, { measure: false }));
      expire();
    },
    put: (given, { key, signal }) =>
      inTurn(async () => {
        const ids = given.map(({ item }) => item.id);
        const once = key === undefined ? undefined : { key: [...prefix, 'once', key], digest: await digestOf(given) };
        await write(async () => {
          if (once && isDone(once.digest, await known(once.key))) return true;
          const also = once && storage ? [{ key: once.key, value: once.digest, ifVersion: null, ttlMs: dayMs }] : [];
          engine.require?.(given);
          const change = { removed: [], put: given };
          if (!await log.append(change, also)) return false;
          if (once && !storage) done.set(JSON.stringify(once.key), once.digest);
          await apply(change);
          return true;
        });
        await compact();
        await settle(signal, { measure: true });
        return ids;
      }),
    forget: ({ ids, filters = [] }, signal) =>
      inTurn(async () => {
        const passes = compileFilters<KeptItem>(filters, readItem);
        let removed: string[] = [];
        await write(async () => {
          expire();
          const candidates = ids ? [...new Set(ids)].flatMap((id) => items.get(id) ?? []) : [...items.values()];
          removed = candidates.flatMap((item) => passes(item) ? [item.id] : []);
          if (removed.length === 0) return true;
          const change = { removed, put: [] };
          if (!await log.append(change)) return false;
          await apply(change);
          return true;
        });
        await compact();
        await settle(signal, { measure: true });
        return removed.length;
      }),
    async search(request, signal) {
      const asks = request.embedding || (request.query ?? '').trim() !== '';
      const context = { signal, items, version: log.version() };
      return asks ? await engine.search(request, context) : await list(request, context);
    },
    settle: (signal) => inTurn(() => settle(signal, { measure: true })),
  };
}

/** Filters alone: whatever passes, the latest first. */
async function list(
  { filters, topK }: GroundingRequest,
  { items, version, signal }: SearchContext,
): Promise<SourceHit[]> {
  const passes = compileFilters<KeptItem>(filters, readItem);
  const turns = createTurns(signal);
  const found: KeptItem[] = [];
  for (const item of items.values()) {
    await turns.next();
    if (passes(item)) found.push(item);
  }
  found.sort((a, b) => b.updatedAt - a.updatedAt || (a.id < b.id ? -1 : 1));
  return found.slice(0, topK).map((item) => ({
    ...plainHit(item, version),
    score: 0,
    scoreKind: 'exact',
    confidence: 0.5,
    matched: [],
  }));
}

/** What a hit says of its item, whatever found it. */
export function plainHit(item: KeptItem, version: string) {
  return {
    id: item.id,
    content: item.text,
    ...(item.title !== undefined && { title: item.title }),
    source: originOf(item, version),
    metadata: structuredClone(item.metadata),
  };
}

function isDone(digest: string, known: unknown): boolean {
  if (known === undefined || known === digest) return known !== undefined;
  throw new PinnaceError('conflict', 'Cannot remember under this idempotency key: it was used for other items', {
    retryable: false,
    details: { reason: 'idempotency_mismatch' },
  });
}

function digestOf(rows: readonly KeptRow[]): Promise<string> {
  return hashText(canonicalJson(rows.map(({ item: { updatedAt: _, expiresAt: __, ...item } }) => item)));
}
