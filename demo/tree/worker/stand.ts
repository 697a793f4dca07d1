/** One tree for the panel: its view, rows and activities. */

import { type Tree, type TreeTools, treeTools } from '../../../src/index.ts';
import type { TreeChange, TreeEvent, TreeView, ViewRow } from '../../../src/tree/index.ts';
import type { Activity, PanelRow, RowsPage, RowsWanted, TreeStatus } from '../../control/tree-control.ts';
import { createFinder, type Finder } from './find.ts';

const person = 'you';

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
      const start = Math.max(0, Math.min(offset, view.rowCount() - limit));
      const rows = toPanelRows(tree, view.rows({ offset: start, limit }));
      return { status: status(), offset: start, rows, activeRank: rank(activeId), anchorRank: rank(anchorId) };
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

/** The changes of a tree, the latest last. */
interface Activities {
  note(event: TreeEvent, by: string): Activity;
  /** What `undo` would take back, and the version to take back. */
  latest(): { readonly activity: Activity; readonly version: string } | undefined;
  /** This version cannot be taken back any more. */
  forget(version: string): void;
}

const maxActivities = 200;
const maxNodes = 100;

/** Creates an empty list. */
function createActivities(tree: Tree): Activities {
  const entries: { readonly activity: Activity; readonly version: string }[] = [];
  return {
    note(event, by) {
      const activity = describe(tree, event, by);
      if (event.undoes !== undefined) forget(event.undoes);
      else if (entries.push({ activity, version: event.version }) > maxActivities) entries.shift();
      return activity;
    },
    latest: () => entries.at(-1),
    forget,
  };

  function forget(version: string): void {
    const at = entries.findIndex((entry) => entry.version === version);
    if (at >= 0) entries.splice(at, 1);
  }
}

function describe(tree: Tree, { rev, changes, undoes }: TreeEvent, by: string): Activity {
  const nodeIds = changes.slice(0, maxNodes).flatMap((change) => nodeOf(tree, change) ?? []);
  const [first] = changes;
  const more = changes.length > 1 ? ` and ${changes.length - 1} more` : '';
  const text = first ? `${sayChange(tree, first)}${more}` : 'Changed nothing';
  return { rev, by, text: undoes !== undefined ? `Undid: ${text}` : text, nodeIds: [...new Set(nodeIds)] };
}

/** The node to show; the parent of a removed node. */
function nodeOf(tree: Tree, change: TreeChange): string | undefined {
  if (tree.get(change.nodeId)) return change.nodeId;
  return change.kind === 'remove' ? change.parentId ?? undefined : undefined;
}

function sayChange(tree: Tree, change: TreeChange): string {
  const name = quote(tree, change.nodeId);
  switch (change.kind) {
    case 'insert':
      return `Added ${name}${inside(tree, change.parentId)}`;
    case 'remove':
      return change.size === 1
        ? `Removed a node${from(tree, change.parentId)}`
        : `Removed ${change.size.toLocaleString('en')} nodes${from(tree, change.parentId)}`;
    case 'move':
      return change.parentId === change.oldParentId
        ? `Moved ${name}${inside(tree, change.parentId)}`
        : `Moved ${name} to ${quote(tree, change.parentId)}`;
    case 'payload':
      return `Changed ${name}`;
    case 'content':
      return `Replaced the children of ${name}`;
    default:
      return change satisfies never;
  }
}

function inside(tree: Tree, parentId: string | null): string {
  return parentId === null ? '' : ` in ${quote(tree, parentId)}`;
}

function from(tree: Tree, parentId: string | null): string {
  return parentId === null ? '' : ` from ${quote(tree, parentId)}`;
}

function quote(tree: Tree, nodeId: string): string {
  const name = tree.get(nodeId)?.payload['name'];
  return typeof name === 'string' ? `“${name.length > 60 ? `${name.slice(0, 59)}…` : name}”` : 'a node';
}
