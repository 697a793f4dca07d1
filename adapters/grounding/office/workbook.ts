/** Reads the cells of an Excel workbook (ISO/IEC 29500-1, SpreadsheetML). Formulas count with their stored results. */

import type { Markdown } from './markdown.ts';
import { mostColumns } from './open-document.ts';
import type { OfficePackage } from './package.ts';
import { type SheetRows, startSheet } from './sheet-rows.ts';
import { type Attributes, invalidDocument, type XmlHandler } from './xml.ts';

interface Shared {
  /** The texts that cells refer to; `undefined` without the part that has them. */
  readonly texts: readonly string[] | undefined;
  /** What the numbers of a style are, where they are no numbers to a reader. */
  readonly formatOf: (style: number) => NumberFormat | undefined;
  readonly from1904: boolean;
}

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
  const shared = { texts, formatOf: await numberFormats(office, pathOf('styles', 'xl/styles.xml')), from1904 };
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

function textOf({ type, style, value }: Cell, { texts, formatOf, from1904 }: Shared): string {
  if (type === 's') {
    if (!texts) throw invalidDocument('its cells refer to texts that are not in it');
    return unescaped(texts[Number(value)] ?? '');
  }
  if (type === 'b') return value === '1' ? 'true' : 'false';
  if (type !== 'n' || value === '') return unescaped(value);
  const shown = formatOf(style);
  if (shown === 'duration') return durationText(Number(value)) ?? shownNumber(value);
  if (shown === 'percent') return `${Number((Number(value) * 100).toPrecision(15))}%`;
  if (typeof shown === 'number') return /^\d+$/.test(value) ? value.padStart(shown, '0') : shownNumber(value);
  return (shown === 'date' ? dateText(Number(value), from1904) : undefined) ?? shownNumber(value);
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

const dayMs = 86_400_000;

/** How a number is shown, where it is not shown as it is; a number is that of its digits, as codes have them. */
type NumberFormat = 'date' | 'duration' | 'percent' | number;

/** Reads the styles. Returns how the numbers of a style are shown. */
async function numberFormats(office: OfficePackage, path: string): Promise<Shared['formatOf']> {
  const custom = new Map<number, string>();
  const formats: number[] = [];
  let isInCells = false;
  await office.read(path, {
    open(name, attributes) {
      if (name === 'numFmt') custom.set(Number(attributes['numFmtId']), attributes['formatCode'] ?? '');
      else if (name === 'cellXfs') isInCells = true;
      else if (name === 'xf' && isInCells) formats.push(Number(attributes['numFmtId'] ?? 0));
    },
    close(name) {
      if (name === 'cellXfs') isInCells = false;
    },
  });
  return (style) => {
    const id = formats[style] ?? 0;
    const code = custom.get(id) ?? '';
    if (id === 46 || isDurationCode(code)) return 'duration';
    if (isDateId(id) || isDateCode(code)) return 'date';
    if (id === 9 || id === 10 || /^[#,]*0(?:\.0+)?%$/.test(code)) return 'percent';
    return /^0{2,}$/.test(code) ? code.length : undefined;
  };
}

/** The built-in formats of dates and times. */
function isDateId(id: number): boolean {
  return (id >= 14 && id <= 22) || (id >= 45 && id <= 47);
}

/** Quoted text, escaped characters and colors in brackets say nothing; `[h]` is a time. */
function isDateCode(code: string): boolean {
  return /[dmyhs]/i.test(code.replaceAll(/"[^"]*"|\\.|\[(?![hms]+\])[^\]]*\]/gi, '')) && !/^general$/i.test(code);
}

/** Hours, minutes or seconds in brackets count on beyond a day. */
function isDurationCode(code: string): boolean {
  return /\[(?:h+|m+|s+)\]/i.test(code.replaceAll(/"[^"]*"|\\./g, ''));
}

/** Returns the hours, minutes and seconds of a number of days. */
function durationText(days: number): string | undefined {
  const seconds = Math.round(Math.abs(days) * 86_400);
  if (!Number.isSafeInteger(seconds)) return undefined;
  const [hours, minutes, rest] = [seconds / 3600, (seconds / 60) % 60, seconds % 60].map(Math.floor);
  const digits = (count = 0): string => String(count).padStart(2, '0');
  return `${days < 0 ? '-' : ''}${hours}:${digits(minutes)}${rest === 0 ? '' : `:${digits(rest)}`}`;
}

/** Returns the day, and the time where there is one; only the time for a number below one. `undefined` for what is no date. */
export function dateText(serial: number, from1904: boolean): string | undefined {
  if (!(serial >= 0 && serial < 2_958_466)) return undefined; // to the end of 9999
  const leap = !from1904 && serial < 60 ? 1 : 0; // spreadsheets count a 29 February 1900
  const start = from1904 ? Date.UTC(1904, 0, 1) : Date.UTC(1899, 11, 30);
  const text = new Date(start + Math.round((serial + leap) * dayMs / 1000) * 1000).toISOString();
  const [day, time] = [text.slice(0, 10), text.slice(11, text.endsWith(':00.000Z') ? 16 : 19)];
  if (serial < 1) return time;
  return time === '00:00' ? day : `${day} ${time}`;
}
