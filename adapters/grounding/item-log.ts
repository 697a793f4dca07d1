/**
 * The items of one tenant in a storage: an append-only log of parts of at most 60 KiB, each with the hash of what it holds, and a
 * head that says how far the log goes. Every commit names the head's version, so instances that share a storage take turns.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Key } from '../../src/base/key.ts';
import { commitMarked } from '../../src/log/own-commit.ts';
import type { Change, Storage } from '../../src/contracts/storage.ts';
import { checkPart, type LogChange, type LogPart, type StoredRow, toParts } from './log-part.ts';

/** Where the log of an open shelf goes, and what others have written there. */
export interface ItemLog {
  /** Of all that was read or written. */
  version(): string;
  /** Gives the changes that are new since the last time, in order; `reset` where everything begins anew. */
  catchUp(): AsyncIterable<LogChange | 'reset'>;
  /**
   * Adds changes, after those of others. `catchUp` must have been read to its end.
   *
   * @returns false when somebody else has written meanwhile, and then nothing was added.
   */
  append(change: LogChange, also?: readonly Change[]): Promise<boolean>;
  /** Puts these rows in the place of the whole log. Returns false as `append` does. */
  rewrite(rows: Iterable<StoredRow>): Promise<boolean>;
}

interface Head {
  readonly generation: string;
  /** The number of the last part, from 1. */
  readonly seq: number;
}

/** As much as one commit is given; Deno KV takes 800 KiB. */
const partsPerCommit = 10;

/** Gives the log under this prefix. */
export function storedLog(storage: Storage, prefix: Key): ItemLog {
  const headKey = [...prefix, 'head'];
  const markKey = [...prefix, 'mark', crypto.randomUUID()]; // of this writer
  let head: Head | undefined;
  let headVersion: string | null = null;
  const partKey = (generation: string, seq: number): Key => [...prefix, 'part', generation, seq];

  async function commit(parts: readonly LogPart[], generation: string, seq: number, also: readonly Change[]) {
    const next: Head = { generation, seq: seq + parts.length };
    const changes = [
      ...parts.map((part, at) => ({ key: partKey(generation, seq + at + 1), value: part })),
      { key: headKey, value: next, ifVersion: headVersion },
      ...also,
    ];
    const result = await commitMarked(storage, changes, { markKey });
    if (!result.ok) return false;
    head = next;
    headVersion = result.version;
    return true;
  }

  return {
    version: () => head ? `${head.generation}.${head.seq}` : '0',
    async *catchUp() {
      const entry = await storage.get(headKey);
      const latest = entry?.value as Head | undefined; // written here and nowhere else
      headVersion = entry?.version ?? null;
      if (latest?.generation !== head?.generation) {
        if (head) yield 'reset';
        head = latest && { ...latest, seq: 0 };
      }
      if (!latest || !head) return;
      while (head.seq < latest.seq) {
        const prefixOfParts = [...prefix, 'part', latest.generation];
        const limit = Math.min(50, latest.seq - head.seq);
        const after = partKey(latest.generation, head.seq);
        const entries = await storage.list({ prefix: prefixOfParts, limit, after });
        if (entries.length === 0) throw rewritten();
        for (const { value } of entries) {
          yield await checkPart(value);
          head = { ...head, seq: head.seq + 1 };
        }
      }
    },
    async append(change, also = []) {
      const parts = await Array.fromAsync(toParts(change));
      const before = head;
      const { generation, seq } = head ?? { generation: newGeneration(), seq: 0 };
      const once = also.length > 0 ? 98 - also.length : partsPerCommit;
      let done = 0;
      try {
        while (done < parts.length) {
          const some = parts.slice(done, done + once);
          if (!await commit(some, generation, seq + done, done === 0 ? also : [])) break;
          done += some.length;
        }
        return done === parts.length;
      } finally {
        if (done < parts.length) head = before; // what was written of it is read again, as somebody else's
      }
    },
    async rewrite(rows) {
      const old = head;
      const generation = newGeneration();
      let written = 0;
      for await (const value of toParts({ put: rows, removed: [] })) {
        await storage.commit([{ key: partKey(generation, ++written), value }]);
      }
      const good = await commit([], generation, written, []);
      const dead = good ? old : { generation, seq: written };
      for (let seq = 1; dead && seq <= dead.seq; seq += 100) {
        const size = Math.min(100, dead.seq - seq + 1);
        await storage.commit(Array.from({ length: size }, (_, at) => ({ key: partKey(dead.generation, seq + at) })));
      }
      return good;
    },
  };
}

/** Gives a log that keeps nothing: what it is told lives as long as the process. */
export function memoryLog(): ItemLog {
  const generation = newGeneration();
  let seq = 0;
  const count = (): Promise<boolean> => {
    seq++;
    return Promise.resolve(true);
  };
  return {
    version: () => seq === 0 ? '0' : `${generation}.${seq}`,
    async *catchUp() {},
    append: count,
    rewrite: () => Promise.resolve(true),
  };
}

function newGeneration(): string {
  return crypto.randomUUID().slice(0, 8);
}

/** Another instance has rewritten the log while it was read: whoever asks again reads the new one. */
function rewritten(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot read the data source: it was rewritten meanwhile', {
    details: { reason: 'rewritten' },
  });
}
