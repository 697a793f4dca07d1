/** The contents of files in a storage, in chunks. */

import type { Storage } from '../../../src/contracts/storage.ts';

/** Reads and writes contents by file name. */
export interface FileContents {
  read(name: string): Promise<Uint8Array<ArrayBuffer> | undefined>;
  /** Replaces the content; a failed write leaves none. */
  write(name: string, bytes: Uint8Array<ArrayBuffer>): Promise<void>;
  remove(name: string): Promise<void>;
}

/** Bytes in one value. */
const chunkBytes = 1_048_576;

/** Creates the contents over a storage. */
export function createFileContents(storage: Storage): FileContents {
  async function remove(name: string): Promise<void> {
    for (let at = 0;; at++) {
      if (!await storage.get([...contentKey(name), String(at)])) return;
      await storage.commit([{ key: [...contentKey(name), String(at)] }]);
    }
  }

  return {
    remove,
    async write(name, bytes) {
      await remove(name);
      try {
        for (let at = 0; at * chunkBytes < bytes.length; at++) {
          const value = bytes.slice(at * chunkBytes, (at + 1) * chunkBytes);
          await storage.commit([{ key: [...contentKey(name), String(at)], value }]);
        }
      } catch (error) {
        await remove(name).catch(() => undefined); // the first error says more
        throw error;
      }
    },
    async read(name) {
      const chunks: Uint8Array[] = [];
      for (let at = 0;; at++) {
        const chunk = (await storage.get([...contentKey(name), String(at)]))?.value;
        if (!(chunk instanceof Uint8Array)) break;
        chunks.push(chunk);
      }
      return chunks.length === 0 ? undefined : joined(chunks);
    },
  };
}

const contentKey = (name: string): string[] => ['knowledge', 'content', name];

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
