/** The media types of files: by their content, and by what a message says. */

import { PinnaceError } from './errors.ts';

/** The first bytes of files, by their type. A `.` matches any byte. */
const beginnings: readonly (readonly [string, string])[] = [
  ['image/png', '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', '\xff\xd8\xff'],
  ['image/gif', 'GIF87a'],
  ['image/gif', 'GIF89a'],
  ['image/webp', 'RIFF....WEBP'],
  ['application/pdf', '%PDF-'],
  ['audio/wav', 'RIFF....WAVE'],
  ['audio/mpeg', 'ID3'],
  ['audio/mpeg', '\xff\xfb'],
  ['audio/mpeg', '\xff\xf3'],
  ['audio/mpeg', '\xff\xf2'],
  ['audio/ogg', 'OggS'],
  ['audio/flac', 'fLaC'],
  ['audio/mp4', '....ftypM4A '],
];

/** Other names of the same types. */
const aliases: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mp3': 'audio/mpeg',
  'audio/x-mp3': 'audio/mpeg',
  'audio/wave': 'audio/wav',
  'audio/x-wav': 'audio/wav',
  'audio/vnd.wave': 'audio/wav',
  'audio/x-flac': 'audio/flac',
  'audio/x-m4a': 'audio/mp4',
  'audio/m4a': 'audio/mp4',
  'application/x-pdf': 'application/pdf',
  'text/x-markdown': 'text/markdown',
};

/** Types of text that keep their name; every other text is `text/plain`. */
const texts = new Set(['text/markdown', 'text/csv', 'text/tab-separated-values', 'application/json']);

const namesForm: ReadonlySet<string> = new Set(['image', 'audio']);

/** Types of texts that do not say so; browsers take TypeScript for `video/mp2t`. */
const textual =
  /^application\/(?:[\w.-]+\+)?(?:x-)?(?:json|xml|yaml|toml|ndjson|jsonl|sql|graphql|(?:java|type|ecma)script|sh|shellscript|python|python-code|ruby|perl|php|httpd-php|tex|latex|subrip)$|^video\/mp2t$/;

/** Whether files of this type are given to a model as text. */
export function isTextType(mediaType: string): boolean {
  return mediaType.startsWith('text/') || mediaType === 'application/json';
}

/** The type of an allowed file by its first bytes; `undefined` for every other content, texts too. */
export function sniffType(bytes: Uint8Array): string | undefined {
  return beginnings.find(([, beginning]) => startsWith(bytes, beginning))?.[0];
}

/**
 * Returns the type of a file. Nothing is unpacked or rendered for it.
 *
 * @throws PinnaceError `invalid_argument` with the reason `attachment_type` for a file that is empty, of a type that is not allowed,
 * or of another kind than was declared.
 */
export function fileTypeOf(bytes: Uint8Array, declared: string): string {
  if (bytes.length === 0) throw refused('it is empty');
  const given = declared.split(';')[0]?.trim().toLowerCase() ?? '';
  const claimed = aliases[given] ?? given;
  const found = sniffType(bytes);
  const isUnnamed = claimed === '' || claimed === 'application/octet-stream';
  if (found !== undefined) {
    const [kind = ''] = found.split('/');
    // Names and their types are often wrong about the form of an image or a sound.
    if (isUnnamed || claimed === found || claimed === kind || (namesForm.has(kind) && claimed.startsWith(`${kind}/`))) {
      return found;
    }
    throw refused(`its content is ${found}, and it is declared as another type`);
  }
  const isText = claimed.startsWith('text') || textual.test(claimed);
  if (!isUnnamed && !isText) throw refused(notAllowed);
  if (!isPlainText(bytes)) throw refused(isText ? 'it is declared as a text, and is none in UTF-8' : notAllowed);
  return texts.has(claimed) ? claimed : 'text/plain';
}

const notAllowed =
  'its content is of no type that is allowed: PNG, JPEG, GIF, WebP, PDF, WAV, MP3, OGG, FLAC, M4A, or a text in UTF-8';

function startsWith(bytes: Uint8Array, beginning: string): boolean {
  if (bytes.length < beginning.length) return false;
  for (let at = 0; at < beginning.length; at++) {
    if (beginning[at] !== '.' && bytes[at] !== beginning.charCodeAt(at)) return false;
  }
  return true;
}

function isPlainText(bytes: Uint8Array): boolean {
  if (bytes.includes(0)) return false;
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}

function refused(why: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot use a file: ${why}`, { details: { reason: 'attachment_type' } });
}
