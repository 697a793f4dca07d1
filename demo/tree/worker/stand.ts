/** One tree for the panel: its view, rows and activities. */

import { type Tree, type TreeTools, treeTools } from '../../../src/index.ts';
import type { TreeView, ViewRow } from '../../../src/tree/index.ts';
import { type Activities, createActivities } from './activities.ts';
import type { Activity, PanelRow, RowsPage, RowsWanted, TreeStatus } from '../../control/tree-control.ts';
import { createFinder, type Finder } from './find.ts';

export const person = 'you';

/** A tree, and what the panel needs of it. */
export interface Stand {
  readonly tree: Tree;
  readonly view: TreeView;
  /** The person's tools. */
  readonly tools: TreeTools;
  readonly finder: Finder;
  readonly activities: Activities;
  status(): TreeStatus;
  page(wanted: RowsWanted): RowsPage;
  /** Marks what the work does as this page's own. */
  own<T>(work: () => Promise<T>): Promise<T>;
  close(): void;
}

interface StandOptions {
  readonly kind: TreeStatus['kind'];
  readonly onChange: (change: { readonly status: TreeStatus; readonly activity: Activity }) => void;
}

/** Creates the panel's state of a tree that has a root. Expands the root. */
export async function createStand(tree: Tree, { kind, onChange }: StandOptions): Promise<Stand> {
  const rootId = tree.rootId!; // safe: the caller's tree has one
  const tools = treeTools(tree, { agentId: person, role: 'editor', undo: 'any' });
  const view = tree.view();
  const activities = createActivities(tree);
  const first = await tools.call('get_node', { nodeId: rootId });
  let version = first.ok ? first.output.version : '';
  let owned = 0;
  view.setExpanded(rootId, true);

  const status = (): TreeStatus => ({
    size: tree.size,
    rowCount: view.rowCount(),
    rev: tree.rev,
    version,
    kind,
    undoable: activities.latest()?.activity,
  });
  const unsubscribe = tree.subscribe((event) => {
    version = event.version;
    const { agentId = person } = event.origin ?? {};
    const activity = activities.note(event, agentId === person && owned === 0 ? 'elsewhere' : agentId);
    onChange({ status: status(), activity });
  });
  return {
    tree,
    view,
    tools,
    finder: createFinder(tools, rootId),
    activities,
    status,
    page: ({ offset, limit, activeId, anchorId }) => {
      const from = Math.max(0, Math.min(offset, view.rowCount() - limit));
      const rows = toPanelRows(tree, view.rows({ offset: from, limit }));
      return { status: status(), offset: from, rows, activeRank: rank(activeId), anchorRank: rank(anchorId) };
    },
    async own(work) {
      owned++;
      try {
        return await work();
      } finally {
        owned--;
      }
    },
    close() {
      unsubscribe();
      view.close();
    },
  };

  function rank(nodeId: string | undefined): number {
    return nodeId === undefined ? -1 : view.rankOf(nodeId);
  }
}

/** Counts along the rows; only the first of siblings whose parent is above the page has to be looked up. */
function toPanelRows(tree: Tree, rows: readonly ViewRow[]): PanelRow[] {
  const places = new Map<string, number>();
  return rows.map((row) => {
    const { nodeId, parentId } = row;
    const position = parentId === null ? 0 : places.get(parentId) ?? tree.indexOf(nodeId);
    if (parentId !== null) places.set(parentId, position + 1);
    places.set(nodeId, 0);
    return toPanelRow(row, { position, siblings: parentId === null ? 1 : tree.get(parentId)?.childrenCount ?? 1 });
  });
}

function toPanelRow(row: ViewRow, place: Pick<PanelRow, 'position' | 'siblings'>): PanelRow {
  const { nodeId, parentId, payloadType, payload, depth, isExpanded, childrenCount } = row;
  const { name, owner, lead = owner, status, done } = payload;
  return {
    nodeId,
    parentId,
    payloadType,
    name: String(name),
    person: typeof lead === 'string' ? lead : undefined,
    state: payloadType === 'task' ? (done === true ? 'done' : 'open') : typeof status === 'string' ? status : undefined,
    depth,
    isExpanded,
    childrenCount,
    ...place,
  };
}
