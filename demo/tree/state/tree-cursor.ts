/** The active row of the tree panel, and where its list scrolls while rows come and go. */

import { batch, type ReadonlySignal, type Signal, signal } from '@preact/signals';
import type { RowsPage, TreeControl, TreeStatus } from '../../control/tree-control.ts';
import { createTreeRows, type Sight, type TreeRows } from './tree-rows.ts';

/** The current row. */
export interface Active {
  readonly nodeId: string;
  /** -1 where it is hidden. */
  readonly rank: number;
}

/** Where the list should scroll. */
export interface Scroll {
  readonly rank: number;
  /** By so many rows, or so that the row is in sight. */
  readonly by?: number;
}

/** The active row and the rows in view. */
export interface TreeCursor {
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
export function createTreeCursor({ control, status }: TreeCursorOptions): TreeCursor {
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

  /** The view with a row in its middle. */
  const around = (rank: number): Sight => ({ ...sight, first: Math.max(0, rank - Math.floor(sight.count / 2)) });

  async function standOn(rank: number): Promise<void> {
    const count = status.value?.rowCount ?? 0;
    if (count === 0) return;
    const wanted = Math.max(0, Math.min(count - 1, rank));
    if (!rows.at(wanted)) await rows.refresh(around(wanted));
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
      await rows.refresh(isNear ? sight : around(rank));
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
