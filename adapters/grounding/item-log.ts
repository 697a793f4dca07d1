/**
 * The items of one tenant in a storage: an append-only log of parts, each with the hash of its content, and a head that says how far
 * the log goes. Every commit names the head's version, so instances that share a storage take turns.
 */

import { PinnaceError } from '../../src/base/errors.ts';
import type { Key } from '../../src/base/key.ts';
import {
  type Checkpoints,
  discardBlocks,
  replacementChanges,
  sweepGarbage,
  writeBlocks,
} from '../../src/log/checkpoint.ts';
import { commitHead, type Head as StoredHead, readHead, readPages } from '../../src/log/commits.ts';
import type { Change, Storage } from '../../src/contracts/storage.ts';
import { canonicalJson } from '../../src/base/json.ts';
import { sha256 } from '../../src/base/hash.ts';
import type { StoredItem, StoredRow } from './item.ts';

/** The log of an open shelf, and what other instances have written there. */
export interface ItemLog {
  /** Of all that was read or written. */
  version(): string;
  /** Returns the changes that are new since the last call, in order; `reset` where the log was rewritten and starts again. */
  catchUp(): AsyncIterable<LogChange | 'reset'>;
  /**
   * Adds changes, after those of others. `catchUp` must have been read to its end.
   *
   * @returns false when another instance has written meanwhile, and then nothing was added.
   */
  append(change: LogChange, also?: readonly Change[]): Promise<boolean>;
  /** Replaces the whole log with these rows. Returns false as `append` does. */
  rewrite(rows: Iterable<StoredRow>): Promise<boolean>;
}

interface Head {
  readonly generation: string;
  /** The number of the last part, from 1. */
  readonly seq: number;
}

/** The most parts of a commit: a change with more takes several commits. */
const partsPerCommit = 10;
const partsPerRead = 20;
/** What a commit has besides the parts and the caller's changes: the head and its mark. */
const ownChanges = 2;

/** What one writer of a log works with. `head`: as it was last read or written. */
interface Access {
  readonly storage: Storage;
  readonly prefix: Key;
  readonly checkpoints: Checkpoints;
  /** A key of this writer alone. */
  readonly markKey: Key;
  head: StoredHead<Head> | undefined;
  at: Head | undefined;
}

export function storedLog(storage: Storage, prefix: Key, now: () => number = Date.now): ItemLog {
  const headKey = [...prefix, 'head'];
  const checkpoints: Checkpoints = {
    storage,
    now,
    blocks: [...prefix, 'part'],
    first: 1,
    garbage: [...prefix, 'part-garbage'],
    current: async () => (await readHead<Head>(storage, headKey))?.value.generation,
  };
  const markKey = [...prefix, 'mark', crypto.randomUUID()];
  const access: Access = { storage, prefix, checkpoints, markKey, head: undefined, at: undefined };
  return {
    version: () => access.at ? `${access.at.generation}.${access.at.seq}` : '0',
    catchUp: () => catchUp(access),
    append: (change, also = []) => append(access, change, also),
    rewrite: (rows) => rewrite(access, rows),
  };
}

/** Whether a log under this prefix has parts: one that was emptied has none. */
export async function hasItems(storage: Storage, prefix: Key): Promise<boolean> {
  return ((await readHead<Head>(storage, [...prefix, 'head']))?.value.seq ?? 0) > 0;
}

async function* catchUp(access: Access): AsyncGenerator<LogChange | 'reset'> {
  const { storage, prefix } = access;
  access.head = await readHead<Head>(storage, [...prefix, 'head']);
  const latest = access.head?.value;
  if (latest?.generation !== access.at?.generation) {
    if (access.at) yield 'reset';
    access.at = latest && { ...latest, seq: 0 };
  }
  if (!latest || !access.at || access.at.seq === latest.seq) return;
  const parts = [...prefix, 'part', latest.generation];
  const after = [...parts, access.at.seq];
  for await (const page of readPages(storage, { prefix: parts, after, limit: partsPerRead })) {
    for (const { value } of page) {
      if (access.at.seq === latest.seq) return;
      yield await checkPart(value);
      access.at = { ...access.at, seq: access.at.seq + 1 };
    }
  }
  if (access.at.seq < latest.seq) throw rewritten();
}

async function append(access: Access, change: LogChange, also: readonly Change[]): Promise<boolean> {
  const parts = await Array.fromAsync(toParts(change));
  const before = access.at;
  const { generation, seq } = before ?? { generation: newGeneration(), seq: 0 };
  const once = also.length > 0 ? 100 - ownChanges - also.length : partsPerCommit;
  for (let done = 0; done < parts.length; done += once) {
    const some = parts.slice(done, done + once);
    if (await commit(access, some, { generation, seq: seq + done + some.length }, done === 0 ? also : [])) continue;
    access.at = before; // what was written of it is read again, as another instance's
    return false;
  }
  return true;
}

/** Commits the last parts of a log that ends with `head`. */
async function commit(
  access: Access,
  parts: readonly LogPart[],
  head: Head,
  also: readonly Change[],
): Promise<boolean> {
  const { storage, prefix, markKey } = access;
  const first = head.seq - parts.length + 1;
  const changes = [
    ...parts.map((value, i) => ({ key: [...prefix, 'part', head.generation, first + i], value })),
    ...also,
  ];
  const result = await commitHead(storage, {
    key: [...prefix, 'head'],
    value: head,
    before: access.head,
    changes,
    own: { markKey },
  });
  if (!result.ok) return false;
  access.at = head;
  access.head = { value: head, version: result.version };
  return true;
}

/** Writes the rows under a new generation first; the head then names it, and the old one is removed at once. */
async function rewrite(access: Access, rows: Iterable<StoredRow>): Promise<boolean> {
  const { checkpoints, at: old } = access;
  const generation = newGeneration();
  const written = await writeBlocks(checkpoints, generation, toParts({ put: rows, removed: [] }));
  const changes = written &&
    replacementChanges(checkpoints, written, old && { name: old.generation, blocks: old.seq });
  const isOurs = changes !== undefined && await commit(access, [], { generation, seq: written?.blocks ?? 0 }, changes);
  const tidy = isOurs ? sweepGarbage(checkpoints) : discardBlocks(checkpoints, generation);
  await tidy.catch(() => undefined); // the next rewrite removes what is left
  return isOurs;
}

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

/** Another instance has rewritten the log while it was read: the next call reads the new one. */
function rewritten(): PinnaceError {
  return new PinnaceError(
    'unavailable',
    'Cannot read the data source: another instance rewrote it meanwhile; try again',
    {
      details: { reason: 'storage_contended' },
    },
  );
}

export interface LogChange {
  readonly removed: readonly string[];
  readonly put: readonly StoredRow[];
}

interface LogPart {
  readonly removed: readonly string[];
  readonly items: readonly StoredItem[];
  /** The vectors, one after another, 32-bit floats of little end first. */
  readonly vectors?: Uint8Array<ArrayBuffer>;
  readonly sum: string;
}

/** The most bytes of a part with several rows: a reader checks the hash of one part at a time. */
const partBytes = 256 * 1024;

/** Cuts a change into parts, in order. */
async function* toParts(
  { removed, put }: { readonly removed: readonly string[]; readonly put: Iterable<StoredRow> },
): AsyncGenerator<LogPart> {
  for (let from = 0; from < removed.length; from += 200) yield await toPart(removed.slice(from, from + 200), []);
  let [rows, size]: [StoredRow[], number] = [[], 0];
  for (const row of put) {
    const bytes = sizeOf(row);
    if (rows.length > 0 && size + bytes > partBytes) {
      yield await toPart([], rows);
      [rows, size] = [[], 0];
    }
    rows.push(row);
    size += bytes;
  }
  if (rows.length > 0) yield await toPart([], rows);
}

/**
 * Returns the change of a part, after checking its hash.
 * @throws PinnaceError `internal` with the reason `damaged_part` when the hash differs.
 */
async function checkPart(value: unknown): Promise<LogChange> {
  const { removed, items, vectors, sum } = value as LogPart; // the hash is checked next
  if (!Array.isArray(items) || sum !== await sumOf({ removed, items, ...(vectors && { vectors }) })) {
    throw new PinnaceError(
      'internal',
      'Cannot read the data source: a stored part is damaged; ingest its items again',
      {
        details: { reason: 'damaged_part' },
      },
    );
  }
  const length = vectors ? vectors.byteLength / 4 / items.length : 0;
  return {
    removed,
    put: items.map((item, at) => ({ item, ...(vectors && { vector: floatsAt(vectors, at * length, length) }) })),
  };
}

async function toPart(removed: readonly string[], rows: readonly StoredRow[]): Promise<LogPart> {
  const vectors = bytesOf(rows);
  const part = { removed, items: rows.map(({ item }) => item), ...(vectors && { vectors }) };
  return { ...part, sum: await sumOf(part) };
}

async function sumOf({ removed, items, vectors }: Omit<LogPart, 'sum'>): Promise<string> {
  const text = new TextEncoder().encode(canonicalJson([removed, items]));
  const all = new Uint8Array(text.length + (vectors?.length ?? 0));
  all.set(text);
  if (vectors) all.set(vectors, text.length);
  return await sha256(all);
}

function sizeOf({ item, vector }: StoredRow): number {
  const text = item.text.length + JSON.stringify(item.metadata).length + item.uri.length + (item.title?.length ?? 0);
  return text * 2 + 200 + (vector?.byteLength ?? 0);
}

function bytesOf(rows: readonly StoredRow[]): Uint8Array<ArrayBuffer> | undefined {
  const length = rows[0]?.vector?.length;
  if (length === undefined) return undefined;
  const view = new DataView(new ArrayBuffer(rows.length * length * 4));
  rows.forEach(({ vector }, row) => {
    for (let i = 0; i < length; i++) view.setFloat32((row * length + i) * 4, vector?.[i] ?? 0, true);
  });
  return new Uint8Array(view.buffer);
}

function floatsAt(bytes: Uint8Array, from: number, length: number): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const floats = new Float32Array(length);
  for (let i = 0; i < length; i++) floats[i] = view.getFloat32((from + i) * 4, true);
  return floats;
}
