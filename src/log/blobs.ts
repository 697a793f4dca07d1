/** Files in a storage: each once per person, under the hash of its content. */

import { sha256 } from '../base/hash.ts';
import type { Key } from '../base/key.ts';
import type { BlobScope, BlobStore, StoredBlob } from '../contracts/blob-store.ts';
import type { Storage } from '../contracts/storage.ts';
import { removeKeys } from './commits.ts';

/** Where files are stored, and for how long. */
export interface StorageBlobsOptions {
  readonly storage: Pick<Storage, 'get' | 'commit'>;
  /** A file is stored for this long after its last use, and at least half as long. */
  readonly ttlMs: number;
  readonly now: () => number;
}

/** Written after all parts: when it exists, they do. */
interface BlobHead {
  readonly size: number;
  readonly mediaType: string;
  readonly parts: number;
  readonly expiresAt: number;
}

/** Every storage takes a part of this size in one commit, Deno KV without splitting the commit. */
const partBytes = 524_288;

/** Creates a store of files over a storage. The id of a file is the SHA-256 of its bytes. */
export function storageBlobs({ storage, ttlMs, now }: StorageBlobsOptions): BlobStore {
  const write = async (key: Key, { bytes, mediaType }: StoredBlob, keepMs: number): Promise<void> => {
    const parts = Math.ceil(bytes.length / partBytes);
    await Promise.all(Array.from({ length: parts }, async (_, part) => {
      const value = bytes.slice(part * partBytes, (part + 1) * partBytes);
      await storage.commit([{ key: [...key, part], value, ttlMs: keepMs }]);
    }));
    const head: BlobHead = { size: bytes.length, mediaType, parts, expiresAt: now() + keepMs };
    await storage.commit([{ key, value: head, ttlMs: keepMs - 1 }]); // never outlives its parts
  };
  const headAt = async (key: Key): Promise<BlobHead | undefined> => {
    return (await storage.get(key))?.value as BlobHead | undefined; // only `write` writes it
  };
  const readAt = async (at: Key, { signal }: BlobScope) => {
    const head = await headAt(at);
    signal.throwIfAborted();
    const bytes = head && await readParts(storage, at, head);
    signal.throwIfAborted();
    return head && bytes && { head, bytes, at };
  };
  const remove = async (key: Key, { parts }: BlobHead): Promise<void> => {
    await storage.commit([{ key }]);
    await removeKeys(storage, Array.from({ length: parts }, (_, part) => [...key, part]));
  };
  const isFresh = ({ expiresAt }: BlobHead, keepMs = ttlMs): boolean => expiresAt - now() > keepMs / 2;
  return {
    async get(id, scope) {
      if (!/^[0-9a-f]{64}$/.test(id)) return undefined;
      const key = keyOf(id, scope);
      const found = await readAt(key, scope) ?? await readAt(sharedKeyOf(id, scope), scope);
      if (!found) return undefined;
      const { head, bytes, at } = found;
      const blob = { bytes, mediaType: head.mediaType };
      if (at !== key || !isFresh(head)) await write(key, blob, ttlMs).catch(() => undefined); // the next use tries again
      return blob;
    },
    async put(blob, scope) {
      const id = await sha256(blob.bytes);
      const key = keyOf(id, scope);
      const head = await headAt(key);
      scope.signal.throwIfAborted();
      const keepMs = Math.max(ttlMs, scope.keepMs ?? 0);
      if (!head || !isFresh(head, keepMs)) {
        await write(key, head ? { ...blob, mediaType: head.mediaType } : blob, keepMs);
      }
      return id;
    },
    async delete(id, scope) {
      if (!/^[0-9a-f]{64}$/.test(id)) return;
      const key = keyOf(id, scope);
      const head = await headAt(key);
      scope.signal.throwIfAborted();
      if (head) await remove(key, head);
      // Otherwise the next `get` would find what version 0.2 has stored.
      const shared = await headAt(sharedKeyOf(id, scope));
      if (shared) await remove(sharedKeyOf(id, scope), shared);
    },
  };
}

function keyOf(id: string, { tenant, subject }: BlobScope): Key {
  return ['blob', tenant, subject, id];
}

/** Where version 0.2 has stored files, for all subjects of a tenant. They are read until they expire, and never renewed. */
function sharedKeyOf(id: string, { tenant }: BlobScope): Key {
  return ['blob', tenant, id];
}

async function readParts(
  storage: Pick<Storage, 'get'>,
  key: Key,
  { size, parts }: BlobHead,
): Promise<Uint8Array<ArrayBuffer> | undefined> {
  const entries = await Promise.all(Array.from({ length: parts }, (_, part) => storage.get([...key, part])));
  const bytes = new Uint8Array(size);
  for (const [part, entry] of entries.entries()) {
    if (!(entry?.value instanceof Uint8Array)) return undefined; // expired or deleted meanwhile
    bytes.set(entry.value, part * partBytes);
  }
  return bytes;
}
