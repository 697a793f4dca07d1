/** Reads the cells of an Excel workbook (ISO/IEC 29500-1, SpreadsheetML). Formulas count with their stored results. */

import { dateFormats, dateText } from './cell-date.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';
import { type SheetRows, startSheet } from './sheet-rows.ts';
import type { Attributes, XmlHandler } from './xml.ts';

const workbook = 'xl/workbook.xml';
/** The most columns of a sheet. */
const mostColumns = 16_384;

/** What all sheets share. */
interface Shared {
  readonly texts: readonly string[];
  /** Whether the numbers of a style are dates. */
  readonly isDate: (style: number) => boolean;
  readonly from1904: boolean;
}

/** Writes each sheet under its name. */
export async function readWorkbook(office: OfficePackage, markdown: Markdown): Promise<void> {
  const relations = await office.relationsOf(workbook);
  const sheets: { name: string; path: string }[] = [];
  let from1904 = false;
  await office.read(workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      const path = name === 'sheet' && relations.get(attributes['r:id'] ?? '')?.path;
      if (path) sheets.push({ name: attributes['name'] ?? '', path });
    },
  });
  const shared = { texts: await readTexts(office), isDate: await dateFormats(office), from1904 };
  for (const { name, path } of sheets) await office.read(path, sheetHandler(shared, startSheet(markdown, name)));
}

/** The texts that cells refer to. Phonetic hints are left out. */
async function readTexts(office: OfficePackage): Promise<string[]> {
  const texts: string[] = [];
  let isText = false;
  let isHint = false;
  await office.read('xl/sharedStrings.xml', {
    open(name) {
      if (name === 'si') texts.push('');
      else if (name === 'rPh') isHint = true;
      else if (name === 't') isText = true;
    },
    close(name) {
      if (name === 'rPh') isHint = false;
      else if (name === 't') isText = false;
    },
    text(text) {
      if (isText && !isHint) texts[texts.length - 1] += text;
    },
  });
  return texts;
}

interface Cell {
  readonly column: number;
  readonly type: string;
  readonly style: number;
  value: string;
}

function sheetHandler(shared: Shared, rows: SheetRows): XmlHandler {
  let row: string[] = [];
  let cell: Cell | undefined;
  let isValue = false;
  const close = (): void => {
    if (cell) row[cell.column] = textOf(cell, shared);
    cell = undefined;
  };
  return {
    open(name, attributes) {
      if (name === 'row') row = [];
      else if (name === 'c') cell = toCell(attributes, row.length);
      else if (name === 'v' || name === 't') isValue = true;
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'c') close();
      else if (name === 'row') rows.add(Array.from(row, (text) => text ?? ''));
    },
    text(text) {
      if (isValue && cell) cell.value += text;
    },
  };
}

function toCell({ r, t, s }: Attributes, next: number): Cell {
  return { column: columnOf(r) ?? next, type: t ?? 'n', style: Number(s ?? 0), value: '' };
}

/** The index of a cell's column: 27 of `AB12`. */
function columnOf(reference: string | undefined): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference ?? '')?.[0];
  if (letters === undefined) return undefined;
  const column = Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0) - 1;
  return column < mostColumns ? column : undefined;
}

function textOf({ type, style, value }: Cell, { texts, isDate, from1904 }: Shared): string {
  if (type === 's') return texts[Number(value)] ?? '';
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type !== 'n' || value === '' || !isDate(style)) return value;
  return dateText(Number(value), from1904) ?? value;
}
