/**
 * A tree in storage: a checkpoint of its rows in blocks, and the log of later changes. The head names both; every change replaces the
 * head, so of two concurrent writers one fails. A mutation, its log entry and its idempotency record are one commit.
 */

import { PinnaceError } from '../../base/errors.ts';
import type { Key } from '../../base/key.ts';
import type { Change, Storage, Watchable } from '../../contracts/storage.ts';
import {
  discardBlocks,
  noteOrphans,
  readBlocks,
  replacementChanges,
  sweepGarbage,
  writeBlocks,
} from '../../log/checkpoint.ts';
import { watchKey } from '../../log/news.ts';
import { removeKeys } from '../../log/pages.ts';
import { answerTtlMs } from '../tools/call/idempotency.ts';
import type { Origin, Remembered } from '../nodes/mutation.ts';
import type { TreeOp } from '../nodes/op.ts';
import type { TreeRow } from '../nodes/row.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import { blocksOf, checkpointsOf, rowsOf } from './row-blocks.ts';
import { type Access, keyOf, logKey, readHead, releaseTurn, takeTurn, turnRenewal, writeHead } from './stored-head.ts';

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

/** One state of the stored tree: a checkpoint, and what happened since. */
export interface Loaded {
  readonly rows: TreeRow[];
  readonly entries: readonly LogEntry[];
}

/** One tree in storage, as one reader and writer of it knows it. */
export interface StoredTree {
  /**
   * One state of the tree, no older than the call; `undefined` when nothing is stored. Reads again when others replace what it reads.
   *
   * @throws PinnaceError `unavailable`, reason `block_missing` when a part is lost for good, `changed_too_often` after ten attempts.
   */
  load(): Promise<Loaded | undefined>;
  /** The mutations that others made since this was last positioned; `undefined` when they must be loaded as a whole. */
  catchUp(): Promise<readonly LogEntry[] | undefined>;
  /** Stores the first contents, unless another instance did. */
  create(rows: Iterable<TreeRow>): Promise<boolean>;
  /** Returns false, having written nothing, when another instance has changed the tree. */
  commit(writing: Writing): Promise<boolean>;
  /** Lets this writer come before all others, until it has committed or released its turn. */
  takeTurn(): Promise<void>;
  releaseTurn(): Promise<void>;
  answer(id: string): Promise<Remembered | undefined>;
  /** Removes what killed writers have left behind. */
  sweep(): Promise<void>;
  /** Calls back after anybody may have changed the tree, until the returned function is called. */
  watch(onNews: () => void): () => void;
}

/** An entry that is longer, or a log, becomes a checkpoint. */
const maxEntryLength = 512 * 1024;
const maxLogLength = 1000;
const loadAttempts = 10;
const entriesPerRead = 16;

/** Creates the access to one tree in storage. */
export function createStoredTree(
  storage: Storage & Partial<Watchable>,
  { treeId, now }: { readonly treeId: string; readonly now: () => number },
): StoredTree {
  const access: Access = { storage, treeId, now, writer: crypto.randomUUID(), head: undefined, turn: undefined };
  return {
    load: () => load(access),
    catchUp: () => catchUp(access),
    create: (rows) => writeCheckpoint(access, { seq: 0, rows, changes: [] }),
    commit: (writing) => commit(access, writing),
    takeTurn: () => takeTurn(access),
    releaseTurn: () => releaseTurn(access),
    watch: (onNews) => watchKey(storage, keyOf(access, 'head'), onNews),
    async sweep() {
      await noteOrphans(checkpointsOf(access));
      await sweepGarbage(checkpointsOf(access));
    },
    async answer(id) {
      return (await storage.get(answerKey(access, id)))?.value as Remembered | undefined; // safe: only this file writes it
    },
  };
}

function answerKey(access: Access, id: string): Key {
  return keyOf(access, 'answer', sha256Sync(id));
}

/** Reads the blocks and the log of a head. When some were removed meanwhile, a new head names others. */
async function load(access: Access): Promise<Loaded | undefined> {
  for (let attempt = 0; attempt < loadAttempts; attempt++) {
    const head = await readHead(access);
    if (!head) return undefined;
    const { base: name, blocks: count } = head.value;
    const blocks = await readBlocks(checkpointsOf(access), { name, blocks: count });
    const entries = blocks && await readLog(access, { after: head.value.baseSeq, to: head.value.seq });
    if (blocks && entries) {
      access.head = head;
      return { rows: rowsOf(blocks), entries };
    }
    if ((await readHead(access))?.version === head.version) throw unreadable(access, 'block_missing');
  }
  throw unreadable(access, 'changed_too_often');
}

function unreadable({ treeId }: Access, reason: 'block_missing' | 'changed_too_often'): PinnaceError {
  const why = reason === 'block_missing'
    ? 'a part of it is missing'
    : 'other instances replace it too often; try again';
  return new PinnaceError('unavailable', `Cannot load tree "${treeId}": ${why}`, { details: { reason } });
}

async function catchUp(access: Access): Promise<readonly LogEntry[] | undefined> {
  const latest = await readHead(access);
  const seq = access.head?.value.seq ?? 0;
  if (!latest || latest.value.baseSeq > seq) return undefined;
  const entries = await readLog(access, { after: seq, to: latest.value.seq });
  if (entries) access.head = latest;
  return entries;
}

/** The entries of the log; `undefined` when one was swept meanwhile. */
async function readLog(
  access: Access,
  { after, to }: { readonly after: number; readonly to: number },
): Promise<readonly LogEntry[] | undefined> {
  const entries: LogEntry[] = [];
  for (let from = after + 1; from <= to; from += entriesPerRead) {
    const numbers = Array.from({ length: Math.min(entriesPerRead, to - from + 1) }, (_, i) => from + i);
    const found = await Promise.all(numbers.map((number) => access.storage.get(logKey(access, number))));
    for (const entry of found) {
      if (!entry) return undefined;
      entries.push(entry.value as LogEntry); // safe: only this file writes it
    }
  }
  return entries;
}

async function commit(access: Access, { ops, origin, answer, rows }: Writing): Promise<boolean> {
  const head = access.head!.value; // safe: a tree is loaded or created first
  const changes: Change[] = answer
    ? [{ key: answerKey(access, answer.id), value: answer.remembered, ttlMs: answerTtlMs }]
    : [];
  if (ops.length === 0) return (await access.storage.commit(changes)).ok;
  const logEntry: LogEntry = { ops, ...(origin && { origin }) };
  const seq = head.seq + 1;
  const isLarge = JSON.stringify(logEntry).length > maxEntryLength;
  if (isLarge || head.seq - head.baseSeq >= maxLogLength) {
    return await writeCheckpoint(access, { seq, rows: rows(), changes });
  }
  return await writeHead(access, { value: { ...head, seq }, logEntry, changes });
}

/** Writes all rows under a new name first; the head then names them, and what it named before is swept. */
async function writeCheckpoint(
  access: Access,
  { seq, rows, changes }: {
    readonly seq: number;
    readonly rows: Iterable<TreeRow>;
    readonly changes: readonly Change[];
  },
): Promise<boolean> {
  const old = access.head?.value;
  const base = crypto.randomUUID();
  const checkpoints = checkpointsOf(access);
  const written = await writeBlocks(checkpoints, base, blocksOf(rows), turnRenewal(access));
  const isOurs = written !== undefined && await writeHead(access, {
    value: { seq, baseSeq: seq, base, blocks: written.blocks },
    changes: [
      ...replacementChanges(checkpoints, written, old && { name: old.base, blocks: old.blocks }),
      ...changes,
    ],
  });
  const tidy = isOurs ? sweepBehind(access, seq) : discardBlocks(checkpoints, base);
  await tidy.catch(() => {}); // the next sweep removes the rest
  return isOurs;
}

/** The log that a checkpoint has made superfluous goes at once: who needs it reads the checkpoint. */
async function sweepBehind(access: Access, baseSeq: number): Promise<void> {
  const [first] = await access.storage.list({ prefix: keyOf(access, 'log'), limit: 1 });
  const from = first?.key[3];
  if (typeof from === 'number' && from <= baseSeq) {
    await removeKeys(access.storage, Array.from({ length: baseSeq - from + 1 }, (_, i) => logKey(access, from + i)));
  }
  await sweepGarbage(checkpointsOf(access));
}
