/**
 * Tree components of others, where they are installed: `PINNACE_BENCH_PEERS` names a folder whose `node_modules` has
 * `monaco-editor`, `@headless-tree/core`, `@tanstack/table-core`, `immer` and `mutative`. They are too large to be dependencies.
 */

import { join } from 'node:path';
import process from 'node:process';
import { pathToFileURL } from 'node:url';
import type { TreeRow } from '../../../src/tree/index.ts';
import type { Load, Subject } from './subject.ts';

// Packages that are no dependencies have no types here.
// oxlint-disable-next-line typescript/no-explicit-any
type Untyped = any;

const folder = process.env.PINNACE_BENCH_PEERS;

async function load(path: string): Promise<Untyped> {
  return await import(pathToFileURL(join(folder!, 'node_modules', path)).href);
}

/** The peers that could be loaded, and why others could not. */
export async function findPeers(): Promise<{ peers: Record<string, Load>; missing: string[] }> {
  const peers: Record<string, Load> = {};
  const missing: string[] = [];
  if (folder === undefined) return { peers, missing: ['all (set PINNACE_BENCH_PEERS to a folder with node_modules)'] };
  for (const [name, make] of Object.entries(makers)) {
    try {
      peers[name] = await make();
    } catch (error) {
      missing.push(`${name} (${String(error).split('\n')[0]})`);
    }
  }
  return { peers, missing };
}

const makers: Readonly<Record<string, () => Promise<Load>>> = {
  'VS Code': vscode,
  'headless-tree': headlessTree,
  'TanStack': tanstack,
  'immer': async () => immutable((await load('immer/dist/immer.mjs')).produce),
  'mutative': async () => immutable((await load('mutative/dist/mutative.esm.mjs')).create),
};

interface Plain {
  readonly row: TreeRow;
  readonly children: Plain[];
  parent: Plain | undefined;
}

function plainTree(rows: readonly TreeRow[]): { root: Plain; items: Map<string, Plain> } {
  const items = new Map<string, Plain>();
  for (const row of rows) {
    const parent = row.parentId === null ? undefined : items.get(row.parentId);
    const item: Plain = { row, children: [], parent };
    parent?.children.push(item);
    items.set(row.nodeId, item);
  }
  return { root: items.get(rows[0]!.nodeId)!, items };
}

/** The model of VS Code's trees, with a rendered list that its splice events update, as in the list widget. */
async function vscode(): Promise<Load> {
  const { ObjectTreeModel } = await load('monaco-editor/esm/vs/base/browser/ui/tree/objectTreeModel.js');
  const { splice } = await load('monaco-editor/esm/vs/base/common/arrays.js');
  return (rows) => {
    const { root, items } = plainTree(rows);
    const model = new ObjectTreeModel('bench', { collapseByDefault: true });
    const list: Untyped[] = [];
    model.onDidSpliceRenderedNodes((event: Untyped) => splice(list, event.start, event.deleteCount, event.elements));
    const asInput = (item: Plain): object => ({ element: item, collapsed: true, children: item.children.map(asInput) });
    model.setChildren(null, [asInput(root)]);
    const asElement = (node: Untyped): object => ({ ...node, children: node.children.map(asElement) });
    return {
      expandAll: () => model.setCollapsed(root, false, true),
      collapseAll: () => model.setCollapsed(root, true, true),
      page: (offset, limit) => list.slice(offset, offset + limit),
      toggle: (nodeId) => model.setCollapsed(items.get(nodeId)),
      move(nodeId, parentId) { // it knows no move: the children of both parents are set anew
        const node = model.getNode(items.get(nodeId));
        const moved = asElement(node);
        const rest = node.parent.children.filter((child: Untyped) => child !== node).map(asElement);
        model.setChildren(node.parent.element, rest);
        const target = items.get(parentId);
        model.setChildren(target, [...model.getNode(target).children.map(asElement), moved]);
      },
    };
  };
}

async function headlessTree(): Promise<Load> {
  const { createTree, syncDataLoaderFeature } = await load('@headless-tree/core/dist/index.mjs');
  return (rows): Subject => {
    const { root, items } = plainTree(rows);
    const top = { row: { payload: {} }, children: [root] };
    const get = (id: string): Untyped => (id === '' ? top : items.get(id));
    const tree = createTree({
      rootItemId: '',
      getItemName: (item: Untyped) => item.getItemData().name,
      isItemFolder: (item: Untyped) => get(item.getId()).children.length > 0,
      dataLoader: {
        getItem: (id: string) => get(id).row.payload,
        getChildren: (id: string) => get(id).children.map((child: Plain) => child.row.nodeId),
      },
      features: [syncDataLoaderFeature],
      initialState: { expandedItems: [] },
    });
    tree.setMounted(true);
    tree.rebuildTree();
    const setOpen = (ids: readonly string[]): void => {
      tree.applySubStateUpdate('expandedItems', ids);
      tree.rebuildTree();
    };
    const inner = rows.map(({ nodeId }) => nodeId).filter((nodeId) => get(nodeId).children.length > 0);
    return {
      expandAll: () => setOpen(inner),
      collapseAll: () => setOpen([]),
      page: (offset, limit) => tree.getItems().slice(offset, offset + limit),
      toggle(nodeId) {
        const item = tree.getItemInstance(nodeId);
        if (item.isExpanded()) item.collapse();
        else item.expand();
      },
      move(nodeId, parentId) {
        moveItem(items, nodeId, parentId);
        tree.rebuildTree();
      },
    };
  };
}

function moveItem(items: ReadonlyMap<string, Plain>, nodeId: string, parentId: string): void {
  const item = items.get(nodeId)!;
  const siblings = item.parent!.children;
  siblings.splice(siblings.indexOf(item), 1);
  item.parent = items.get(parentId)!;
  item.parent.children.push(item);
}

async function tanstack(): Promise<Load> {
  const core = await load('@tanstack/table-core/dist/index.js');
  const { storeReactivityBindings } = await load('@tanstack/table-core/dist/store-reactivity-bindings.js');
  return (rows): Subject => {
    const { root, items } = plainTree(rows);
    const table = core.constructTable({
      features: core.tableFeatures({
        coreReactivityFeature: storeReactivityBindings(),
        rowExpandingFeature: core.rowExpandingFeature,
        expandedRowModel: core.createExpandedRowModel(),
      }),
      data: [root],
      columns: [],
      getRowId: (item: Plain) => item.row.nodeId,
      getSubRows: (item: Plain) => item.children,
      paginateExpandedRows: true,
    });
    table.getRowModel();
    return {
      expandAll: () => table.toggleAllRowsExpanded(true),
      collapseAll: () => table.toggleAllRowsExpanded(false),
      page: (offset, limit) => table.getRowModel().rows.slice(offset, offset + limit),
      toggle: (nodeId) => table.getRow(nodeId, true).toggleExpanded(),
      move(nodeId, parentId) {
        moveItem(items, nodeId, parentId);
        table.setOptions((options: object) => ({ ...options, data: [root] }));
      },
    };
  };
}

interface Stored {
  readonly children: string[];
  parentId: string | null;
  isOpen: boolean;
}

/** Nodes by id in one immutable record; the visible rows are walked down to the page. */
function immutable(
  produce: (state: Record<string, Stored>, change: (draft: Record<string, Stored>) => void) => Record<string, Stored>,
): Load {
  return (rows): Subject => {
    let state: Record<string, Stored> = {};
    for (const { nodeId, parentId } of rows) {
      state[nodeId] = { children: [], parentId, isOpen: false };
      if (parentId !== null) state[parentId]!.children.push(nodeId);
    }
    const change = (edit: (draft: Record<string, Stored>) => void): void => void (state = produce(state, edit));
    const setAll = (isOpen: boolean): void =>
      change((draft) => {
        for (const { nodeId } of rows) draft[nodeId]!.isOpen = isOpen;
      });
    return {
      expandAll: () => setAll(true),
      collapseAll: () => setAll(false),
      page: (offset, limit) => walkTo(state, rows[0]!.nodeId, { offset, limit }),
      toggle: (nodeId) => change((draft) => void (draft[nodeId]!.isOpen = !draft[nodeId]!.isOpen)),
      move: (nodeId, parentId) =>
        change((draft) => {
          const from = state[nodeId]!.parentId!;
          draft[from]!.children.splice(state[from]!.children.indexOf(nodeId), 1);
          draft[parentId]!.children.push(nodeId);
          draft[nodeId]!.parentId = parentId;
        }),
    };
  };
}

function walkTo(
  state: Readonly<Record<string, Stored>>,
  root: string,
  { offset, limit }: { offset: number; limit: number },
) {
  const page: string[] = [];
  const stack = [root];
  let rank = 0;
  for (let nodeId = stack.pop(); nodeId !== undefined && page.length < limit; nodeId = stack.pop()) {
    if (rank++ >= offset) page.push(nodeId);
    const { children, isOpen } = state[nodeId]!;
    if (isOpen) { for (let i = children.length - 1; i >= 0; i--) stack.push(children[i]!); }
  }
  return page;
}
