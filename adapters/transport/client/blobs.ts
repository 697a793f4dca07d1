/** The stored files of an endpoint. */

import type { CallOptions } from './call-options.ts';
import { type Connection, resolvePath } from './connection.ts';
import type { StoredFile } from '../../../src/runtime/message-files.ts';

/** The stored files of the caller. */
export interface RemoteBlobs {
  /**
   * Uploads a file. Its `url` and `mediaType` make a file part of a message; the same content is stored once.
   *
   * @example
   * const { url, mediaType } = await client.blobs.upload(input.files[0]);
   * const part = { type: 'file', url, mediaType };
   */
  upload(file: Blob, options?: CallOptions): Promise<StoredFile>;
  /** Reads a file by its id or its `pinnace-blob:` address. Rejects with `not_found`. */
  read(id: string, options?: CallOptions): Promise<Blob>;
  /** Deletes a file. Needs the scope `admin`. */
  delete(id: string, options?: CallOptions): Promise<void>;
}

/** Creates the stored files of a remote endpoint. */
export function createRemoteBlobs({ base, send }: Connection): RemoteBlobs {
  const pathOf = (id: string): URL =>
    resolvePath(base, `/v1/blobs/${encodeURIComponent(id.replace(/^pinnace-blob:/, ''))}`);
  return {
    async upload(file, { signal = new AbortController().signal } = {}) {
      const bytes = new Uint8Array(await file.arrayBuffer());
      const type = file.type === '' ? 'application/octet-stream' : file.type;
      const response = await send({ method: 'POST', url: resolvePath(base, '/v1/blobs'), bytes, type, signal });
      return await response.json() as StoredFile; // the endpoint's schema says so
    },
    async read(id, { signal = new AbortController().signal } = {}) {
      const response = await send({ method: 'GET', url: pathOf(id), signal });
      return await response.blob();
    },
    async delete(id, { signal = new AbortController().signal } = {}) {
      await send({ method: 'DELETE', url: pathOf(id), signal });
    },
  };
}
