/** Writes the rows of a sheet so that each says what its values are: a found row makes sense without the rows above it. */

import type { Markdown } from './markdown.ts';

/** Receives the rows of one sheet, from the top. */
export interface SheetRows {
  readonly add: (cells: readonly string[]) => void;
}

/** Starts a sheet. It has a heading once it has a row. Where the first row names every column, later rows repeat these names. */
export function startSheet(markdown: Markdown, name: string): SheetRows {
  const { budget } = markdown;
  budget.part = `the sheet "${name.slice(0, 64)}"`;
  let columns: readonly string[] | undefined;
  let count = 0;
  return {
    add(row) {
      const cells = row.slice(0, row.findLastIndex((cell) => cell.trim() !== '') + 1);
      const filled = cells.filter((cell) => cell.trim() !== '').length;
      if (filled === 0) return;
      if (count++ === 0) {
        markdown.heading(2, name);
        if (filled === cells.length && cells.length > 1) columns = cells;
        markdown.row(withoutGaps(cells, budget));
        return;
      }
      if (!columns) return markdown.row(withoutGaps(cells, budget));
      const names = columns;
      budget.require(
        cells.reduce((sum, cell, at) => cell === '' ? sum : sum + cell.length + (names[at]?.length ?? 0), 0),
      );
      markdown.item(cells.map((cell, at) => labeled(names[at], cell)).filter((text) => text !== '').join('; '));
    },
  };
}

/** A value may be far from all others. What is left out is work, and counts as if it was written. */
function withoutGaps(cells: readonly string[], budget: Markdown['budget']): readonly string[] {
  let empty = 0;
  const kept = cells.filter((cell) => (empty = cell === '' ? empty + 1 : 0) <= mostEmpty);
  budget.take((cells.length - kept.length) * 3);
  return kept;
}

/** The most empty cells beside each other that are written. */
const mostEmpty = 32;

function labeled(column: string | undefined, cell: string): string {
  if (cell.trim() === '') return '';
  return column === undefined ? cell : `${column}: ${cell}`;
}
