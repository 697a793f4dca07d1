/** Reads the text of OpenDocument files (ISO/IEC 26300): texts, spreadsheets and presentations. */

import { PinnaceError } from '../../../src/base/errors.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';
import { type SheetRows, startSheet } from './sheet-rows.ts';
import { type Slide, startSlide } from './slide.ts';
import type { Attributes, XmlHandler } from './xml.ts';

/** Comments, what tracked changes have removed, and numbers that the program fills in. */
const unread = new Set(['annotation', 'tracked-changes', 'page-number']);
export const mostColumns = 16_384;

/** The most that a repeated row or cell with text is written. */
const mostCopies = 100;

/** Writes the document. @throws PinnaceError `invalid_argument` with the reason `unsupported_type` for an encrypted one. */
export async function readOpenDocument(office: OfficePackage, markdown: Markdown): Promise<void> {
  await office.read('META-INF/manifest.xml', {
    open(name) {
      if (name === 'encryption-data') throw encrypted();
    },
  });
  await office.read('content.xml', contentHandler(markdown));
}

interface Cell {
  readonly repeats: number;
  readonly texts: string[];
}

interface Place {
  readonly texts: { text: string; level: number | undefined }[];
  items: number;
  isTitle: boolean;
  /** Set within the outermost table of a text or a slide, and within a sheet. */
  row: { readonly repeats: number; readonly cells: string[]; gap: number } | undefined;
  cell: Cell | undefined;
  tables: number;
  sheet: SheetRows | undefined;
  slides: number;
  slide: Slide | undefined;
}

function contentHandler(markdown: Markdown): XmlHandler {
  const place: Place = {
    texts: [],
    items: 0,
    isTitle: false,
    row: undefined,
    cell: undefined,
    tables: 0,
    sheet: undefined,
    slides: 0,
    slide: undefined,
  };
  let isSpreadsheet = false;
  let unreadDepth = 0;
  return {
    open(name, attributes) {
      if (unreadDepth > 0 || unread.has(name)) unreadDepth++;
      else if (name === 'spreadsheet') isSpreadsheet = true;
      else if (name.startsWith('table')) openTable(place, { name, attributes, markdown, isSpreadsheet });
      else openText(place, name, attributes);
    },
    close(name) {
      if (unreadDepth > 0) unreadDepth--;
      else if (name.startsWith('table')) closeTable(place, name, markdown);
      else closeText(place, name, markdown);
    },
    text(text) {
      const current = place.texts.at(-1);
      if (current && unreadDepth === 0) current.text += text.replace(/\s+/g, ' ');
    },
  };
}

function encrypted(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot read the office file: it is encrypted; save it without a password',
    {
      details: { reason: 'unsupported_type' },
    },
  );
}

function openText(place: Place, name: string, attributes: Attributes): void {
  const current = place.texts.at(-1);
  if (name === 'p') place.texts.push({ text: '', level: undefined });
  else if (name === 'h') place.texts.push({ text: '', level: Number(attributes['text:outline-level'] ?? 1) });
  else if (name === 'list-item') place.items++;
  else if (name === 'page') place.slide = startSlide(++place.slides);
  else if (name === 'frame') place.isTitle = attributes['presentation:class'] === 'title';
  else if (!current) return;
  else if (name === 's') current.text += ' ';
  else if (name === 'tab') current.text += '\t';
  else if (name === 'line-break') current.text += '\n';
}

function closeText(place: Place, name: string, markdown: Markdown): void {
  if (name === 'list-item') place.items--;
  else if (name === 'frame') place.isTitle = false;
  else if (name === 'page') closeSlide(place, markdown);
  if (name !== 'p' && name !== 'h') return;
  const { text, level } = place.texts.pop() ?? { text: '', level: undefined };
  if (place.cell) place.cell.texts.push(text);
  else if (place.slide && place.isTitle) place.slide.title(text);
  else if (!place.slide && level !== undefined) markdown.heading(level, text);
  else if (place.items > 0) (place.slide ?? markdown).item(text);
  else (place.slide ?? markdown).paragraph(text);
}

function closeSlide(place: Place, markdown: Markdown): void {
  place.slide?.end(markdown);
  place.slide = undefined;
}

interface TableElement {
  readonly name: string;
  readonly attributes: Attributes;
  readonly markdown: Markdown;
  readonly isSpreadsheet: boolean;
}

function openTable(place: Place, { name, attributes, markdown, isSpreadsheet }: TableElement): void {
  if (name === 'table' && ++place.tables === 1 && isSpreadsheet) {
    place.sheet = startSheet(markdown, attributes['table:name'] ?? '');
  }
  if (place.tables !== 1) return; // what a table within a cell says is text of the cell
  if (name === 'table-row') {
    place.row = { repeats: countOf(attributes['table:number-rows-repeated']), cells: [], gap: 0 };
  } else if (name === 'table-cell') {
    place.cell = { repeats: countOf(attributes['table:number-columns-repeated']), texts: [] };
  }
}

function closeTable(place: Place, name: string, markdown: Markdown): void {
  if (name === 'table') {
    if (--place.tables === 0) place.sheet = undefined;
  } else if (place.tables === 1 && name === 'table-cell') closeCell(place, markdown);
  else if (place.tables === 1 && name === 'table-row') closeRow(place, markdown);
}

/** Empty cells are written once another one follows. */
function closeCell(place: Place, { budget }: Markdown): void {
  const { repeats, texts } = place.cell ?? { repeats: 0, texts: [] };
  place.cell = undefined;
  const { row } = place;
  const text = texts.join(' ').trim();
  if (!row) return;
  if (text === '') {
    row.gap = Math.min(mostColumns, row.gap + repeats);
    return;
  }
  const gap = Math.min(row.gap, mostColumns - row.cells.length);
  const copies = Math.min(repeats, mostCopies, mostColumns - row.cells.length - gap);
  if (copies <= 0) return; // beyond the last column
  budget.require(gap + copies * text.length);
  for (let i = 0; i < gap; i++) row.cells.push('');
  for (let i = 0; i < copies; i++) row.cells.push(text);
  row.gap = Math.max(0, repeats - copies);
}

function closeRow(place: Place, markdown: Markdown): void {
  const { repeats, cells } = place.row ?? { repeats: 0, cells: [] };
  for (let i = 0; cells.length > 0 && i < Math.min(repeats, mostCopies); i++) {
    if (place.sheet) place.sheet.add(cells);
    else (place.slide ?? markdown).row(cells);
  }
  place.row = undefined;
}

function countOf(repeats: string | undefined): number {
  const count = Number(repeats ?? 1);
  return count >= 1 ? Math.min(mostColumns, Math.floor(count)) : 1;
}
