/** What callers do with stored files. Types only. */

import type { Principal } from '../../base/principal.ts';
import type { StoredBlob } from '../../contracts/blob-store.ts';
import type { CallerTrace } from '../runtime-options.ts';

/** A file that was stored. */
export interface StoredFile {
  readonly id: string;
  /** The `url` of a message's file part. */
  readonly url: string;
  /** By its content. */
  readonly mediaType: string;
  /** In bytes. */
  readonly size: number;
}

/** The circumstances of a call. */
export interface StoredFileCall {
  readonly signal?: AbortSignal | undefined;
  readonly trace?: CallerTrace;
}

/** The stored files of the principal's tenant. */
export interface StoredFiles {
  /**
   * Stores a file for messages to refer to. The same content is stored once.
   *
   * @throws PinnaceError `invalid_argument` (`attachment_too_large`, `attachment_type`), `forbidden` without the scope `run:create`.
   */
  put(
    bytes: Uint8Array<ArrayBuffer>,
    mediaType: string,
    principal: Principal,
    call?: StoredFileCall,
  ): Promise<StoredFile>;
  /** Reads a file. @throws PinnaceError `not_found` (`attachment_missing`), `forbidden` without the scope `run:read`. */
  get(id: string, principal: Principal, call?: StoredFileCall): Promise<StoredBlob>;
  /**
   * Deletes a file for the whole tenant, guarded as the action `attachment.delete`; messages that refer to it go on without it. Does
   * nothing for an unknown id.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`, and as `guard` does.
   */
  delete(id: string, principal: Principal, call?: StoredFileCall): Promise<void>;
}
