/** Synchronizes a tree with its storage: one change at a time, and a change that cannot be stored is undone. */

import { PinnaceError } from '../../base/errors.ts';
import type { Core } from '../nodes/core.ts';
import { mutate, startTransaction } from '../nodes/mutate.ts';
import type { Attached, Mutation, TreeStore } from '../nodes/mutation.ts';
import type { TreeOp } from '../nodes/op.ts';
import type { StoredTree } from './stored-tree.ts';
import type { TreeRow } from '../nodes/row.ts';

/** Creates the store of a tree. */
export function createTreeStore(core: Core, stored: StoredTree, rows: () => Iterable<TreeRow>): TreeStore {
  let last: Promise<unknown> = Promise.resolve();

  async function refresh(): Promise<void> {
    const news = await stored.catchUp();
    const loaded = news ? undefined : await stored.load();
    if (!news && !loaded) throw closedError();
    if (loaded) replaceAll(core, loaded.rows);
    for (const { ops, origin } of news ?? loaded?.entries ?? []) mutate(core, ops, origin);
  }

  return {
    refresh,
    answer: (id) => stored.answer(id),
    takeTurn: () => stored.takeTurn(),
    releaseTurn: () => stored.releaseTurn(),
    lock(work) {
      const next = last.then(work, work);
      last = next.catch(() => {}); // the caller receives the failure
      return next;
    },
    async store(mutation, attached) {
      if (mutation.changes.length === 0 && !attached.answer) return;
      const isStored = await commit(stored, mutation, { ...attached, rows }).catch((error: unknown) => {
        takeBack(core, mutation);
        throw error;
      });
      if (isStored) return;
      takeBack(core, mutation);
      await refresh();
      throw new PinnaceError('conflict', 'Cannot change the tree: another instance has changed it meanwhile', {
        details: { reason: 'changed_elsewhere' },
      });
    },
  };
}

function closedError(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot refresh the stored tree: it was removed from the storage', {
    details: { reason: 'tree_removed' },
  });
}

function commit(
  stored: StoredTree,
  { ops }: Mutation,
  { origin, answer, rows }: Attached & { readonly rows: () => Iterable<TreeRow> },
): Promise<boolean> {
  return stored.commit({ ops, rows, ...(origin && { origin }), ...(answer && { answer }) });
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
