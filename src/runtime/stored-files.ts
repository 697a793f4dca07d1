/** The stored files of persons: upload, read, delete. Loaded with the first call. */

import { PinnaceError } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { guardEmitted, guardRead } from '../permission/guarded.ts';
import { namedOwner, owns } from '../permission/ownership.ts';
import { fileTypeOf } from '../base/file-types.ts';
import type { RuntimeParts } from './run-context.ts';
import { blobUrl, type OwnedFileCall, requireLength, type StoredFiles } from './message-files.ts';
import type { HostedRuntime } from './runtime.ts';

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
        await guardRead(guard, request);
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
      await guardEmitted(guard, request, () => blobs.delete(id, scope));
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
