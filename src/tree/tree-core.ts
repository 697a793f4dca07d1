/**
 * The tree inside the room: columns, order, views, log. `createTree` shows the part of it that is for everybody. What must hold:
 *
 * - A change is one synchronous step. It happens as a whole, or throws before anything has changed; so does a mutation of several.
 * - Payloads and blocks are never changed in place, only replaced: what a reader, a snapshot or the history has stays as it was.
 * - Before payload, type, parent or number of children of a node change, `store.touch` saves its record for open snapshots.
 * - A revision names one state. What could not be stored is taken back by a mutation of its own, never by setting `rev` back.
 * - Nodes that were removed keep their slots until no snapshot can read them and no undo can bring them back.
 */

import { NodeStore, none } from './node-store.ts';
import { type Applied, applyOp, type Author, History, type InverseOp, type TreeOp } from './ops.ts';
import { createTypeRegistry, type PayloadTypes, type TypeRegistry } from './payload-types.ts';
import { discardDetached } from './placing.ts';
import { Sequence } from './sequence.ts';
import { Snapshots } from './snapshots.ts';
import { rowsOf, type Structure, type TreeChange, versionOf } from './structure.ts';
import { View } from './view.ts';

export class Core implements Structure {
  readonly types: TypeRegistry;
  readonly store: NodeStore;
  readonly sequence: Sequence;
  readonly views = new Set<View>();
  readonly snapshots: Snapshots;
  readonly history: History;
  /** Differs for every life of a tree, so that no version token outlives it. */
  readonly epoch: string;
  /** What a version token must cover: every change of the tree, or those of the nodes that a call depends on. */
  readonly conflictScope: 'tree' | 'node';
  readonly listeners = new Set<(event: TreeEvent) => void>();
  root = none;
  size = 0;
  /** Grows with every mutation that changes something. */
  rev = 0;
  /** Stores what changes the tree, if the tree is in storage. */
  treeStore: TreeStore | undefined;

  constructor({ payloadTypes, expected, historyLimit, conflictScope }: {
    readonly payloadTypes: PayloadTypes;
    readonly expected: number;
    readonly historyLimit: number;
    readonly conflictScope: 'tree' | 'node';
  }) {
    const [seed = 0, ...epoch] = crypto.getRandomValues(new Uint32Array(3));
    this.types = createTypeRegistry(payloadTypes);
    this.store = new NodeStore({ expected, seed });
    this.sequence = new Sequence(this.store, { expected });
    this.snapshots = new Snapshots(this.store);
    this.history = new History(historyLimit, this.snapshots);
    this.epoch = epoch.map((part) => part.toString(36)).join('');
    this.conflictScope = conflictScope;
  }

  readonly isLive = (slot: number): boolean => this.sequence.has(slot);

  publish(event: TreeEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch {
        // the mutation has happened: a listener cannot fail it
      }
    }
  }

  addView({ defaultExpanded }: { readonly defaultExpanded: boolean }): View {
    const view = View.of(this.sequence, { defaultExpanded });
    this.views.add(view);
    this.sequence.watchers.add(view);
    return view;
  }

  dropView(view: View): void {
    this.views.delete(view);
    this.sequence.watchers.delete(view);
  }
}

/** Who changes the tree, as the change feed reports it. */
export interface Origin {
  readonly agentId: string;
  /** The tool, or what else the caller calls it. */
  readonly operation: string;
}

/** One mutation, as the change feed reports it. */
export interface TreeEvent {
  readonly rev: number;
  /** The version that the mutation gave, as the tool `undo` takes it. */
  readonly version: string;
  readonly changes: readonly TreeChange[];
  readonly origin?: Origin;
  /** The version of the mutation that this one took back. */
  readonly undoes?: string;
}

/** The outcome of a mutation. Without changes, the revision is as before. */
export interface Mutation {
  readonly rev: number;
  readonly changes: readonly TreeChange[];
  /** What was done, as data; only where the tree is in storage. */
  readonly ops: readonly TreeOp[];
}

/** The answer that is stored for an idempotency key. */
export interface Remembered {
  /** Digest of the request's content. */
  readonly digest: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly at: number;
}

/** What belongs to a mutation besides its operations. */
export interface Attached {
  readonly origin?: Origin | undefined;
  readonly answer?: { readonly id: string; readonly remembered: Remembered } | undefined;
}

export interface TreeStore {
  lock<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Stores a mutation that was just made. When it throws, the mutation was taken back, as a mutation of its own: no revision ever
   * names two states. `conflict`: another instance has changed the tree, and this one has taken that over.
   */
  store(mutation: Mutation, attached: Attached): Promise<void>;
  /** What was answered to a request with this id, by any instance. */
  answer(id: string): Promise<Remembered | undefined>;
  /** Lets this instance write before all others, until it has stored a change or releases its turn. */
  takeTurn(): Promise<void>;
  releaseTurn(): Promise<void>;
  /** Takes over what other instances have done. */
  refresh(): Promise<void>;
}

/**
 * Applies the operations in order. Each sees what the ones before it did.
 * @throws PinnaceError what the first operation that fails throws; the tree is then as before.
 */
export function mutate(core: Core, ops: Iterable<InverseOp>, origin?: Origin): Mutation {
  const transaction = startTransaction(core);
  for (const op of ops) transaction.apply(op);
  return transaction.end(origin);
}

/** A mutation in the making. Nothing else may happen to the tree until it ends. */
export interface Transaction {
  apply(op: InverseOp): boolean;
  /** Notes that it takes back the mutation that gave this revision. */
  undoes(rev: number): void;
  abort(): void;
  /** `view` is the caller's, as the version of its answer names it. */
  end(origin?: Origin, view?: Author['view']): Mutation;
}

/** The view part of an event's version: it is of no agent's view. */
export const noView = { viewId: '0', viewRev: 0 };

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
