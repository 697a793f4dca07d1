import { describe, expect, it } from 'vitest';
import { createTreeRows } from '../../../../demo/tree/state/tree-rows.ts';
import type { PanelRow, RowsPage, RowsWanted } from '../../../../demo/control/tree-control.ts';

/** Rows of a worker that answers on request. */
function start(rowCount = 10_000) {
  const asked: { wanted: RowsWanted; answer: () => void }[] = [];
  const pages: RowsPage[] = [];
  const rows = createTreeRows({
    control: {
      rows: (wanted) =>
        new Promise((resolve) => {
          const { offset, limit } = wanted;
          const count = Math.max(0, Math.min(limit, rowCount - offset));
          const page = Array.from({ length: count }, (_, i) => ({ nodeId: `n${offset + i}` }) as PanelRow); // nothing else is looked at
          const status = {
            rowCount,
            size: rowCount,
            rev: 0,
            version: 'v',
            kind: 'stored' as const,
            undoable: undefined,
          };
          asked.push({
            wanted,
            answer: () => resolve({ status, offset, rows: page, activeRank: -1, anchorRank: -1 }),
          });
        }),
    },
    follow: () => ({ activeId: undefined, anchorId: undefined }),
    onPage: (page) => void pages.push(page),
  });
  return { rows, asked, pages };
}

describe('createTreeRows', () => {
  it('asks for a page around what is in sight, and for no more until its edge is near', async () => {
    const { rows, asked } = start();
    const here = rows.refresh({ first: 5000, count: 20 });
    asked[0]?.answer();
    await here;
    expect(rows.at(5000)).toMatchObject({ nodeId: 'n5000' });
    rows.look({ first: 5030, count: 20 });
    rows.look({ first: 4965, count: 20 });
    expect(asked).toHaveLength(1);
    rows.look({ first: 5090, count: 20 });
    expect(asked).toHaveLength(2);
  });

  it('gives rows that are as they were as the same objects', async () => {
    const { rows, asked } = start();
    const first = rows.refresh({ first: 0, count: 20 });
    asked[0]?.answer();
    await first;
    const [before, row] = [rows.window.value, rows.at(10)];
    const again = rows.refresh();
    asked[1]?.answer();
    await again;
    expect(rows.window.value).not.toBe(before);
    expect(rows.at(10)).toBe(row);
  });
});
