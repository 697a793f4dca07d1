/** Which files can be read, and by what. */

import { PinnaceError } from '../../base/errors.ts';
import { loadOnce } from '../../base/load-once.ts';
import { type NumberedLine, numberedLines, type Piece, piecesOf, type ReadOptions } from './pieces.ts';

type Read = (text: string, options: ReadOptions) => Piece[] | Promise<Piece[]>;

const readText: Read = (text, options) => piecesOf(numberedLines(text), options);

/** Readers that need a library load with the first file of their kind. */
const readHtml: Read = async (text, options) => await (await loadHtml()).readHtml(text, options);
const readCsv: Read = async (text, options) => await (await loadRecords()).readCsv(text, options);
const readJson: Read = async (text, options) => await (await loadRecords()).readJson(text, options);
const readJsonLines: Read = async (text, options) => await (await loadRecords()).readJsonLines(text, options);
const loadHtml = /* @__PURE__ */ loadOnce(() => import('./read-html.ts'));
const loadRecords = /* @__PURE__ */ loadOnce(() => import('./read-records.ts'));

/** Office files and PDF come as the Markdown that `fileText` makes of them. */
const readDocument: Read = (text, options) => {
  if (text.startsWith('PK\u0003\u0004') || text.startsWith('%PDF-')) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read the file as text: pass what `fileText` of `pinnace/grounding/file-text` returns for its bytes',
      { details: { reason: 'unsupported_type' } },
    );
  }
  return readMarkdown(text, options);
};

const officeTypes = [
  ...['wordprocessingml.document', 'spreadsheetml.sheet', 'presentationml.presentation'].map((name) =>
    `application/vnd.openxmlformats-officedocument.${name}`
  ),
  ...['text', 'spreadsheet', 'presentation'].map((name) => `application/vnd.oasis.opendocument.${name}`),
];

/** By media types and endings of names. */
const readers: readonly (readonly [types: readonly string[], endings: readonly string[], read: Read])[] = [
  [['text/markdown'], ['md', 'markdown'], readMarkdown],
  [['text/html', 'application/xhtml+xml'], ['html', 'htm', 'xhtml'], readHtml],
  [['application/json'], ['json'], readJson],
  [['application/jsonl', 'application/x-ndjson'], ['jsonl', 'ndjson'], readJsonLines],
  [['text/csv', 'text/tab-separated-values'], ['csv', 'tsv'], readCsv],
  [officeTypes, ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp'], readDocument],
  [['application/pdf'], ['pdf'], readDocument],
  [['text/plain'], ['txt', 'text', 'log'], readText],
];

/**
 * Returns the reader of a file by its name, or by its media type where the name says nothing.
 * @throws PinnaceError `invalid_argument` for other files.
 */
export function readerOf(name: string, type?: string): Read {
  const ending = name.slice(name.lastIndexOf('.') + 1).toLowerCase();
  const media = type?.split(';')[0]?.trim().toLowerCase() ?? '';
  const found = readers.find(([, endings]) => endings.includes(ending)) ??
    readers.find(([types]) => types.includes(media));
  if (found) return found[2];
  const known = readers.flatMap(([, endings]) => endings).join(', ');
  throw new PinnaceError('invalid_argument', `Cannot read a file of this type: there is ${known}`, {
    details: { reason: 'unsupported_type' },
  });
}

/** Returns the pieces; `#` within a fenced block of code is no heading. */
function readMarkdown(text: string, { length }: { readonly length: number }): Piece[] {
  const pieces: Piece[] = [];
  const path: string[] = [];
  let lines: NumberedLine[] = [];
  let fence = '';
  const close = (): void => {
    const title = path.filter((heading) => heading !== '').join(' › ').slice(0, 500).toWellFormed();
    pieces.push(...piecesOf(lines, { length, ...(title !== '' && { title }) }));
    lines = [];
  };
  for (const line of numberedLines(text)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line.text)?.[1];
    if (mark && fence === '') fence = mark;
    else if (mark && mark.startsWith(fence)) fence = '';
    const heading = fence === '' ? /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line.text) : null;
    if (heading) {
      close();
      path.length = heading[1]!.length - 1;
      path.push(heading[2]!.replace(/[ \t]#+[ \t]*$/, '').trim());
      for (let at = 0; at < path.length; at++) path[at] ??= '';
    }
    lines.push(line);
  }
  close();
  return pieces;
}
