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

/** The circumstances of a call about a file that exists. */
export interface OwnedFileCall extends StoredFileCall {
  /** Another subject of the tenant, whose file it is; needs the scope `admin`. */
  readonly subject?: string | undefined;
}

/** The stored files of a person. A file belongs to the subject that has stored it: for all others it does not exist. */
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
  /**
   * Reads a file. An administrator that names its subject asks the permission hook for `blob.read`, and is audited.
   *
   * @throws PinnaceError `not_found` (`attachment_missing`), `forbidden` without the scope `run:read`.
   */
  get(id: string, principal: Principal, call?: OwnedFileCall): Promise<StoredBlob>;
  /**
   * Deletes a file, guarded as the action `attachment.delete`; messages that refer to it go on without it. Does
   * nothing for an unknown id.
   *
   * @throws PinnaceError `forbidden` without the scope `admin`, and as `guard` does.
   */
  delete(id: string, principal: Principal, call?: OwnedFileCall): Promise<void>;
}
