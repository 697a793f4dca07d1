/** What is measured: something that holds a tree and shows pages of its visible rows. Pinnace, and what people write by hand. */

import * as v from 'valibot';
import { createTree } from '../../../src/index.ts';
import type { TreeRow } from '../../../src/tree/index.ts';

/** A loaded tree. All nodes are collapsed at first. */
export interface Subject {
  expandAll(): void;
  collapseAll(): void;
  page(offset: number, limit: number): readonly unknown[];
  toggle(nodeId: string): void;
  move(nodeId: string, parentId: string): void;
}

/** Loads rows that are not checked. */
export type Load = (rows: readonly TreeRow[]) => Subject;

export function pinnace(rows: readonly TreeRow[]): Subject {
  const tree = createTree({ payloadTypes: { item: v.looseObject({}) }, rows, source: 'trusted' });
  const view = tree.view();
  const root = tree.rootId!;
  return {
    expandAll: () => void view.setAll(root, true),
    collapseAll: () => void view.setAll(root, false),
    page: (offset, limit) => view.rows({ offset, limit }),
    toggle: (nodeId) => void view.toggle(nodeId),
    move: (nodeId, parentId) => void tree.apply([{ kind: 'move', nodeId, place: { parentId, beforeId: null } }]),
  };
}

interface Item {
  readonly row: TreeRow;
  readonly children: Item[];
  parent: Item | undefined;
  isOpen: boolean;
}

/** A careful hand-written program: a map, lists of children, and the visible rows cached until something changes. */
export function naiveMap(rows: readonly TreeRow[]): Subject {
  const items = new Map<string, Item>();
  for (const row of rows) {
    const parent = row.parentId === null ? undefined : items.get(row.parentId);
    const item: Item = { row, children: [], parent, isOpen: false };
    parent?.children.push(item);
    items.set(row.nodeId, item);
  }
  const root = items.get(rows[0]!.nodeId)!;
  let visible: Item[] | undefined;
  const setAll = (isOpen: boolean): void => {
    for (const item of items.values()) item.isOpen = isOpen;
    visible = undefined;
  };
  return {
    expandAll: () => setAll(true),
    collapseAll: () => setAll(false),
    page: (offset, limit) => (visible ??= flatten(root)).slice(offset, offset + limit),
    toggle(nodeId) {
      const item = items.get(nodeId)!;
      item.isOpen = !item.isOpen;
      visible = undefined;
    },
    move(nodeId, parentId) {
      const item = items.get(nodeId)!;
      const parent = items.get(parentId)!;
      for (let above: Item | undefined = parent; above; above = above.parent) {
        if (above === item) throw new Error('cycle');
      }
      const siblings = item.parent!.children;
      siblings.splice(siblings.indexOf(item), 1);
      parent.children.push(item);
      item.parent = parent;
      visible = undefined;
    },
  };
}

function flatten(root: Item): Item[] {
  const visible: Item[] = [];
  const stack = [root];
  for (let item = stack.pop(); item; item = stack.pop()) {
    visible.push(item);
    if (!item.isOpen) continue;
    for (let i = item.children.length - 1; i >= 0; i--) stack.push(item.children[i]!);
  }
  return visible;
}

interface Nested {
  readonly nodeId: string;
  readonly children: Nested[];
  isOpen: boolean;
}

/** What is written first: nested objects, searched and flattened by recursion, each time anew. */
export function naiveNested(rows: readonly TreeRow[]): Subject {
  const byId = new Map<string, Nested>();
  for (const { nodeId, parentId } of rows) {
    const node: Nested = { nodeId, children: [], isOpen: false };
    if (parentId !== null) byId.get(parentId)!.children.push(node);
    byId.set(nodeId, node);
  }
  const root = byId.get(rows[0]!.nodeId)!;
  const find = (node: Nested, test: (node: Nested) => boolean): Nested | undefined => {
    if (test(node)) return node;
    for (const child of node.children) {
      const found = find(child, test);
      if (found) return found;
    }
    return undefined;
  };
  const withId = (nodeId: string): Nested => find(root, (node) => node.nodeId === nodeId)!;
  const setAll = (node: Nested, isOpen: boolean): void => {
    node.isOpen = isOpen;
    for (const child of node.children) setAll(child, isOpen);
  };
  const show = (node: Nested, visible: Nested[]): Nested[] => {
    visible.push(node);
    if (node.isOpen) { for (const child of node.children) show(child, visible); }
    return visible;
  };
  return {
    expandAll: () => setAll(root, true),
    collapseAll: () => setAll(root, false),
    page: (offset, limit) => show(root, []).slice(offset, offset + limit),
    toggle(nodeId) {
      const node = withId(nodeId);
      node.isOpen = !node.isOpen;
    },
    move(nodeId, parentId) {
      const node = withId(nodeId);
      const siblings = find(root, ({ children }) => children.includes(node))!.children;
      siblings.splice(siblings.indexOf(node), 1);
      withId(parentId).children.push(node);
    },
  };
}
