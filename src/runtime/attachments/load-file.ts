/** Loads one file of a message, wherever it is, and checks its size and type. */

import { base64Size, fromBase64, toBase64 } from '../../base/base64.ts';
import { loadOnce } from '../../base/load-once.ts';
import { PinnaceError } from '../../base/errors.ts';
import { fetchFile } from './fetch-file.ts';
import type { FileAccess, FileAddress, LoadedFile } from './files.ts';
import { fileTypeOf } from './file-type.ts';
import { requireLength } from './require-length.ts';
import { blobIdOf, readDataUrl, resourceOf } from './references.ts';

const loadResources = /* @__PURE__ */ loadOnce(() => import('./load-resource.ts'));

/** Loads a file. @throws PinnaceError that says why it cannot be used. */
export async function loadFile({ url, mediaType }: FileAddress, access: FileAccess): Promise<LoadedFile> {
  const id = blobIdOf(url);
  if (id !== undefined) return await loadStored(id, access);
  const resource = resourceOf(url);
  if (resource) return await (await loadResources()).loadResource(resource, access);
  const inline = readInline(url, access.limits);
  if (inline) return inline;
  const bytes = await fetchFile(url, access);
  return { mediaType: fileTypeOf(bytes, mediaType), bytes, base64: toBase64(bytes), from: 'url' };
}

/** Reads a data URL; `undefined` for any other address. @throws PinnaceError as `loadFile`. */
export function readInline(url: string, { attachmentLength }: FileAccess['limits']): LoadedFile | undefined {
  const inline = readDataUrl(url);
  if (!inline) return undefined;
  requireLength(base64Size(inline.base64), attachmentLength);
  const bytes = fromBase64(inline.base64);
  if (!bytes) {
    throw new PinnaceError('invalid_argument', 'Cannot read a file: its data URL is not base64', {
      details: { reason: 'file_not_base64' },
    });
  }
  return { mediaType: fileTypeOf(bytes, inline.mediaType), bytes, base64: inline.base64, from: 'inline' };
}

async function loadStored(
  id: string,
  { blobs, owner: { tenant, subject }, from, signal, limits }: FileAccess,
): Promise<LoadedFile> {
  const read = async () =>
    await blobs.get(id, { tenant, subject, signal }) ??
      (from === undefined ? undefined : await blobs.get(id, { tenant, subject: from, signal }));
  const blob = await read().catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new PinnaceError('unavailable', 'Cannot read a stored file: the file store does not answer', {
      cause,
      details: { reason: 'attachment_store' },
    });
  });
  if (!blob) {
    throw new PinnaceError('not_found', 'Cannot read a stored file: it is unknown or expired, upload it again', {
      details: { reason: 'attachment_missing' },
    });
  }
  requireLength(blob.bytes.length, limits.attachmentLength);
  const { bytes } = blob;
  return { mediaType: fileTypeOf(bytes, blob.mediaType), bytes, base64: toBase64(bytes), from: 'stored' };
}
