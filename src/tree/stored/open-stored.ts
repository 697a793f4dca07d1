/** Opens a stored tree, and edits it in memory. */

import { checkOptions } from '../../base/check-options.ts';
import { PinnaceError } from '../../base/errors.ts';
import type { Storage, Watchable } from '../../contracts/storage.ts';
import type { OnError } from '../../events/on-error.ts';
import { createReport, type Report } from '../../events/report.ts';
import { createTreeStore } from './tree-store.ts';
import { mutate } from '../nodes/mutate.ts';
import type { Mutation, Origin } from '../nodes/mutation.ts';
import type { TreeOp } from '../nodes/op.ts';
import { createStoredTree, type StoredTree } from './stored-tree.ts';
import { checkOps, coreOf, createTree, type CreateTreeOptions, type Tree } from '../tree.ts';

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

/** As `openTree`. */
export async function openStored(options: OpenTreeOptions): Promise<OpenTree> {
  checkOptions('open the tree', options, {
    storage: ['.commit', 'a storage, such as memoryStorage()'],
    treeId: ['text', 'the id of the tree in the storage'],
  });
  const { storage, treeId, now = Date.now, onError, ...rest } = options;
  const report = createReport(onError);
  const stored = createStoredTree(storage, { treeId, now });
  const found = await stored.load();
  const tree = createTree(found ? { ...rest, rows: found.rows, source: 'trusted' } : rest);
  if (!found && !(await stored.create(tree.rows()))) return await openStored(options);
  const core = coreOf(tree);
  for (const { ops, origin } of found?.entries ?? []) mutate(core, ops, origin);
  const treeStore = createTreeStore(core, stored, () => tree.rows());
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
