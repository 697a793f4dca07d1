/** Reads the cells of an Excel workbook (ISO/IEC 29500-1, SpreadsheetML). Formulas count with their stored results. */

import { dateFormats, dateText } from './cell-date.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';
import { type SheetRows, startSheet } from './sheet-rows.ts';
import { mostColumns } from './open-document.ts';
import { type Attributes, invalidDocument, type XmlHandler } from './xml.ts';

interface Shared {
  /** The texts that cells refer to; `undefined` without the part that has them. */
  readonly texts: readonly string[] | undefined;
  readonly isDate: (style: number) => boolean;
  readonly from1904: boolean;
}

/** Writes each sheet of the workbook at the path under its name. */
export async function readWorkbook(office: OfficePackage, markdown: Markdown, workbook: string): Promise<void> {
  const { byId, pathOf } = await office.relationsOf(workbook);
  const sheets = new Map<string, string>(); // names by paths: a part is one sheet
  let from1904 = false;
  await office.read(workbook, {
    open(name, attributes) {
      if (name === 'workbookPr') from1904 = /^(?:1|true)$/.test(attributes['date1904'] ?? '');
      const path = name === 'sheet' && byId.get(attributes['r:id'] ?? '')?.path;
      if (path) sheets.set(path, attributes['name'] ?? '');
    },
  });
  const texts = await readTexts(office, pathOf('sharedStrings', 'xl/sharedStrings.xml'));
  const shared = { texts, isDate: await dateFormats(office, pathOf('styles', 'xl/styles.xml')), from1904 };
  for (const [path, name] of sheets) {
    await office.read(path, sheetHandler(shared, startSheet(markdown, name), markdown));
  }
}

/** The texts that cells refer to. Phonetic hints are left out. */
async function readTexts(office: OfficePackage, path: string): Promise<string[] | undefined> {
  if (!office.has(path)) return undefined;
  const texts: string[] = [];
  let isText = false;
  let isHint = false;
  await office.read(path, {
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

function sheetHandler(shared: Shared, rows: SheetRows, { budget }: Markdown): XmlHandler {
  let row: string[] = [];
  let cell: Cell | undefined;
  let isValue = false;
  let isHint = false;
  const close = (): void => {
    if (cell) row[cell.column] = textOf(cell, shared);
    cell = undefined;
  };
  return {
    open(name, attributes) {
      if (name === 'row') row = [];
      else if (name === 'c') cell = toCell(attributes, row.length);
      else if (name === 'rPh') isHint = true; // how Japanese is spoken
      else if (name === 'v' || name === 't') isValue = !isHint;
    },
    close(name) {
      if (name === 'v' || name === 't') isValue = false;
      else if (name === 'rPh') isHint = false;
      else if (name === 'c') close();
      else if (name === 'row') {
        budget.require(row.length);
        rows.add(Array.from(row, (text) => text ?? ''));
      }
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
  if (type === 's') {
    if (!texts) throw invalidDocument('its cells refer to texts that are not in it');
    return unescaped(texts[Number(value)] ?? '');
  }
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type !== 'n' || value === '') return unescaped(value);
  return (isDate(style) ? dateText(Number(value), from1904) : undefined) ?? shownNumber(value);
}

/** Characters that XML cannot hold are written as `_x000D_` (ISO/IEC 29500, ST_Xstring). */
function unescaped(text: string): string {
  return text.replace(/_x([0-9A-F]{4})_/gi, (_, code: string) => {
    const character = String.fromCharCode(Number.parseInt(code, 16));
    return /[\p{C}\s]/u.test(character) ? ' ' : character;
  });
}

/** A spreadsheet shows 15 digits of a number; further ones come from its binary form. */
function shownNumber(value: string): string {
  return /\d*\.\d{12,}/.test(value) ? String(Number(Number(value).toPrecision(15))) : value;
}
