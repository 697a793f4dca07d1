/** Changes the tree: several operations as one mutation, all or nothing, under one revision. */

import type { Core } from './core.ts';
import type { Author } from './history.ts';
import type { Mutation, Origin } from './mutation.ts';
import { type Applied, applyOp, type InverseOp, type TreeOp } from './op.ts';
import { rowsOf } from './rows.ts';
import { discardDetached } from './detached.ts';
import { versionOf } from './version.ts';

/**
 * Applies the operations in order. Each sees what the ones before it did.
 *
 * @throws PinnaceError what the first operation that fails throws; the tree is then as before.
 */
export function mutate(core: Core, ops: Iterable<InverseOp>, origin?: Origin): Mutation {
  const transaction = startTransaction(core);
  for (const op of ops) transaction.apply(op);
  return transaction.end(origin);
}

/** A mutation in the making. Nothing else may happen to the tree until it ends. */
export interface Transaction {
  /** Applies one operation; when it throws, all before it are taken back. Returns whether it changed anything. */
  apply(op: InverseOp): boolean;
  /** Notes that it takes back the mutation that gave this revision. */
  undoes(rev: number): void;
  /** Takes everything back. */
  abort(): void;
  /** `view` is the caller's, as the version of its answer names it. */
  end(origin?: Origin, view?: Author['view']): Mutation;
}

/** The view part of an event's version: it is of no agent's view. */
export const noView = { viewId: '0', viewRev: 0 };

/** Starts a mutation. */
export function startTransaction(core: Core): Transaction {
  const done: Applied[] = [];
  const ops: TreeOp[] = [];
  let undoes: number | undefined;
  const abort = (): void => {
    for (const { inverse } of done.splice(0).toReversed()) takeBack(core, inverse);
  };
  return {
    abort,
    undoes: (rev) => void (undoes = rev),
    apply(op) {
      try {
        const applied = applyOp(core, op);
        if (applied) done.push(applied);
        if (applied && core.treeStore) ops.push(asData(core, op));
        return applied !== undefined;
      } catch (error) {
        abort();
        throw error;
      }
    },
    end(origin, view) {
      const changes = done.map(({ change }) => change);
      if (changes.length === 0) return { rev: core.rev, changes, ops };
      const rev = ++core.rev;
      core.history.add(core, {
        rev,
        author: origin && { agentId: origin.agentId, view: view && { viewId: view.viewId, viewRev: view.viewRev } },
        changes,
        inverses: done.map(({ inverse }) => inverse).toReversed(),
        undoes,
        undone: false,
      });
      const versionAt = (at: number): string => versionOf({ epoch: core.epoch, rev: at }, noView);
      core.publish({
        rev,
        version: versionAt(rev),
        changes,
        ...(origin && { origin }),
        ...(undoes !== undefined && { undoes: versionAt(undoes) }),
      });
      return { rev, changes, ops };
    },
  };
}

/** What came back of a removed subtree, as rows. */
function asData(core: Core, op: InverseOp): TreeOp {
  const { ids } = core.store;
  if (op.kind === 'refill') return { kind: 'content', nodeId: op.nodeId, rows: [...rowsOf(core, op.nodeId)].slice(1) };
  if (op.kind !== 'restore') return op;
  return { kind: 'insert', rows: [...rowsOf(core, ids[op.detached.root])], place: op.place };
}

/** Undoes one operation completely; nodes that it inserted are freed. */
function takeBack(core: Core, inverse: InverseOp): void {
  const applied = applyOp(core, inverse);
  const undone = applied?.inverse;
  if (inverse.kind === 'remove' && undone?.kind === 'restore') discardDetached(core, undone.detached);
  if (inverse.kind === 'refill' && undone?.kind === 'refill') discardDetached(core, undone.detached);
}
