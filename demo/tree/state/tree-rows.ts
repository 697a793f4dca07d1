/** The rows around the visible range, requested from the worker one page at a time. */

import { type ReadonlySignal, signal } from '@preact/signals';
import type { PanelRow, RowsPage, TreeControl } from '../../control/tree-control.ts';

/** What is in sight: the rank of the first row, and how many there are. */
export interface Sight {
  readonly first: number;
  readonly count: number;
}

/** The rows that are here. */
export interface RowWindow {
  readonly offset: number;
  readonly rows: readonly PanelRow[];
}

/** Rows by rank. */
export interface TreeRows {
  readonly window: ReadonlySignal<RowWindow>;
  /** Sets the visible range; requests rows near the edge of the loaded ones. */
  look(sight: Sight): void;
  /** Reloads the rows around the visible ones, as after a change. Resolves when they have arrived. */
  refresh(sight?: Sight): Promise<void>;
  at(rank: number): PanelRow | undefined;
}

interface TreeRowsOptions {
  readonly control: Pick<TreeControl, 'rows'>;
  /** The nodes whose ranks are requested with the rows. */
  readonly follow: () => { readonly activeId: string | undefined; readonly anchorId: string | undefined };
  readonly onPage: (page: RowsPage) => void;
}

/** Rows that are here beyond what is in sight, on either side; and how near its end may come. */
const margin = 60;
const nearEdge = 20;

/** Creates rows; none are here before the first `look`. */
export function createTreeRows({ control, follow, onPage }: TreeRowsOptions): TreeRows {
  const window = signal<RowWindow>({ offset: 0, rows: [] });
  let sight: Sight = { first: 0, count: 0 };
  let total = Infinity;
  let wanted: Promise<void> | undefined;
  let isStale = false;

  async function ask(): Promise<void> {
    while (isStale) {
      isStale = false;
      const offset = Math.max(0, sight.first - margin);
      const page = await control.rows({ offset, limit: sight.count + 2 * margin, ...follow() });
      total = page.status.rowCount;
      window.value = { offset: page.offset, rows: withKnown(page.rows, window.peek().rows) };
      onPage(page);
    }
  }

  function refresh(next = sight): Promise<void> {
    sight = next;
    isStale = true;
    wanted ??= ask().finally(() => (wanted = undefined));
    return wanted;
  }

  return {
    window,
    refresh,
    look(next) {
      sight = next;
      const { offset, rows } = window.value;
      const isAbove = offset > 0 && next.first - nearEdge < offset;
      const isBelow = offset + rows.length < total && next.first + next.count + nearEdge > offset + rows.length;
      if (isAbove || isBelow) refresh().catch(() => {}); // the worker has ended: loaded rows stay
    },
    at: (rank) => window.value.rows[rank - window.value.offset],
  };
}

/** Rows that are as they were are the same objects, so that nothing is drawn again. */
function withKnown(rows: readonly PanelRow[], before: readonly PanelRow[]): PanelRow[] {
  const known = new Map(before.map((row) => [row.nodeId, row]));
  return rows.map((row) => {
    const old = known.get(row.nodeId);
    return old && isSame(row, old) ? old : row;
  });
}

function isSame(a: PanelRow, b: PanelRow): boolean {
  return (Object.keys(a) as (keyof PanelRow)[]).every((key) => a[key] === b[key]); // safe: a row has no other fields
}
