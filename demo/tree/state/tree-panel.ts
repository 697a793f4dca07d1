/** The tree panel's state: rows, the current row, and the result of the latest change. */

import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { proxy } from 'comlink';
import type { TreeOutcome } from '../../../src/tree/index.ts';
import type {
  Activity,
  FoundPage,
  HandTool,
  PanelRow,
  RowsPage,
  TreeControl,
  TreeNews,
  TreeStatus,
} from '../../control/tree-control.ts';
import { createTreeRows, type RowWindow, type Sight, type TreeRows } from './tree-rows.ts';

/** The node that is being renamed, and its version when editing started. */
interface Writing {
  readonly nodeId: string;
  readonly versionToken: string;
}

/** The panel's state, and what can be done in it. */
export interface TreePanel {
  readonly status: ReadonlySignal<TreeStatus | undefined>;
  readonly window: ReadonlySignal<RowWindow>;
  readonly active: ReadonlySignal<Active | undefined>;
  readonly marks: ReadonlySignal<ReadonlyMap<string, Activity>>;
  /** The latest change by anybody. */
  readonly latest: ReadonlySignal<Activity | undefined>;
  /** Why the latest action failed. */
  readonly problem: Signal<string | undefined>;
  /** How far the million is. */
  readonly growing: ReadonlySignal<{ readonly done: number; readonly total: number } | undefined>;
  readonly writing: ReadonlySignal<Writing | undefined>;
  /** Starts to rename a node; without one, stops renaming. */
  write(nodeId: string | undefined): void;
  /** The node that was cut and can be put elsewhere. */
  readonly cut: Signal<PanelRow | undefined>;
  /** Whether the list shows what an agent does where it does it. */
  readonly isFollowing: Signal<boolean>;
  readonly scroll: ReadonlySignal<Scroll | undefined>;
  readonly finding: TreeFinding;
  open(): Promise<void>;
  look(sight: Sight): void;
  row(rank: number): PanelRow | undefined;
  /** Moves to the row with this rank. */
  goTo(rank: number): Promise<void>;
  /** Expands the node's ancestors and makes it current. */
  show(nodeId: string): Promise<void>;
  setExpanded(row: PanelRow, isExpanded: boolean): Promise<void>;
  setAll(row: PanelRow, isExpanded: boolean): Promise<void>;
  typeAhead(prefix: string): Promise<void>;
  /** Changes the tree as one of its tools does. Returns the node that was changed or added; `undefined`: it was refused. */
  change(tool: HandTool, input: Readonly<Record<string, unknown>>): Promise<string | undefined>;
  undo(): Promise<void>;
  grow(): Promise<void>;
  goBack(): Promise<void>;
}

interface TreePanelOptions {
  readonly control: TreeControl;
  /** Reads out what others do. */
  readonly announce: (activity: Activity) => void;
}

/** Creates the panel. Calls the worker only from `open` on. */
export function createTreePanel({ control, announce }: TreePanelOptions): TreePanel {
  const status = signal<TreeStatus | undefined>(undefined);
  const latest = signal<Activity | undefined>(undefined);
  const problem = signal<string | undefined>(undefined);
  const growing = signal<{ readonly done: number; readonly total: number } | undefined>(undefined);
  const writing = signal<Writing | undefined>(undefined);
  const cut = signal<PanelRow | undefined>(undefined);
  const isFollowing = signal(true);
  const marks = createTreeMarks();
  const cursor = createTreeCursor({ control, status });
  const { rows, active } = cursor;

  async function onNews(news: TreeNews): Promise<void> {
    if (news.type === 'growing') {
      growing.value = { done: news.done, total: news.total };
      return;
    }
    status.value = news.status;
    if (news.type === 'replaced') {
      batch(() => {
        for (const state of [active, latest, problem, writing, cut]) state.value = undefined;
        marks.clear();
      });
      await cursor.restart();
      return;
    }
    const { activity } = news;
    latest.value = activity;
    cursor.hold();
    const [nodeId] = activity.nodeIds;
    marks.mark(activity);
    await rows.refresh();
    if (activity.by === 'you') return;
    announce(activity);
    if (isFollowing.value && nodeId !== undefined && !writing.value) await cursor.show(nodeId);
  }

  function say(outcome: TreeOutcome): boolean {
    problem.value = outcome.ok ? undefined : outcome.error.message;
    return outcome.ok;
  }

  return {
    status,
    window: rows.window,
    active,
    marks: marks.marks,
    latest,
    problem,
    growing,
    writing,
    cut,
    isFollowing,
    scroll: cursor.scroll,
    finding: createTreeFinding(control),
    async open() {
      status.value = await control.open(proxy((news: TreeNews) => void onNews(news)));
      await rows.refresh();
    },
    look: (sight) => cursor.look(sight),
    row: (rank) => rows.at(rank),
    write(nodeId) {
      const versionToken = status.value?.version ?? '';
      writing.value = nodeId === undefined ? undefined : { nodeId, versionToken };
    },
    goTo: (rank) => cursor.standOn(rank),
    show: (nodeId) => cursor.show(nodeId),
    async setExpanded({ nodeId }, isExpanded) {
      await control.setExpanded(nodeId, isExpanded);
      await rows.refresh();
    },
    async setAll({ nodeId }, isExpanded) {
      await control.setAll(nodeId, isExpanded);
      await rows.refresh();
    },
    async typeAhead(prefix) {
      const rank = await control.typeAhead(prefix, (active.value?.rank ?? -1) - (prefix.length > 1 ? 1 : 0));
      if (rank >= 0) await cursor.standOn(rank);
    },
    async change(tool, input) {
      const before = active.value?.rank ?? 0;
      const outcome = await control.change(tool, { versionToken: status.value?.version, ...input });
      await rows.refresh();
      if (!say(outcome) || !outcome.ok) return undefined;
      const nodeId = String(outcome.output['nodeId']);
      if (tool === 'remove_node') await cursor.standOn(before);
      else await cursor.show(nodeId);
      return nodeId;
    },
    async undo() {
      say(await control.undo());
      await rows.refresh();
    },
    async grow() {
      growing.value = { done: 0, total: 1 };
      await control.grow().finally(() => (growing.value = undefined));
    },
    goBack: () => control.goBack(),
  };
}

interface TreeFinding {
  readonly query: Signal<string>;
  /** What was found; `undefined` without a text. */
  readonly result: Signal<FoundPage | undefined>;
  readonly chosen: Signal<number>;
  /** Searches for the text; an empty one ends the search. */
  readonly find: (text: string) => Promise<void>;
  /** Moves the choice up or down, around the ends. */
  readonly step: (by: number) => void;
}

/** How many finds are listed. */
const mostFound = 60;

/** Creates a search without a text. */
function createTreeFinding(control: Pick<TreeControl, 'search'>): TreeFinding {
  const query = signal('');
  const result = signal<FoundPage | undefined>(undefined);
  const chosen = signal(0);
  return {
    query,
    result,
    chosen,
    async find(text) {
      query.value = text;
      chosen.value = 0;
      const wanted = text.trim();
      const page = wanted === '' ? undefined : await control.search(wanted, mostFound);
      if (query.value === text) result.value = page;
    },
    step(by) {
      const count = result.value?.found.length ?? 0;
      if (count > 0) chosen.value = (chosen.value + by + count) % count;
    },
  };
}

/** Marks by node: who changed it. */
interface TreeMarks {
  readonly marks: ReadonlySignal<ReadonlyMap<string, Activity>>;
  mark(activity: Activity): void;
  clear(): void;
}

/** How long a mark stays. */
const markMs = 6000;

/** Creates marks; each goes by itself, and a newer one takes the place of an older. */
function createTreeMarks(): TreeMarks {
  const marks = signal<ReadonlyMap<string, Activity>>(new Map());
  return {
    marks,
    mark(activity) {
      marks.value = new Map([...marks.value, ...activity.nodeIds.map((nodeId) => [nodeId, activity] as const)]);
      setTimeout(() => {
        marks.value = new Map([...marks.value].filter(([, other]) => other !== activity));
      }, markMs);
    },
    clear: () => void (marks.value = new Map()),
  };
}

/** The current row. */
interface Active {
  readonly nodeId: string;
  /** -1 where it is hidden. */
  readonly rank: number;
}

/** Where the list should scroll. */
interface Scroll {
  readonly rank: number;
  /** By so many rows, or so that the row is in sight. */
  readonly by?: number;
}

/** The active row and the rows in view. */
interface TreeCursor {
  readonly rows: TreeRows;
  readonly active: Signal<Active | undefined>;
  readonly scroll: ReadonlySignal<Scroll | undefined>;
  look(sight: Sight): void;
  /** Makes a row active and scrolls it into view. */
  standOn(rank: number): Promise<void>;
  /** Expands what hides a node, and makes it active. */
  show(nodeId: string): Promise<void>;
  /** Keeps the first visible row where it is when the next rows arrive. */
  hold(): void;
  /** Starts at the first row of another tree. */
  restart(): Promise<void>;
}

interface TreeCursorOptions {
  readonly control: TreeControl;
  readonly status: Signal<TreeStatus | undefined>;
}

/** Creates the cursor, on no row. */
function createTreeCursor({ control, status }: TreeCursorOptions): TreeCursor {
  const active = signal<Active | undefined>(undefined);
  const scroll = signal<Scroll | undefined>(undefined);
  let sight: Sight = { first: 0, count: 0 };
  let anchor: Active | undefined;
  const rows = createTreeRows({
    control,
    follow: () => ({ activeId: active.value?.nodeId, anchorId: anchor?.nodeId }),
    onPage: (page) => batch(() => take(page)),
  });

  /** Rows that came or went above leave the visible ones where they are. */
  function take({ status: now, activeRank, anchorRank }: RowsPage): void {
    status.value = now;
    if (anchor && anchorRank >= 0 && anchorRank !== anchor.rank) {
      scroll.value = { rank: anchorRank, by: anchorRank - anchor.rank };
    }
    anchor = undefined;
    if (active.value) active.value = { ...active.value, rank: activeRank };
  }

  async function standOn(rank: number): Promise<void> {
    const count = status.value?.rowCount ?? 0;
    if (count === 0) return;
    const wanted = Math.max(0, Math.min(count - 1, rank));
    if (!rows.at(wanted)) await rows.refresh(around(sight, wanted));
    const row = rows.at(wanted);
    if (!row) return;
    active.value = { nodeId: row.nodeId, rank: wanted };
    scroll.value = { rank: wanted };
  }

  return {
    rows,
    active,
    scroll,
    look(next) {
      sight = next;
      rows.look(next);
    },
    standOn,
    async show(nodeId) {
      const rank = await control.reveal(nodeId);
      if (rank < 0) return;
      const isNear = rank >= sight.first && rank < sight.first + sight.count;
      await rows.refresh(isNear ? sight : around(sight, rank));
      await standOn(rank);
    },
    hold() {
      const first = rows.at(sight.first);
      anchor = first && sight.first > 0 ? { nodeId: first.nodeId, rank: sight.first } : undefined;
    },
    async restart() {
      await rows.refresh({ ...sight, first: 0 });
      await standOn(0);
    },
  };
}

/** The view with a row in its middle. */
function around(sight: Sight, rank: number): Sight {
  return { ...sight, first: Math.max(0, rank - Math.floor(sight.count / 2)) };
}
