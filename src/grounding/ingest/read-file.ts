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
  [['text/markdown'], ['md', 'markdown', 'mdown', 'mkd', 'mdx'], readMarkdown],
  [['text/html', 'application/xhtml+xml'], ['html', 'htm', 'xhtml'], readHtml],
  [['application/json'], ['json'], readJson],
  [['application/jsonl', 'application/x-ndjson'], ['jsonl', 'ndjson'], readJsonLines],
  [['text/csv', 'text/tab-separated-values'], ['csv', 'tsv'], readCsv],
  [officeTypes, ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp'], readDocument],
  [['application/pdf'], ['pdf'], readDocument],
  [['text/plain'], ['txt', 'text', 'log', 'rst', 'adoc', 'org', 'tex', 'srt', 'vtt'], readText],
  [
    ['application/yaml', 'application/toml', 'application/xml', 'text/xml'],
    ['yaml', 'yml', 'toml', 'ini', 'xml'],
    readText,
  ],
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

/** Returns the pieces under their headings; `#` within a fenced block of code is none. */
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
  const open = (level: number, heading: string): void => {
    close();
    path.length = level - 1;
    path.push(heading.trim());
    for (let at = 0; at < path.length; at++) path[at] ??= '';
  };
  for (const line of numberedLines(text)) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line.text)?.[1];
    if (mark && fence === '') fence = mark;
    else if (mark && mark.startsWith(fence)) fence = '';
    const [, marks = '', heading = ''] = (fence === '' && /^ {0,3}(#{1,6})[ \t]+(\S.*)$/.exec(line.text)) || [];
    if (marks !== '') open(marks.length, heading.replace(/[ \t]#+[ \t]*$/, ''));
    const under = fence === '' && underlinedBy(line.text, lines);
    if (under) {
      lines.pop();
      open(line.text.includes('=') ? 1 : 2, under.text);
      lines.push(under);
    }
    lines.push(line);
  }
  close();
  return pieces;
}

/** Returns the line that another one makes a heading: a paragraph of one line above `===` or `---`. */
function underlinedBy(text: string, lines: readonly NumberedLine[]): NumberedLine | undefined {
  const [before, line] = [lines.at(-2)?.text ?? '', lines.at(-1)];
  const isAlone = before.trim() === '' || /^ {0,3}#/.test(before);
  const isUnderline = /^ {0,3}(?:=+|-{2,})[ \t]*$/.test(text);
  return isUnderline && isAlone && line && isParagraph.test(line.text) ? line : undefined;
}

/** Neither empty nor code, a list, a quotation, a table, a heading or another line of marks. */
const isParagraph = /^ {0,3}(?![-*+>|#=_`~]|\d+[.)][ \t])\S/;
