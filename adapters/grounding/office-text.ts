/** Reads the text of office files: Word, Excel, PowerPoint, and their OpenDocument counterparts. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { TextBudget } from '../../src/grounding/ingest/pieces.ts';
import { createCells, isTablePart } from './office/cells.ts';
import { createMarkdown, type Markdown, type SkippedPart } from './office/markdown.ts';
import { readOpenDocument } from './office/open-document.ts';
import { type OfficePackage, openPackage } from './office/package.ts';
import { type Slide, startSlide } from './office/slide.ts';
import { readWord } from './office/word.ts';
import { readWorkbook } from './office/workbook.ts';
import type { XmlHandler } from './office/xml.ts';

/** Options of {@link officeText}. */
export interface OfficeTextOptions {
  /** Stops the reading with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives what the file has besides text, such as pictures. */
  readonly onSkipped?: ((part: SkippedPart) => void) | undefined;
}

/** Reads the part at a path, the main one of the file. */
type Read = (office: OfficePackage, markdown: Markdown, path: string) => Promise<void>;

/** By the content type of the main part, and where programs write it that do not say, with its reader. */
const readers: readonly (readonly [type: RegExp, usual: string, read: Read])[] = [
  [/wordprocessingml|ms-word/, 'word/document.xml', readWord],
  [/spreadsheetml|ms-excel/, 'xl/workbook.xml', readWorkbook],
  [/presentationml|ms-powerpoint/, 'ppt/presentation.xml', readSlides],
  [/^$/, 'content.xml', readOpenDocument],
];

/**
 * Returns the text of an office file as Markdown: headings, paragraphs, lists, tables, slides with their notes, and sheets with one
 * line per row. `ingest` reads it under the file's own name. Reads `.docx`, `.xlsx`, `.pptx` (ISO/IEC 29500), `.odt`, `.ods` and
 * `.odp` (ISO/IEC 26300). Pictures, charts, macros, comments and removed text are left out. Nothing in the file runs or loads. Works in
 * turns of about 4 ms. A part of the file may have 16 MiB, all together 64 MiB, and the text 16,777,216 characters.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_archive` for what is no ZIP archive, `unsupported_type` for an
 * encrypted or older file (`.doc`, `.xls`, `.ppt`) or another archive, `invalid_document` for a damaged or too large one,
 * `text_too_long` for one that repeats itself into more text; `cancelled`.
 * @example
 * const text = async () => await officeText(new Uint8Array(await file.arrayBuffer())); // a `File` or `Blob`
 * await ingest(grounding, { dataSourceId: 'handbook', storage, files: [{ name: 'handbook.docx', text }] });
 */
export async function officeText(
  file: Uint8Array<ArrayBuffer>,
  options: OfficeTextOptions = {},
): Promise<string> {
  checkNames('read the file', options, optional('signal', 'onSkipped'));
  const { signal, onSkipped } = options;
  if (isCompoundFile(file)) {
    throw unsupported('it is encrypted, or of an older version: save it as .docx, .xlsx or .pptx without a password');
  }
  const office = await openPackage(file, signal);
  const main = await mainPart(office);
  if (/\.binary\./i.test(main.type)) throw unsupported('it is a binary workbook: save it as .xlsx');
  const [, usual = '', read] = readers.find(([type]) => main.type !== '' && type.test(main.type)) ??
    readers.find(([, part]) => main.path === '' ? office.has(part) : isIn(folderOf(part), main.path)) ?? [];
  if (!read) throw unsupported('it is an archive of something else');
  const markdown = createMarkdown(new TextBudget());
  await read(office, markdown, main.path || usual);
  if (onSkipped) { for (const part of skippedIn(office)) onSkipped(part); }
  return markdown.text();
}

/** What is no text, by the folders and names of parts that programs use. */
const others: readonly (readonly [parts: RegExp, one: string, many: string])[] = [
  [/(?:^|\/)(?:media|pictures)\/[^/]+$/, '1 picture', 'pictures'],
  [/(?:^|\/)charts\/chart[^/]*\.xml$/, '1 chart', 'charts'],
  [/(?:^|\/)comments[^/]*\.xml$/, 'comments', 'pages of comments'],
  [/vbaproject\.bin$/, 'macros', 'sets of macros'],
  [/(?:^|\/)embeddings\/[^/]+$/, '1 embedded file', 'embedded files'],
];

function skippedIn(office: OfficePackage): SkippedPart[] {
  const paths = [...office.paths()];
  return others.flatMap(([parts, one, many]) => {
    const count = paths.filter((path) => parts.test(path)).length;
    return count === 0 ? [] : [{ part: count === 1 ? one : `${count} ${many}`, reason: 'only text is read' }];
  });
}

/** The main part by the relationships of the package, and its content type; empty where the package does not say. */
async function mainPart(office: OfficePackage): Promise<{ readonly path: string; readonly type: string }> {
  const path = (await office.relationsOf('')).pathOf('officeDocument', '');
  let type = '';
  if (path === '') return { path, type };
  await office.read('[Content_Types].xml', {
    open(name, { PartName, ContentType = '' }) {
      if (name === 'Override' && PartName?.toLowerCase() === `/${path.toLowerCase()}`) type = ContentType;
    },
  });
  return { path, type };
}

function folderOf(path: string): string {
  return path.slice(0, path.indexOf('/') + 1);
}

function isIn(folder: string, path: string): boolean {
  return folder !== '' && path.toLowerCase().startsWith(folder);
}

/** The container of older and of encrypted files (MS-CFB). */
function isCompoundFile(file: Uint8Array): boolean {
  return [0xd0, 0xcf, 0x11, 0xe0].every((byte, at) => file[at] === byte);
}

function unsupported(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot read the office file: ${why}`, {
    details: { reason: 'unsupported_type' },
  });
}

/** Writes each slide of the presentation at the path under its title. */
async function readSlides(office: OfficePackage, markdown: Markdown, presentation: string): Promise<void> {
  const { byId } = await office.relationsOf(presentation);
  const paths = new Set<string>();
  await office.read(presentation, {
    open(name, attributes) {
      const path = name === 'sldId' && byId.get(attributes['r:id'] ?? '')?.path;
      if (path) paths.add(path);
    },
  });
  for (const [at, path] of [...paths].entries()) await readSlide(office, { path, number: at + 1, markdown });
}

async function readSlide(
  office: OfficePackage,
  { path, number, markdown }: { path: string; number: number; markdown: Markdown },
): Promise<void> {
  const slide = startSlide(number);
  markdown.budget.part = `slide ${number}`;
  await office.read(path, shapeHandler(slide));
  for (const { type, path: other } of (await office.relationsOf(path)).byId.values()) {
    if (type === 'diagramData') await office.read(other, shapeHandler(slide)); // SmartArt
    else if (type === 'notesSlide') await office.read(other, shapeHandler(slide, 'body'));
  }
  slide.end(markdown);
}

/** Reads the shapes of a slide; with `only`, those that are this placeholder. */
function shapeHandler(slide: Slide, only?: string): XmlHandler {
  const cells = createCells(slide);
  let placeholder = '';
  let text: string | undefined;
  let isText = false;
  const closeParagraph = (): void => {
    const paragraph = text ?? '';
    text = undefined;
    if (only !== undefined && placeholder !== only) return;
    if (cells.isOpen()) cells.paragraph(paragraph);
    else if (/^(?:ctrTitle|title)$/.test(placeholder)) slide.title(paragraph);
    else if (!/^(?:sldNum|dt|ftr|hdr)$/.test(placeholder)) slide.paragraph(paragraph);
  };
  return {
    open(name, attributes) {
      if (name === 'nvPr') placeholder = '';
      else if (name === 'ph') placeholder = attributes['type'] ?? 'obj';
      else if (name === 'p') text = '';
      else if (name === 't') isText = true;
      else if (name === 'br' && text !== undefined) text += '\n';
      else if (isTablePart(name)) cells.open(name);
    },
    close(name) {
      if (name === 't') isText = false;
      else if (name === 'p') closeParagraph();
      else if (isTablePart(name)) cells.close(name);
    },
    text(part) {
      if (isText && text !== undefined) text += part;
    },
  };
}
