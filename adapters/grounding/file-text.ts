/** The text of a file, whatever it is: what `ingest` reads under the file's own name. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { decodeText } from './decode-text.ts';
import type { SkippedPart } from './office/markdown.ts';

export type { SkippedPart } from './office/markdown.ts';

/** Options of {@link fileText}. */
export interface FileTextOptions {
  /** The media type, where it is known: its `charset` counts for text that is not UTF-8. */
  readonly type?: string | undefined;
  /** Stops the reading with `cancelled`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives each part that is not in the text: pages and pictures without text, charts, comments, macros. */
  readonly onSkipped?: ((part: SkippedPart) => void) | undefined;
}

const loadOffice = /* @__PURE__ */ loadOnce(() => import('./office-text.ts'));
const loadPdf = /* @__PURE__ */ loadOnce(() => import('./pdf-text.ts'));

/**
 * Returns the text of a file by its content: of PDF and of office files as Markdown, of others in the encoding that they have. The
 * readers of PDF and office files load with the first such file.
 *
 * @throws PinnaceError `invalid_argument` with a reason, as `officeText` does: `unsupported_type` for an encrypted file, `no_text` for
 * one without text, `invalid_archive`, `invalid_document`, `text_too_long`; `cancelled`.
 * @example
 * const text = async () => await fileText(new Uint8Array(await file.arrayBuffer()), { type: file.type }); // a `File`
 * await ingest(grounding, { dataSourceId: 'handbook', storage, files: [{ name: file.name, text }] });
 */
export async function fileText(
  file: Uint8Array<ArrayBuffer>,
  options: FileTextOptions = {},
): Promise<string> {
  checkNames('read the file', options, optional('type', 'signal', 'onSkipped'));
  const { type, signal, onSkipped } = options;
  const start = new TextDecoder('latin1').decode(file.subarray(0, 1_024));
  if (/(?:^|[^\t\x20-\x7e])%PDF-\d/.test(start) && !start.startsWith('PK')) {
    return await (await loadPdf()).pdfText(file, { signal, onSkipped });
  }
  if (start.startsWith('{\\rtf')) throw richText();
  const isOffice = start.startsWith('PK\u0003\u0004') || start.startsWith('\u00d0\u00cf\u0011\u00e0');
  if (isOffice) return await (await loadOffice()).officeText(file, { signal, onSkipped });
  return decodeText(file, { type });
}

function richText(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot read the file: it is RTF; save it as .docx or as plain text', {
    details: { reason: 'unsupported_type' },
  });
}
