/** A tree of domain objects: fast at a million nodes, for people and agents at once. */

import { checkOptions, wrongArgument } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { childAt, childrenIn, countAt } from './nodes/children.ts';
import { type Core, createCore } from './nodes/core.ts';
import { cursorOf, find, isInside, slotOf } from './nodes/structure.ts';
import { type Cursor, depthAt, sizeOf, slotAt, subtree } from './nodes/layout.ts';
import { mutate } from './nodes/mutate.ts';
import type { Mutation, Origin, TreeEvent } from './nodes/mutation.ts';
import { none } from './nodes/node-store.ts';
import type { TreeOp } from './nodes/op.ts';
import { badPayload, type PayloadTypes } from './nodes/payload-types.ts';
import { badRows, checkRows, type TreeRow } from './nodes/row.ts';
import { rowOf, rowsOf } from './nodes/rows.ts';
import { createTreeView, type TreeView } from './views/tree-view.ts';

/** A node of the tree, as it is now. */
export interface TreeNode extends TreeRow {
  readonly depth: number;
  readonly childrenCount: number;
}

/** What `createTree` takes. */
export interface CreateTreeOptions {
  /** The types of payloads that nodes may have. */
  readonly payloadTypes: PayloadTypes;
  /** The first contents, in pre-order; the first row is the root. */
  readonly rows?: readonly TreeRow[];
  /** `trusted` rows are not checked against their schemas, and not copied. */
  readonly source?: 'checked' | 'trusted';
  /** The number of stored mutations, for `undo` and for the details of conflicts. */
  readonly historyLimit?: number;
  /**
   * What makes a version token stale for the tools: any change of the tree (`tree`, the default), or only a change of what the call
   * depends on (`node`), so that agents on separate branches do not meet.
   */
  readonly conflictScope?: 'tree' | 'node';
}

/**
 * A tree in memory. Payloads are never changed in place: readers may keep what they read, and must not change it.
 *
 * Several changes given to `apply` are one mutation: all or nothing. A change is checked on the present state, in one synchronous
 * step with its application.
 */
export interface Tree {
  readonly rootId: string | undefined;
  readonly size: number;
  /** Grows with every mutation that changes something. */
  readonly rev: number;
  get(nodeId: string): TreeNode | undefined;
  /** Children from an offset on. */
  children(nodeId: string, options: { readonly offset?: number; readonly limit: number }): readonly TreeNode[];
  /** The node's place among its siblings, from 0. */
  indexOf(nodeId: string): number;
  /** The size of the subtree, the node itself included. */
  sizeOf(nodeId: string): number;
  isInside(nodeId: string, ancestorId: string): boolean;
  /** Every node in pre-order; the tree must not change meanwhile. */
  rows(nodeId?: string): IterableIterator<TreeRow>;
  /** @throws PinnaceError `not_found`, `invalid_argument` or `conflict`; the tree is then as before. */
  apply(ops: readonly TreeOp[], origin?: Origin): Mutation;
  view(options?: { readonly defaultExpanded?: boolean }): TreeView;
  /** Emits every mutation, in order; returns the function that unsubscribes. */
  subscribe(listener: (event: TreeEvent) => void): () => void;
}

/**
 * Creates a tree.
 *
 * @throws PinnaceError `invalid_argument` for rows that do not fit their schemas, or are no tree in pre-order whose first row is the
 * root (`invalid_rows`): a circle, a missing parent, a second root.
 * @example
 * const tree = createTree({
 *   payloadTypes: { task: v.object({ name: v.string() }) },
 *   rows: [{ nodeId: 'root', parentId: null, payloadType: 'task', payload: { name: 'All' } }],
 * });
 */
export function createTree(options: CreateTreeOptions): Tree {
  checkOptions('create the tree', options, {
    payloadTypes: ['object', 'a schema for each type of node, such as { task: v.object({ … }) }'],
    rows: ['array?', 'an array of rows, such as [{ nodeId, parentId: null, payloadType, payload }]'],
  });
  const { payloadTypes, rows = [], source, historyLimit = 1000, conflictScope = 'tree' } = options;
  const core = createCore({ payloadTypes, expected: rows.length, historyLimit, conflictScope });
  if (rows.length > 0) load(core, source === 'trusted' ? rows : checkRows(core.types, rows));
  const tree: Tree = {
    get rootId() {
      return core.root === none ? undefined : core.store.ids[core.root];
    },
    get size() {
      return core.size;
    },
    get rev() {
      return core.rev;
    },
    get(nodeId) {
      const cursor = find(core, nodeId);
      return cursor && nodeAt(core, cursor);
    },
    children: (nodeId, { offset = 0, limit }) => children(core, nodeId, { offset, limit }),
    indexOf: (nodeId) => indexOf(core, nodeId),
    sizeOf: (nodeId) => sizeOf(core.sequence.layout, subtree(core.sequence.layout, existing(core, nodeId))),
    isInside: (nodeId, ancestorId) =>
      isInside(core, { inner: existing(core, nodeId), outer: existing(core, ancestorId) }),
    rows: (nodeId) => rowsOf(core, nodeId),
    apply: (ops, origin) => mutate(core, checkOps(core, ops), origin),
    view: ({ defaultExpanded = false } = {}) => createTreeView(core, { defaultExpanded }),
    subscribe(listener) {
      core.listeners.add(listener);
      return () => void core.listeners.delete(listener);
    },
  };
  cores.set(tree, core);
  return tree;
}

const cores = new WeakMap<Tree, Core>();

/** The inside of a tree, for the files of this room. */
export function coreOf(tree: Tree): Core {
  const core = cores.get(tree);
  if (core) return core;
  throw new PinnaceError('invalid_argument', 'Cannot use this as a tree: only what "createTree" gave is one');
}

/** The first contents are no mutation: there is nothing to take back. */
function load(core: Core, rows: readonly TreeRow[]): void {
  requireRoot(rows);
  mutate(core, [{ kind: 'insert', rows, place: { parentId: null, beforeId: null } }]);
  core.rev = 0;
  core.history.clear();
}

/** A tree has one root: with a parent, the first row is part of a circle, comes before its parent, or is part of another tree. */
function requireRoot([root, ...others]: readonly TreeRow[]): void {
  if (!root || (root.parentId ?? null) === null) return;
  const { nodeId, parentId } = root;
  const parent = others.find((row) => row.nodeId === parentId);
  const isCircle = parentId === nodeId || (parent && leadsTo(nodeId, parent, others));
  if (isCircle) throw badRows(root, `its parent "${parentId}" is itself or below it: rows must not form a circle`);
  const where = parent ? 'comes after it' : 'is not among the rows';
  throw badRows(root, `its parent "${parentId}" ${where}; the first row is the root, with "parentId": null`);
}

function leadsTo(nodeId: string, from: TreeRow, rows: readonly TreeRow[]): boolean {
  const parents = new Map(rows.map((row) => [row.nodeId, row.parentId]));
  const seen = new Set<string>();
  for (let at: string | null | undefined = from.parentId; at && !seen.has(at); at = parents.get(at)) {
    if (at === nodeId) return true;
    seen.add(at);
  }
  return false;
}

/** Checks rows and payloads, and returns them as the schemas make them. */
export function checkOps(core: Core, ops: readonly TreeOp[]): readonly TreeOp[] {
  checkOptions('change the tree', { changes: ops }, { changes: ['array', 'an array of changes'] });
  return ops.map((op) => checkOp(core, op));
}

function checkOp(core: Core, op: TreeOp): TreeOp {
  if (op.kind === 'insert' || op.kind === 'content') return { ...op, rows: checkRows(core.types, op.rows) };
  if (op.kind === 'remove' || op.kind === 'move') return op;
  if (op.kind !== 'payload') {
    throw wrongArgument('change the tree', 'kind', '"kind" must be "insert", "remove", "move", "payload" or "content"');
  }
  const check = core.types.check(op.payloadType, op.payload);
  if (check.ok) return { ...op, payload: check.payload };
  throw badPayload(`the payload of node "${op.nodeId}"`, check);
}

function existing(core: Core, nodeId: string): Cursor {
  const slot = slotOf(core, nodeId);
  if (slot !== none) return cursorOf(core, slot);
  throw new PinnaceError('not_found', `Cannot find node "${nodeId}": the tree has no such node`);
}

function nodeAt(core: Core, cursor: Cursor): TreeNode {
  const { store, sequence: { layout } } = core;
  const slot = slotAt(layout, cursor);
  return { ...rowOf(core, slot), depth: depthAt(layout, cursor), childrenCount: store.childCounts[slot]! };
}

function children(core: Core, nodeId: string, { offset, limit }: { offset: number; limit: number }): TreeNode[] {
  const { layout } = core.sequence;
  const span = subtree(layout, existing(core, nodeId));
  const depth = depthAt(layout, span.start) + 1;
  const start = childAt(layout, span, { depth, rank: offset });
  return childrenIn(layout, { start, end: span.end }, { depth, limit }).cursors.map((cursor) => nodeAt(core, cursor));
}

function indexOf(core: Core, nodeId: string): number {
  const { store, sequence: { layout } } = core;
  const end = existing(core, nodeId);
  const parent = store.parents[slotAt(layout, end)]!; // safe: a cursor of the tree
  return parent === none ? 0 : countAt(layout, { start: cursorOf(core, parent), end }, depthAt(layout, end));
}
