/** A tree of domain objects: fast at a million nodes, for people and agents at once. */

import { checkKnownOptions, checkOptions, optional, wrongArgument } from '../base/check-options.ts';
import { PinnaceError } from '../base/errors.ts';
import { none, type Payload } from './node-store.ts';
import type { TreeOp } from './ops.ts';
import { badPayload, badRows, checkRows, type PayloadTypes, type TreeRow } from './payload-types.ts';
import { childAt, childrenIn, countAt } from './placing.ts';
import { type Cursor, depthAt, sizeOf, slotAt, subtree } from './sequence.ts';
import { cursorOf, find, isInside, rowOf, rowsOf, slotOf } from './structure.ts';
import { Core, mutate, type Mutation, type Origin, type TreeEvent } from './tree-core.ts';
import type { VisibleRows } from './view.ts';

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
  checkKnownOptions('create the tree', options, {
    payloadTypes: ['object', 'a schema for each type of node, such as { task: v.object({ … }) }'],
    rows: ['array?', 'an array of rows, such as [{ nodeId, parentId: null, payloadType, payload }]'],
    ...optional('source', 'historyLimit', 'conflictScope'),
  });
  const { payloadTypes, rows = [], source, historyLimit = 1000, conflictScope = 'tree' } = options;
  const core = new Core({ payloadTypes, expected: rows.length, historyLimit, conflictScope });
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

/** One visible row. */
export interface ViewRow {
  readonly nodeId: string;
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly payload: Payload;
  /** Counted from the root of the tree. */
  readonly depth: number;
  readonly isExpanded: boolean;
  readonly childrenCount: number;
}

/** Which nodes are expanded, and the rows that are visible so. Follows every change of the tree. */
export interface TreeView {
  /** The number of visible rows. */
  rowCount(): number;
  /** The visible rows from a rank on. */
  rows(options: { readonly offset: number; readonly limit: number }): readonly ViewRow[];
  /** The row's rank; -1 where the node is unknown or inside a collapsed one. */
  rankOf(nodeId: string): number;
  isExpanded(nodeId: string): boolean;
  /** These give whether anything changed. */
  setExpanded(nodeId: string, expanded: boolean): boolean;
  toggle(nodeId: string): boolean;
  /** The node and everything below it. */
  setAll(nodeId: string, expanded: boolean): boolean;
  /** Expands what hides the node. */
  reveal(nodeId: string): void;
  /** Forgets the view. */
  close(): void;
}

function createTreeView(core: Core, { defaultExpanded }: { readonly defaultExpanded: boolean }): TreeView {
  const view = core.addView({ defaultExpanded });
  return {
    rowCount: () => view.rowsBefore(view.whole(), view.whole().end),
    rows({ offset, limit }) {
      const all = view.whole();
      return toRows(core, view.rows(all, { from: view.rowAt(all, offset), limit }));
    },
    rankOf(nodeId) {
      const cursor = find(core, nodeId);
      return cursor && view.hiddenAt(cursor) === 0 ? view.rowsBefore(view.whole(), cursor) : -1;
    },
    isExpanded: (nodeId) => view.isExpanded(existing(core, nodeId)),
    setExpanded: (nodeId, expanded) => view.setExpanded(existing(core, nodeId), expanded),
    toggle(nodeId) {
      const cursor = existing(core, nodeId);
      return view.setExpanded(cursor, !view.isExpanded(cursor));
    },
    setAll: (nodeId, expanded) => view.setAll(existing(core, nodeId), expanded),
    reveal: (nodeId) => reveal(core, nodeId, (slot) => view.setExpanded(cursorOf(core, slot), true)),
    close: () => core.dropView(view),
  };
}

function reveal(core: Core, nodeId: string, expand: (slot: number) => void): void {
  existing(core, nodeId);
  const { parents, index } = core.store;
  for (let slot = parents[index.find(nodeId)]!; slot >= 0; slot = parents[slot]!) expand(slot);
}

function toRows({ store, types: { names } }: Core, { slots, depths, expanded }: VisibleRows): readonly ViewRow[] {
  const { ids, parents, payloads, types, childCounts } = store;
  const rows: ViewRow[] = [];
  for (let i = 0; i < slots.length; i++) {
    const slot = slots[i]!;
    const parent = parents[slot]!;
    rows.push({
      nodeId: ids[slot]!,
      parentId: parent < 0 ? null : ids[parent]!,
      payloadType: names[types[slot]!]!,
      payload: payloads[slot]!,
      depth: depths[i]!,
      isExpanded: expanded[i]!,
      childrenCount: childCounts[slot]!,
    });
  }
  return rows;
}
