/** Tables of documents and slides. */

import type { Markdown } from './markdown.ts';

export type TablePart = 'tbl' | 'tr' | 'tc';

export function isTablePart(name: string): name is TablePart {
  return name === 'tbl' || name === 'tr' || name === 'tc';
}

/** Collects the cells of the outermost table; what a table within a cell says is text of the cell. */
export function createCells(markdown: Pick<Markdown, 'row'>) {
  let depth = 0;
  let row: string[] = [];
  let cell: string[] = [];
  const add = (text: string): void => void cell.push(text);
  return {
    isOpen: () => depth > 0,
    paragraph: add,
    item: add,
    heading: (_: number, text: string) => add(text),
    open(name: TablePart): void {
      if (name === 'tbl') depth++;
      else if (depth === 1 && name === 'tr') row = [];
      else if (depth === 1) cell = [];
    },
    close(name: TablePart): void {
      if (name === 'tbl') depth--;
      else if (depth === 1 && name === 'tc') row.push(cell.join(' '));
      else if (depth === 1) markdown.row(row);
    },
  };
}
