/** The stored files of persons: upload, read, delete. Loaded with the first call. */

import { PinnaceError } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { namedOwner, owns } from '../permission/ownership.ts';
import type { RuntimeParts } from './run-context.ts';
import { blobUrl, type OwnedFileCall, requireLength, type StoredFiles } from './message-files.ts';
import type { HostedRuntime } from './runtime.ts';

/** Creates the stored files of a runtime. */
export function createStoredFiles(
  { blobs, limits, budgets, requireOpen, closing }: Pick<
    RuntimeParts,
    'blobs' | 'limits' | 'budgets' | 'requireOpen' | 'closing'
  >,
  { guard, place }: Pick<HostedRuntime, 'guard' | 'place'>,
): StoredFiles {
  const scopeOf = (principal: Principal, { signal = closing, subject }: OwnedFileCall) => ({
    ...namedOwner(principal, subject),
    signal,
  });
  return {
    async put(bytes, declared, principal, call = {}) {
      requireScope(principal, 'run:create');
      requireOpen();
      const mediaType = checkUpload(bytes, { declared, most: limits.attachmentLength });
      const scope = scopeOf(principal, call);
      await budgets?.write(scope, bytes.length);
      const id = await blobs.put({ bytes, mediaType }, scope);
      const size = bytes.length;
      const target = { type: 'attachment', id };
      const payload = { size, mediaType, from: 'upload' };
      place(principal, call.trace).emit({ action: 'attachment.store', target, status: 'ok', payload });
      return { id, url: blobUrl(id), mediaType, size };
    },
    async get(id, principal, call = {}) {
      requireScope(principal, 'run:read');
      const scope = scopeOf(principal, call);
      const blob = await blobs.get(id, scope);
      if (blob && owns(principal, scope)) return blob;
      if (blob) {
        const { subject } = scope;
        const facts = { action: 'blob.read', target: { type: 'attachment', id } };
        const request = { ...facts, subject, principal, trace: call.trace, attempt: 'Cannot read the file' };
        await guard(request, (at) => Promise.resolve(at.emit({ ...facts, status: 'ok' })));
        return blob;
      }
      throw new PinnaceError('not_found', 'Cannot read the file: it is unknown or expired', {
        details: { reason: 'attachment_missing' },
      });
    },
    async delete(id, principal, call = {}) {
      requireScope(principal, 'admin');
      const scope = scopeOf(principal, call);
      const found = await blobs.get(id, scope);
      if (!found) return; // no event repeats an invalid id
      const payload = { size: found.bytes.length, mediaType: found.mediaType };
      const facts = { action: 'attachment.delete', target: { type: 'attachment', id }, payload };
      const { subject } = scope;
      const request = { ...facts, subject, principal, trace: call.trace, attempt: 'Cannot delete the file' };
      await guard(request, async (at) => {
        await blobs.delete(id, scope);
        at.emit({ ...facts, status: 'ok' });
      });
    },
  };
}

/** Returns the type that the content has. @throws PinnaceError for more than `most` bytes, and for a type that is not allowed. */
function checkUpload(
  bytes: Uint8Array<ArrayBuffer>,
  { declared, most }: { readonly declared: string; readonly most: number },
): string {
  requireLength(bytes.length, most);
  return fileTypeOf(bytes, declared);
}

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
 * or another than was declared.
 */
export function fileTypeOf(bytes: Uint8Array, declared: string): string {
  if (bytes.length === 0) throw refused('it is empty');
  const given = declared.split(';')[0]?.trim().toLowerCase() ?? '';
  const claimed = aliases[given] ?? given;
  const found = sniffType(bytes);
  const isUnnamed = claimed === '' || claimed === 'application/octet-stream';
  if (found !== undefined) {
    const [kind = ''] = found.split('/');
    if (isUnnamed || claimed === found || claimed === kind || claimed === `${kind}/*`) return found;
    throw refused(`its content is ${found}, and it is declared as another type`);
  }
  const isText = claimed.startsWith('text') || claimed === 'application/json';
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
