/** Reads Markdown tables (GFM). */

import type { Located, TableBlock } from './markdown-types.ts';

/** Rejects absurdly wide tables. */
const maxColumns = 40;

/** Cells that are added to rows that lack some: a line of two characters must not become a row of forty cells again and again. */
const mostAdded = 400;

/** Whether line `i` is the head of a table. */
export function isTable(lines: readonly string[], i: number): boolean {
  const [line = '', below = ''] = [lines[i], lines[i + 1]];
  if (!line.includes('|') || !/^[\s|:-]+$/.test(below)) return false;
  const marks = cellsOf(below);
  const { length } = cellsOf(line);
  return marks.length === length && length <= maxColumns && marks.every((mark) => /^:?-+:?$/.test(mark));
}

/** Reads the table whose head is line `i`, if it is one. */
export function readTable(lines: readonly string[], i: number): Located<TableBlock> | undefined {
  if (!isTable(lines, i)) return undefined;
  const head = cellsOf(lines[i] ?? '');
  const align = cellsOf(lines[i + 1] ?? '').map(alignOf);
  const rows: string[][] = [];
  let next = i + 2;
  let added = 0;
  for (; next < lines.length && lines[next]?.includes('|'); next++) {
    const cells = cellsOf(lines[next] ?? '').slice(0, head.length);
    for (; cells.length < head.length && added < mostAdded; added++) cells.push('');
    rows.push(cells);
  }
  return { block: { type: 'table', align, head, rows }, next };
}

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  let text = line.trim();
  if (text.startsWith('|')) text = text.slice(1);
  let start = 0;
  for (let i = 0; i < text.length; i++) {
    if (text.charAt(i) === '\\') i++;
    else if (text.charAt(i) === '|') {
      cells.push(cellOf(text.slice(start, i)));
      start = i + 1;
    }
  }
  const rest = text.slice(start);
  return rest.trim() === '' && cells.length > 0 ? cells : [...cells, cellOf(rest)];
}

/** A pipe is escaped for the table's sake, in code too. */
function cellOf(text: string): string {
  return text.trim().replaceAll('\\|', '|');
}

function alignOf(mark: string): 'left' | 'center' | 'right' | undefined {
  if (mark.startsWith(':')) return mark.endsWith(':') && mark.length > 1 ? 'center' : 'left';
  return mark.endsWith(':') ? 'right' : undefined;
}
