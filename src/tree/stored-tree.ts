/**
 * A tree in storage: blocks of rows as they once were, and the log of what happened since. The head names both; who changes the tree
 * changes the head, so of two that write at once one is told. A mutation, its log entry and its idempotency record are one commit.
 */

import { PinnaceError } from '../errors.ts';
import type { Key } from '../key.ts';
import type { Change, Storage, Watchable } from '../ports.ts';
import { watchKey } from '../watch.ts';
import { answerTtlMs, type Remembered } from './idempotency.ts';
import type { Origin } from './mutate.ts';
import type { Payload } from './node-store.ts';
import type { TreeOp } from './op.ts';
import type { TreeRow } from './row.ts';
import { sha256 } from './sha256.ts';

/** One mutation of the log. */
export interface LogEntry {
  readonly ops: readonly TreeOp[];
  readonly origin?: Origin;
}

/** What one mutation writes. */
export interface Writing extends LogEntry {
  readonly answer?: { readonly id: string; readonly remembered: Remembered };
  /** The tree after it, for when the entry is too large for the log, or the log too long. */
  readonly rows: () => Iterable<TreeRow>;
}

/** One tree in storage, as one reader and writer of it knows it. */
export interface StoredTree {
  /** The rows of the last checkpoint; `undefined` when nothing is stored. Positions the log behind it. */
  load(): Promise<TreeRow[] | undefined>;
  /** The mutations that others made since this was last positioned; `undefined` when they must be loaded as a whole. */
  catchUp(): Promise<readonly LogEntry[] | undefined>;
  /** Stores the first contents, unless somebody else did. */
  create(rows: Iterable<TreeRow>): Promise<boolean>;
  /** Gives false, having written nothing, when somebody else has changed the tree. */
  commit(writing: Writing): Promise<boolean>;
  answer(id: string): Promise<Remembered | undefined>;
  /** Calls back after anybody may have changed the tree, until the returned function is called. */
  watch(onNews: () => void): () => void;
}

interface Head {
  /** The last entry of the log. */
  readonly seq: number;
  /** The checkpoint: its name, the entry that it stands behind, and its number of blocks. */
  readonly base: string;
  readonly baseSeq: number;
  readonly blocks: number;
}

type StoredRow = readonly [nodeId: string, parentId: string | null, payloadType: string, payload: Payload];

/** A block has at most this many rows and characters; an entry that is longer, or a log, becomes a checkpoint. */
const maxRows = 512;
const maxBlockLength = 512 * 1024;
const maxEntryLength = 512 * 1024;
const maxLogLength = 1000;

/** One tree in storage, and the head as it was last seen. */
interface Access {
  readonly storage: Storage & Partial<Watchable>;
  readonly treeId: string;
  head: { readonly value: Head; readonly version: string } | undefined;
}

/** Gives access to one tree in storage. */
export function createStoredTree(storage: Storage & Partial<Watchable>, treeId: string): StoredTree {
  const access: Access = { storage, treeId, head: undefined };
  return {
    load: () => load(access),
    catchUp: () => catchUp(access),
    create: (rows) => writeCheckpoint(access, { seq: 0, rows, changes: [] }),
    commit: (writing) => commit(access, writing),
    watch: (onNews) => watchKey(storage, keyOf(access, 'head'), onNews),
    async answer(id) {
      return (await storage.get(answerKey(access, id)))?.value as Remembered | undefined; // safe: only this file writes it
    },
  };
}

function keyOf({ treeId }: Access, ...rest: Key): Key {
  return ['tree', treeId, ...rest];
}

function answerKey(access: Access, id: string): Key {
  return keyOf(access, 'answer', sha256(id));
}

async function readHead(access: Access): Promise<Access['head']> {
  const entry = await access.storage.get(keyOf(access, 'head'));
  return entry && { value: entry.value as Head, version: entry.version }; // safe: only this file writes it
}

async function load(access: Access): Promise<TreeRow[] | undefined> {
  const head = await readHead(access);
  if (!head) return undefined;
  const { base, baseSeq, blocks } = head.value;
  const rows: TreeRow[] = [];
  for (let i = 0; i < blocks; i++) {
    rows.push(...fromBlock(await access.storage.get(keyOf(access, 'block', base, i)), access.treeId));
  }
  access.head = { ...head, value: { ...head.value, seq: baseSeq } };
  return rows;
}

async function catchUp(access: Access): Promise<readonly LogEntry[] | undefined> {
  const latest = await readHead(access);
  const seq = access.head?.value.seq ?? 0;
  if (!latest || latest.value.baseSeq > seq) return undefined;
  const entries: LogEntry[] = [];
  for (let i = seq + 1; i <= latest.value.seq; i++) {
    const entry = await access.storage.get(keyOf(access, 'log', i));
    if (!entry) return undefined; // swept meanwhile
    entries.push(entry.value as LogEntry); // safe: only this file writes it
  }
  access.head = latest;
  return entries;
}

async function commit(access: Access, { ops, origin, answer, rows }: Writing): Promise<boolean> {
  const head = access.head!.value; // safe: a tree is loaded or created first
  const changes: Change[] = answer
    ? [{ key: answerKey(access, answer.id), value: answer.remembered, ttlMs: answerTtlMs }]
    : [];
  if (ops.length === 0) return (await access.storage.commit(changes)).ok;
  const entry: LogEntry = { ops, ...(origin && { origin }) };
  const seq = head.seq + 1;
  const isLarge = JSON.stringify(entry).length > maxEntryLength;
  if (isLarge || head.seq - head.baseSeq >= maxLogLength) {
    return await writeCheckpoint(access, { seq, rows: rows(), changes });
  }
  return await writeHead(access, { ...head, seq }, [{ key: keyOf(access, 'log', seq), value: entry }, ...changes]);
}

/** Replaces the head, with what belongs to it, if it is as it was last seen. */
async function writeHead(access: Access, value: Head, changes: readonly Change[]): Promise<boolean> {
  const ifVersion = access.head?.version ?? null;
  const result = await access.storage.commit([{ key: keyOf(access, 'head'), value, ifVersion }, ...changes]);
  if (result.ok) access.head = { value, version: result.version };
  return result.ok;
}

/** Writes all rows under a new name first; the head then points to them, and what it pointed to is swept. */
async function writeCheckpoint(
  access: Access,
  { seq, rows, changes }: {
    readonly seq: number;
    readonly rows: Iterable<TreeRow>;
    readonly changes: readonly Change[];
  },
): Promise<boolean> {
  const old = access.head?.value;
  const written: Head = { seq, baseSeq: seq, base: crypto.randomUUID(), blocks: 0 };
  let blocks = 0;
  for (const value of blocksOf(rows)) {
    await access.storage.commit([{ key: keyOf(access, 'block', written.base, blocks++), value }]);
  }
  const isOurs = await writeHead(access, { ...written, blocks }, changes);
  const garbage = isOurs ? old : { ...written, blocks };
  if (garbage) await sweep(access, garbage).catch(() => {}); // what is left over takes room and does no harm
  return isOurs;
}

async function sweep(access: Access, { base, blocks, baseSeq, seq }: Head): Promise<void> {
  const gone = [
    ...Array.from({ length: blocks }, (_, i) => keyOf(access, 'block', base, i)),
    ...Array.from({ length: seq - baseSeq }, (_, i) => keyOf(access, 'log', baseSeq + 1 + i)),
  ];
  for (let i = 0; i < gone.length; i += 100) {
    await access.storage.commit(gone.slice(i, i + 100).map((key) => ({ key })));
  }
}

function* blocksOf(rows: Iterable<TreeRow>): Iterable<StoredRow[]> {
  let block: StoredRow[] = [];
  let length = 0;
  for (const { nodeId, parentId, payloadType, payload } of rows) {
    const row: StoredRow = [nodeId, parentId, payloadType, payload];
    const size = JSON.stringify(row).length;
    if (block.length === maxRows || (length + size > maxBlockLength && block.length > 0)) {
      yield block;
      [block, length] = [[], 0];
    }
    block.push(row);
    length += size;
  }
  if (block.length > 0) yield block;
}

function fromBlock(entry: { readonly value: unknown } | undefined, treeId: string): TreeRow[] {
  if (!entry) {
    throw new PinnaceError('unavailable', `Cannot load tree "${treeId}": it is being written; try again`, {
      details: { reason: 'block_missing' },
    });
  }
  const rows = entry.value as readonly StoredRow[]; // safe: only this file writes it
  return rows.map(([nodeId, parentId, payloadType, payload]) => ({ nodeId, parentId, payloadType, payload }));
}
