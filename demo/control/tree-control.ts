/** The worker's tree interface for the page, over comlink. */

import type { TreeOutcome } from '../../src/tree/index.ts';

/** A visible row, as the page shows it. */
export interface PanelRow {
  readonly nodeId: string;
  readonly parentId: string | null;
  readonly payloadType: string;
  readonly name: string;
  /** Who has it in hand, if anybody. */
  readonly person: string | undefined;
  /** `planned`, `active`, `finished`, `open` or `done`; of an area nothing. */
  readonly state: string | undefined;
  /** From 0. */
  readonly depth: number;
  readonly isExpanded: boolean;
  readonly childrenCount: number;
  /** The place among the siblings, from 0, and how many there are. */
  readonly position: number;
  readonly siblings: number;
}

export interface TreeStatus {
  /** Nodes in all, and rows that are visible. */
  readonly size: number;
  readonly rowCount: number;
  readonly rev: number;
  /** The version token that a change must name. */
  readonly version: string;
  /** `stored`: survives a reload; `unstored`: no browser storage; `large`: the million nodes, never stored. */
  readonly kind: 'stored' | 'unstored' | 'large';
  /** What `undo` would take back. */
  readonly undoable: Activity | undefined;
}

/** Some of the visible rows, and the ranks of two nodes (-1: not visible). */
export interface RowsPage {
  readonly status: TreeStatus;
  readonly offset: number;
  readonly rows: readonly PanelRow[];
  readonly activeRank: number;
  readonly anchorRank: number;
}

export interface RowsWanted {
  readonly offset: number;
  readonly limit: number;
  readonly activeId?: string | undefined;
  readonly anchorId?: string | undefined;
}

/** One change of the tree, in words. */
export interface Activity {
  readonly rev: number;
  /** The agent's id; `you`, or `elsewhere` for another tab. */
  readonly by: string;
  /** "Added “Order the anchor chain”". */
  readonly text: string;
  /** The nodes to look at, the first hundred. */
  readonly nodeIds: readonly string[];
}

/** News that the worker sends to the page. */
export type TreeNews =
  | { readonly type: 'changed'; readonly status: TreeStatus; readonly activity: Activity }
  | { readonly type: 'growing'; readonly done: number; readonly total: number }
  /** Another tree is there now. */
  | { readonly type: 'replaced'; readonly status: TreeStatus };

export interface FoundNode {
  readonly nodeId: string;
  readonly name: string;
  /** The names above it, from the top down. */
  readonly path: readonly string[];
}

export interface FoundPage {
  readonly found: readonly FoundNode[];
  /** How many nodes were searched, in how many milliseconds of work. */
  readonly scanned: number;
  readonly tookMs: number;
  /** Whether there are more results than requested. */
  readonly hasMore: boolean;
}

/** The changes that a person makes by hand, as the tree's tools take them. */
export type HandTool = 'add_child' | 'update_payload_property' | 'remove_node' | 'move_node';

/** The tree's panel, as the worker answers it. */
export interface TreeControl {
  /** Opens the tree once; `onNews` receives news from then on. */
  open(onNews: (news: TreeNews) => void): Promise<TreeStatus>;
  rows(wanted: RowsWanted): Promise<RowsPage>;
  /** These three change what is visible and return the node's rank. */
  setExpanded(nodeId: string, isExpanded: boolean): Promise<number>;
  setAll(nodeId: string, isExpanded: boolean): Promise<number>;
  reveal(nodeId: string): Promise<number>;
  /** The next row after the rank whose name has this prefix, wrapping at the end; -1: none. */
  typeAhead(prefix: string, rank: number): Promise<number>;
  /** A newer search ends the one before; it then finds nothing. */
  search(text: string, limit: number): Promise<FoundPage>;
  change(tool: HandTool, input: Readonly<Record<string, unknown>>): Promise<TreeOutcome>;
  /** Undoes the latest change that is not undone, by any writer. */
  undo(): Promise<TreeOutcome>;
  /** Creates a tree of a million nodes in memory, or returns to the stored one. */
  grow(): Promise<void>;
  goBack(): Promise<void>;
}
