/** Which files can be read, and by what. */

import { PinnaceError } from '../../base/errors.ts';
import { numberedLines, type Piece, piecesOf } from './pieces.ts';
import { readHtml } from './read-html.ts';
import { readMarkdown } from './read-markdown.ts';
import { readCsv, readJson } from './read-records.ts';

type Read = (text: string, options: { readonly length: number }) => Piece[];

const readText: Read = (text, options) => piecesOf(numberedLines(text), options);

const readOffice: Read = (text, options) => {
  if (text.startsWith('PK\u0003\u0004')) {
    throw new PinnaceError(
      'invalid_argument',
      'Cannot read an office file as text: pass what `officeText` of `pinnace/grounding/office-text` returns for its bytes',
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

/** By media types and endings of names. Office files come as the Markdown that `officeText` makes of them. */
const readers: readonly (readonly [types: readonly string[], endings: readonly string[], read: Read])[] = [
  [['text/markdown'], ['md', 'markdown'], readMarkdown],
  [['text/html', 'application/xhtml+xml'], ['html', 'htm', 'xhtml'], readHtml],
  [['application/json'], ['json'], readJson],
  [['text/csv'], ['csv'], readCsv],
  [officeTypes, ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp'], readOffice],
  [['text/plain'], ['txt', 'text', 'log'], readText],
];

/**
 * Returns the reader of a file by its name, or by its media type where the name says nothing.
 *
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
