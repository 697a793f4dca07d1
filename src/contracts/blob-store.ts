/** The port to stored files: what users attach to messages, and what tools and models return. */

/** A stored file. */
export interface StoredBlob {
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** As `image/png`. */
  readonly mediaType: string;
}

/** Whose file it is. */
export interface BlobScope {
  readonly tenant: string;
  /** The person or the group within the tenant: part of the key, as the tenant is. */
  readonly subject: string;
  readonly signal: AbortSignal;
  /** Of `put`: for how long a stored chat refers to the file. The store keeps it at least so long, where it can. */
  readonly keepMs?: number;
}

/**
 * Stores files of persons. Messages refer to a file as `pinnace-blob:<id>`.
 *
 * `get` returns `undefined` for an id that the subject has no file under: unknown, expired, deleted, or another subject's, whatever the
 * id looks like. `put` returns the id, 1 to 128 letters, digits, `_`, `-` or `.`; the same bytes of the same subject may return the
 * same id, and are then stored once. `delete` of an unknown id does nothing. A store that is out of reach rejects with `unavailable`;
 * an abort rejects. Ids are no secrets, and grant nothing without tenant and subject. The bytes are never logged.
 */
export interface BlobStore {
  get(id: string, scope: BlobScope): Promise<StoredBlob | undefined>;
  put(blob: StoredBlob, scope: BlobScope): Promise<string>;
  delete(id: string, scope: BlobScope): Promise<void>;
}
