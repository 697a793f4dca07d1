/** What an engine has made of the items, kept beside their log in parts: whoever opens it next need not make it again. */

import type { Key } from '../../src/base/key.ts';
import { commitOwn } from '../../src/log/own-commit.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { sha256 } from '../../src/base/hash.ts';

/** A snapshot that is there, before it is read. */
export interface StoredSnapshot {
  /** Of the log, when it was made. */
  readonly version: string;
  /** Gives its bytes; `undefined` where they are not what was written. */
  readonly read: () => Promise<Uint8Array | undefined>;
}

/** Where the latest snapshot is. */
export interface SnapshotStore {
  find(): Promise<StoredSnapshot | undefined>;
  /** Puts another in its place. Of two who do so at once, one has done it in vain. */
  write(version: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
}

interface Head {
  readonly id: string;
  readonly version: string;
  readonly parts: number;
  /** SHA-256 of all bytes. */
  readonly sum: string;
}

/** As much as one value of Deno KV takes, with room for its framing. */
const partBytes = 60 * 1024;
const partsPerCommit = 10;

/** Gives the store under this prefix. */
export function createSnapshotStore(storage: Storage, prefix: Key): SnapshotStore {
  const headKey = [...prefix, 'index-head'];
  const partKey = (id: string, part: number): Key => [...prefix, 'index-part', id, part];

  async function read({ id, parts, sum }: Head): Promise<Uint8Array | undefined> {
    const found = await Promise.all(Array.from({ length: parts }, (_, part) => storage.get(partKey(id, part))));
    const all = found.map((entry) => entry?.value instanceof Uint8Array ? entry.value : new Uint8Array());
    const bytes = new Uint8Array(all.reduce((size, { length }) => size + length, 0));
    let at = 0;
    for (const part of all) {
      bytes.set(part, at);
      at += part.length;
    }
    return await sha256(bytes) === sum ? bytes : undefined;
  }

  async function remove(id: string, parts: number): Promise<void> {
    for (let from = 0; from < parts; from += 100) {
      const size = Math.min(100, parts - from);
      await storage.commit(Array.from({ length: size }, (_, at) => ({ key: partKey(id, from + at) })));
    }
  }

  return {
    async find() {
      const head = (await storage.get(headKey))?.value as Head | undefined; // written below
      return head && { version: head.version, read: () => read(head) };
    },
    async write(version, bytes) {
      const before = await storage.get(headKey);
      const [id, parts] = [crypto.randomUUID().slice(0, 8), Math.ceil(bytes.length / partBytes)];
      for (let from = 0; from < parts; from += partsPerCommit) {
        const some = Array.from({ length: Math.min(partsPerCommit, parts - from) }, (_, at) => from + at);
        await storage.commit(some.map((part) => {
          return { key: partKey(id, part), value: bytes.slice(part * partBytes, (part + 1) * partBytes) };
        }));
      }
      const head: Head = { id, version, parts, sum: await sha256(bytes) };
      const change = { key: headKey, value: head, ifVersion: before?.version ?? null };
      const written = async (): Promise<string | undefined> => {
        const found = await storage.get(headKey);
        return (found?.value as Head | undefined)?.id === id ? found?.version : undefined; // written here alone
      };
      const { ok } = await commitOwn(storage, [change], { written });
      const last = before?.value as Head | undefined; // as above
      if (!ok) await remove(id, parts);
      else if (last) await remove(last.id, last.parts);
    },
  };
}
