/** Documents within a Word document (`w:altChunk`), as web tools export them: HTML, alone or in a MIME archive, text, and Word. */

import { PinnaceError } from '../../../src/base/errors.ts';
import { htmlText } from '../../../src/grounding/ingest/read-html.ts';
import { fromBase64 } from '../../../src/base/base64.ts';
import { decodeText } from '../decode-text.ts';
import type { Markdown } from './markdown.ts';
import type { OfficePackage } from './package.ts';

/** Returns the text of a chunk. @throws PinnaceError `invalid_argument` with the reason `unsupported_type` for one of another type. */
export async function chunkText(office: OfficePackage, path: string, { budget }: Markdown): Promise<string> {
  const bytes = await office.bytes(path);
  if (!bytes) return '';
  const text = decodeText(bytes);
  const options = { turns: office.turns, budget };
  if (/^\s*(?:MIME-Version|Content-Type|From|Subject):/i.test(text)) {
    return (await htmlText(htmlPartOf(text), options)).text;
  }
  if (/\.(?:x?html?)$/i.test(path) || /^\s*<(?:!doctype|html|body|p|div)\b/i.test(text)) {
    return (await htmlText(text, options)).text;
  }
  if (/\.(?:txt|text)$/i.test(path)) return text;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot read the office file: "${path}" in it is a document of another type; open it in Word and save it again`,
    { details: { reason: 'unsupported_type' } },
  );
}

/** The HTML of a MIME archive (RFC 2557); the whole where no part is named so. */
function htmlPartOf(archive: string): string {
  const boundary = /boundary="?([^"\r\n;]+)/i.exec(archive)?.[1];
  const parts = boundary === undefined ? [archive] : archive.split(`--${boundary}`);
  const part = parts.find((one) => /^content-type:\s*text\/html/im.test(one.slice(0, 2_000))) ?? archive;
  const end = /\r?\n\r?\n/.exec(part);
  const [head, body] = end ? [part.slice(0, end.index), part.slice(end.index + end[0].length)] : ['', part];
  if (/^content-transfer-encoding:\s*base64/im.test(head)) {
    return decodeText(fromBase64(body.replace(/\s/g, '')) ?? new Uint8Array());
  }
  return /^content-transfer-encoding:\s*quoted-printable/im.test(head) ? unquoted(body) : body;
}

/** Quoted-printable (RFC 2045, 6.7). */
function unquoted(body: string): string {
  const joined = body.replace(/=[ \t]*\r?\n/g, '');
  const bytes = new Uint8Array(joined.length * 3);
  let length = 0;
  for (const [, hex, other] of joined.matchAll(/=([0-9a-f]{2})|([^])/gi)) {
    if (hex !== undefined) bytes[length++] = Number.parseInt(hex, 16);
    else length += new TextEncoder().encodeInto(other ?? '', bytes.subarray(length)).written;
  }
  return decodeText(bytes.slice(0, length));
}
