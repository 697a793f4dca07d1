/** The index of an engine, stored beside the log of its items, so that the next process need not build it again. */

import type { Key } from '../../src/base/key.ts';
import {
  type Checkpoints,
  discardBlocks,
  readBlocks,
  replacementChanges,
  sweepGarbage,
  writeBlocks,
} from '../../src/log/checkpoint.ts';
import { commitHead, readHead } from '../../src/log/commits.ts';
import type { Storage } from '../../src/contracts/storage.ts';
import { sha256 } from '../../src/base/hash.ts';

/** A stored snapshot, before it is read. */
export interface StoredSnapshot {
  readonly version: string;
  /** Reads its bytes; `undefined` where they are not what was written. */
  readonly read: () => Promise<Uint8Array | undefined>;
}

export type SnapshotStore = ReturnType<typeof createSnapshotStore>;

interface Head {
  readonly id: string;
  readonly version: string;
  readonly parts: number;
  /** SHA-256 of all bytes. */
  readonly sum: string;
}

const partBytes = 1_048_576;

export function createSnapshotStore(storage: Storage, prefix: Key, now: () => number = Date.now) {
  const headKey = [...prefix, 'index-head'];
  const checkpoints: Checkpoints = {
    storage,
    now,
    blocks: [...prefix, 'index-part'],
    garbage: [...prefix, 'index-garbage'],
    current: async () => (await readHead<Head>(storage, headKey))?.value.id,
  };
  return {
    async find(): Promise<StoredSnapshot | undefined> {
      const head = (await readHead<Head>(storage, headKey))?.value;
      return head && { version: head.version, read: () => read(checkpoints, head) };
    },
    /** Replaces the snapshot. Of two writers at the same time, one has no effect. */
    async write(version: string, bytes: Uint8Array<ArrayBuffer>): Promise<void> {
      const before = await readHead<Head>(storage, headKey);
      const id = crypto.randomUUID().slice(0, 8);
      const written = await writeBlocks(checkpoints, id, partsOf(bytes));
      if (!written) return;
      const old = before && { name: before.value.id, blocks: before.value.parts };
      const result = await commitHead<Head>(storage, {
        key: headKey,
        value: { id, version, parts: written.blocks, sum: await sha256(bytes) },
        before,
        changes: replacementChanges(checkpoints, written, old),
        own: (stored) => stored.id === id,
      });
      await (result.ok ? sweepGarbage(checkpoints) : discardBlocks(checkpoints, id));
    },
  };
}

function* partsOf(bytes: Uint8Array<ArrayBuffer>): Iterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += partBytes) yield bytes.slice(at, at + partBytes);
}

async function read(checkpoints: Checkpoints, { id, parts: blocks, sum }: Head): Promise<Uint8Array | undefined> {
  const found = await readBlocks(checkpoints, { name: id, blocks });
  if (!found?.every((part) => part instanceof Uint8Array)) return undefined;
  const bytes = new Uint8Array(found.reduce((size, { length }) => size + length, 0));
  let at = 0;
  for (const part of found) {
    bytes.set(part, at);
    at += part.length;
  }
  return await sha256(bytes) === sum ? bytes : undefined;
}
