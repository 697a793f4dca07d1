/** Opens a stored tree, and edits it in memory. */

import { checkOptions } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import type { Storage, Watchable } from '../contracts/storage.ts';
import { createReport, type OnError, type Report } from '../events/report.ts';
import type { TreeOp } from './ops.ts';
import type { TreeRow } from './payload-types.ts';
import { StoredTree } from './stored-tree.ts';
import {
  type Attached,
  type Core,
  mutate,
  type Mutation,
  type Origin,
  type Remembered,
  startTransaction,
  type TreeStore,
} from './tree-core.ts';
import { checkOps, coreOf, createTree, type CreateTreeOptions, type Tree } from './tree.ts';

/** What `openTree` takes. */
export interface OpenTreeOptions extends CreateTreeOptions {
  /** Where the tree is stored. */
  readonly storage: Storage & Partial<Watchable>;
  /** Which tree of the storage. */
  readonly treeId: string;
  /** Receives why work in the background failed: the removal of unfinished checkpoints, and reading what others have changed. */
  readonly onError?: OnError;
  /** Milliseconds since 1970, for the age of unfinished checkpoints. */
  readonly now?: () => number;
}

/** A tree in storage. Its `apply` refuses: a change must be stored before it counts. */
export interface OpenTree extends Tree {
  /**
   * Makes and stores a change.
   *
   * @throws PinnaceError `conflict` when another instance has changed the tree, which this one then has taken over.
   */
  write(ops: readonly TreeOp[], origin?: Origin): Promise<Mutation>;
  /** Takes over what other instances have changed. */
  refresh(): Promise<void>;
  /** From now on takes over what other instances change, soon after they did, until the signal aborts. */
  follow(signal: AbortSignal): void;
}

export async function openStored(options: OpenTreeOptions): Promise<OpenTree> {
  checkOptions('open the tree', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    treeId: ['text', 'the id of the tree in the storage'],
  });
  const { storage, treeId, now = Date.now, onError, ...rest } = options;
  const report = createReport(onError);
  const stored = new StoredTree(storage, { treeId, now });
  const found = await stored.load();
  const tree = createTree(found ? { ...rest, rows: found.rows, source: 'trusted' } : rest);
  if (!found && !(await stored.create(tree.rows()))) return await openStored(options);
  const core = coreOf(tree);
  for (const { ops, origin } of found?.entries ?? []) mutate(core, ops, origin);
  const treeStore = new SyncedTree(core, stored, () => tree.rows());
  core.treeStore = treeStore;
  void stored.sweep().catch((cause: unknown) => report(cause, { kind: 'storage', id: 'sweep' })); // the next checkpoint tries again
  const refresh = (): Promise<void> => treeStore.lock(() => treeStore.refresh());
  return Object.assign(tree, {
    apply: refuseApply,
    refresh,
    follow: (signal: AbortSignal) => follow(stored, { signal, refresh, report }),
    write: (ops: readonly TreeOp[], origin?: Origin) =>
      treeStore.lock(async () => {
        const mutation = mutate(core, checkOps(core, ops), origin);
        await treeStore.store(mutation, { origin });
        return mutation;
      }),
  });
}

function follow(
  stored: StoredTree,
  { signal, refresh, report }: {
    readonly signal: AbortSignal;
    readonly refresh: () => Promise<void>;
    readonly report: Report;
  },
): void {
  if (signal.aborted) return;
  // The next news, or the next change, tries again.
  const onNews = (): void => void refresh().catch((cause: unknown) => report(cause, { kind: 'storage', id: 'watch' }));
  const stop = stored.watch(onNews);
  signal.addEventListener('abort', stop, { once: true });
}

function refuseApply(): never {
  throw new PinnaceError(
    'invalid_argument',
    'Cannot change a stored tree with "apply": use "write", which stores the change',
  );
}

/** Keeps a tree and its storage the same: one change at a time, and a change that cannot be stored is undone. */
class SyncedTree implements TreeStore {
  readonly #core: Core;
  readonly #stored: StoredTree;
  readonly #rows: () => Iterable<TreeRow>;
  #last: Promise<unknown> = Promise.resolve();

  constructor(core: Core, stored: StoredTree, rows: () => Iterable<TreeRow>) {
    this.#core = core;
    this.#stored = stored;
    this.#rows = rows;
  }

  lock<T>(work: () => Promise<T>): Promise<T> {
    const next = this.#last.then(work, work);
    this.#last = next.catch(() => {}); // the caller receives the failure
    return next;
  }

  async store(mutation: Mutation, { origin, answer }: Attached): Promise<void> {
    if (mutation.changes.length === 0 && !answer) return;
    const writing = { ops: mutation.ops, rows: this.#rows, ...(origin && { origin }), ...(answer && { answer }) };
    const isStored = await this.#stored.commit(writing).catch((error: unknown) => {
      takeBack(this.#core, mutation);
      throw error;
    });
    if (isStored) return;
    takeBack(this.#core, mutation);
    await this.refresh();
    throw new PinnaceError('conflict', 'Cannot change the tree: another instance has changed it meanwhile', {
      details: { reason: 'changed_elsewhere' },
    });
  }

  async refresh(): Promise<void> {
    const news = await this.#stored.catchUp();
    const loaded = news ? undefined : await this.#stored.load();
    if (!news && !loaded) throw closedError();
    if (loaded) replaceAll(this.#core, loaded.rows);
    for (const { ops, origin } of news ?? loaded?.entries ?? []) mutate(this.#core, ops, origin);
  }

  answer(id: string): Promise<Remembered | undefined> {
    return this.#stored.answer(id);
  }

  takeTurn(): Promise<void> {
    return this.#stored.takeTurn();
  }

  releaseTurn(): Promise<void> {
    return this.#stored.releaseTurn();
  }
}

function closedError(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot refresh the stored tree: it was removed from the storage', {
    details: { reason: 'tree_removed' },
  });
}

function takeBack(core: Core, { rev, changes }: Mutation): void {
  const entry = changes.length > 0 ? core.history.get(rev) : undefined;
  if (!entry) return;
  const transaction = startTransaction(core);
  for (const inverse of entry.inverses) transaction.apply(inverse);
  transaction.undoes(rev);
  const undoing = core.history.get(transaction.end().rev);
  for (const retracted of [entry, undoing]) if (retracted) retracted.isRetracted = true;
}

function replaceAll(core: Core, [root, ...below]: readonly TreeRow[]): void {
  if (!root) return;
  const { nodeId, payloadType, payload } = root;
  const ops: TreeOp[] = core.size === 0
    ? [{ kind: 'insert', rows: [root], place: { parentId: null, beforeId: null } }]
    : [{ kind: 'payload', nodeId, payloadType, payload }];
  mutate(core, [...ops, { kind: 'content', nodeId, rows: below }]);
}
