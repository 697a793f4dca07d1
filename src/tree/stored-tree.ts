/**
 * A tree in storage: a checkpoint of its rows in blocks, and the log of later changes. The head names both; every change replaces the
 * head, so of two concurrent writers one fails. A mutation, its log entry and its idempotency record are one commit.
 */

import { PinnaceError } from '../base/errors.ts';
import type { Key } from '../base/key.ts';
import { sha256Sync } from '../base/hash.ts';
import type { Change, CommitResult, Storage, Watchable } from '../contracts/storage.ts';
import {
  type BlockOptions,
  type Checkpoints,
  discardBlocks,
  noteOrphans,
  readBlocks,
  replacementChanges,
  sweepGarbage,
  writeBlocks,
} from '../log/checkpoint.ts';
import {
  commitHead,
  commitOwn,
  type Head as StoredHead,
  readHead as readStoredHead,
  removeKeys,
} from '../log/commits.ts';
import { watchKey } from '../log/bulletin.ts';
import { answerTtlMs } from './desk.ts';
import type { Payload } from './node-store.ts';
import type { TreeOp } from './ops.ts';
import type { TreeRow } from './payload-types.ts';
import type { Origin, Remembered } from './tree-core.ts';

interface LogEntry {
  readonly ops: readonly TreeOp[];
  readonly origin?: Origin;
}

interface Writing extends LogEntry {
  readonly answer?: { readonly id: string; readonly remembered: Remembered };
  /** The tree after it, for when the entry is too large for the log, or the log too long. */
  readonly rows: () => Iterable<TreeRow>;
}

/** One state of the stored tree: a checkpoint, and what happened since. */
interface Loaded {
  readonly rows: TreeRow[];
  readonly entries: readonly LogEntry[];
}

interface Head {
  /** The last entry of the log. */
  readonly seq: number;
  /** The checkpoint: its name, its last entry, and its number of blocks. */
  readonly base: string;
  readonly baseSeq: number;
  readonly blocks: number;
}

/** An entry that is longer, or a log, becomes a checkpoint. */
const maxEntryLength = 512 * 1024;
const maxLogLength = 1000;
const loadAttempts = 10;
const entriesPerRead = 16;
/** How far ahead of the log a turn is reserved: others come that far while the reservation is written. */
const turnAhead = 3;
const turnAttempts = 10;
/** How long others wait for a turn that shows no sign of life. */
const patience = 250;
const pauseMs = 20;

/** One tree in storage, as one reader and writer of it knows it. */
export class StoredTree {
  readonly #storage: Storage & Partial<Watchable>;
  readonly #treeId: string;
  readonly #checkpoints: Checkpoints;
  /** Names this writer among all writers of the tree. */
  readonly #writer = crypto.randomUUID();
  #head: StoredHead<Head> | undefined;
  /** The place in the log that this writer has reserved. */
  #turn: { readonly seq: number; readonly version: string } | undefined;

  constructor(
    storage: Storage & Partial<Watchable>,
    { treeId, now }: { readonly treeId: string; readonly now: () => number },
  ) {
    this.#storage = storage;
    this.#treeId = treeId;
    this.#checkpoints = {
      storage,
      now,
      blocks: this.#key('block'),
      garbage: this.#key('garbage'),
      current: async () => (await this.#readHead())?.value.base,
      replacedGraceMs,
    };
  }

  /**
   * One state of the tree, no older than the call; `undefined` when nothing is stored. Reads again when others replace what it reads.
   *
   * @throws PinnaceError `unavailable`, reason `block_missing` when a part is lost for good, `changed_too_often` after ten attempts.
   */
  async load(): Promise<Loaded | undefined> {
    for (let attempt = 0; attempt < loadAttempts; attempt++) {
      const head = await this.#readHead();
      if (!head) return undefined;
      const { base: name, blocks: count } = head.value;
      const blocks = await readBlocks(this.#checkpoints, { name, blocks: count });
      const entries = blocks && await this.#readLog({ after: head.value.baseSeq, to: head.value.seq });
      if (blocks && entries) {
        this.#head = head;
        return { rows: rowsOfBlocks(blocks), entries };
      }
      if ((await this.#readHead())?.version === head.version) throw unreadable(this.#treeId, 'block_missing');
    }
    throw unreadable(this.#treeId, 'changed_too_often');
  }

  /** The mutations that others made since this was last positioned; `undefined` when they must be loaded as a whole. */
  async catchUp(): Promise<readonly LogEntry[] | undefined> {
    const latest = await this.#readHead();
    const seq = this.#head?.value.seq ?? 0;
    if (!latest || latest.value.baseSeq > seq) return undefined;
    const entries = await this.#readLog({ after: seq, to: latest.value.seq });
    if (entries) this.#head = latest;
    return entries;
  }

  /** Stores the first contents, unless another instance did. */
  create(rows: Iterable<TreeRow>): Promise<boolean> {
    return this.#writeCheckpoint({ seq: 0, rows, changes: [] });
  }

  /** Returns false, having written nothing, when another instance has changed the tree. */
  async commit({ ops, origin, answer, rows }: Writing): Promise<boolean> {
    const head = this.#head!.value; // safe: a tree is loaded or created first
    const changes: Change[] = answer
      ? [{ key: this.#answerKey(answer.id), value: answer.remembered, ttlMs: answerTtlMs }]
      : [];
    if (ops.length === 0) return (await this.#storage.commit(changes)).ok;
    const logEntry: LogEntry = { ops, ...(origin && { origin }) };
    const seq = head.seq + 1;
    const isLarge = JSON.stringify(logEntry).length > maxEntryLength;
    if (isLarge || head.seq - head.baseSeq >= maxLogLength) {
      return await this.#writeCheckpoint({ seq, rows: rows(), changes });
    }
    return await this.#writeHead({ ...head, seq }, { logEntry, changes });
  }

  /** Lets this writer come before all others, until it has committed or released its turn: they stop before its place in the log. */
  async takeTurn(): Promise<void> {
    for (let attempt = 0; attempt < turnAttempts && !this.#turn; attempt++) {
      const seq = ((await this.#readHead())?.value.seq ?? 0) + turnAhead;
      const result = await this.#reserve(this.#key('log', seq));
      if (!result.ok) continue;
      this.#turn = { seq, version: result.version };
      const latest = await this.#readHead();
      if (latest && latest.value.seq >= seq) await this.releaseTurn(); // the log was faster
    }
  }

  async releaseTurn(): Promise<void> {
    const turn = this.#turn;
    this.#turn = undefined;
    if (turn) await this.#storage.commit([{ key: this.#key('log', turn.seq), ifVersion: turn.version }]);
  }

  async answer(id: string): Promise<Remembered | undefined> {
    return (await this.#storage.get(this.#answerKey(id)))?.value as Remembered | undefined; // safe: only this file writes it
  }

  async sweep(): Promise<void> {
    await noteOrphans(this.#checkpoints);
    await sweepGarbage(this.#checkpoints);
  }

  /** Calls back after anybody may have changed the tree, until the returned function is called. */
  watch(onNews: () => void): () => void {
    return watchKey(this.#storage, this.#key('head'), onNews);
  }

  #key(...rest: Key): Key {
    return ['tree', this.#treeId, ...rest];
  }

  #answerKey(id: string): Key {
    return this.#key('answer', sha256Sync(id));
  }

  async #readHead(): Promise<StoredHead<Head> | undefined> {
    return await readStoredHead(this.#storage, this.#key('head'));
  }

  /** The entries of the log; `undefined` when one was swept meanwhile. */
  async #readLog({ after, to }: { readonly after: number; readonly to: number }): Promise<LogEntry[] | undefined> {
    const entries: LogEntry[] = [];
    for (let from = after + 1; from <= to; from += entriesPerRead) {
      const numbers = Array.from({ length: Math.min(entriesPerRead, to - from + 1) }, (_, i) => from + i);
      const found = await Promise.all(numbers.map((number) => this.#storage.get(this.#key('log', number))));
      for (const entry of found) {
        if (!entry) return undefined;
        entries.push(entry.value as LogEntry); // safe: only this file writes it
      }
    }
    return entries;
  }

  /**
   * Replaces the last known head, with what belongs to it, unless another writer has changed it or reserved this place in the log.
   * Without a `logEntry` the place stays empty, as behind a checkpoint. Waits for the turn of another writer before it returns false.
   */
  async #writeHead(
    value: Head,
    { logEntry, changes }: { readonly logEntry?: unknown; readonly changes: readonly Change[] },
  ): Promise<boolean> {
    const result = await commitHead(this.#storage, {
      key: this.#key('head'),
      value,
      before: this.#head,
      changes: [...(value.seq > 0 ? this.#placeChanges(value.seq, logEntry) : []), ...changes],
      own: { markKey: this.#key('mark', this.#writer) },
    });
    if (result.ok) {
      this.#head = { value, version: result.version };
      this.#turn = undefined;
      return true;
    }
    const lost = result.conflicts.flatMap((key) => (key[2] === 'log' && typeof key[3] === 'number' ? [key[3]] : []));
    if (lost.some((seq) => seq === this.#turn?.seq)) this.#turn = undefined;
    else if (lost.includes(value.seq)) await this.#waitForTurn(value.seq);
    return false;
  }

  /** A place in the log must be free, or this writer's own. */
  #placeChanges(seq: number, entry: unknown): readonly Change[] {
    const turn = this.#turn;
    const place = { key: this.#key('log', seq), ...(entry !== undefined && { value: entry }) };
    if (turn?.seq === seq) return [{ ...place, ifVersion: turn.version }];
    const release = turn ? [{ key: this.#key('log', turn.seq), ifVersion: turn.version }] : [];
    return [{ ...place, ifVersion: null }, ...release];
  }

  /** Writes a reservation where nothing is. The writer's name in it shows that it is this writer's own. */
  #reserve(key: Key): Promise<CommitResult> {
    const writer = this.#writer;
    return commitOwn(this.#storage, [{ key, value: { turn: true, by: writer }, ifVersion: null }], {
      written: async () => {
        const found = await this.#storage.get(key);
        return isTurn(found?.value) && found?.value.by === writer ? found.version : undefined;
      },
    });
  }

  /** Keeps a reservation alive while its writer writes blocks: others wait as long as it changes. */
  #turnRenewal(): BlockOptions {
    return {
      beside: () => {
        const turn = this.#turn;
        if (!turn) return [];
        return [{ key: this.#key('log', turn.seq), value: { turn: true, by: this.#writer }, ifVersion: turn.version }];
      },
      onCommit: (version) => {
        if (this.#turn) this.#turn = { ...this.#turn, version };
      },
    };
  }

  /** Waits until the reservation is released, and removes it when its writer seems lost. */
  async #waitForTurn(seq: number): Promise<void> {
    const key = this.#key('log', seq);
    let observed: string | undefined;
    for (let left = patience; left > 0; left--) {
      const entry = await this.#storage.get(key);
      if (!entry || !isTurn(entry.value)) return;
      if (entry.version !== observed) left = patience;
      observed = entry.version;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
    if (observed !== undefined) await this.#storage.commit([{ key, ifVersion: observed }]);
  }

  /** Writes all rows under a new name first; the head then names them, and what it named before is swept. */
  async #writeCheckpoint({ seq, rows, changes }: {
    readonly seq: number;
    readonly rows: Iterable<TreeRow>;
    readonly changes: readonly Change[];
  }): Promise<boolean> {
    const checkpoints = this.#checkpoints;
    const old = this.#head?.value;
    const base = crypto.randomUUID();
    const written = await writeBlocks(checkpoints, base, blocksOf(rows), this.#turnRenewal());
    const isOurs = written !== undefined && await this.#writeHead({ seq, baseSeq: seq, base, blocks: written.blocks }, {
      changes: [
        ...replacementChanges(checkpoints, written, old && { name: old.base, blocks: old.blocks }),
        ...changes,
      ],
    });
    const tidy = isOurs ? this.#sweepBehind(seq) : discardBlocks(checkpoints, base);
    await tidy.catch(() => {}); // the next sweep removes the rest
    return isOurs;
  }

  /** The log that a checkpoint has made superfluous goes at once: who needs it reads the checkpoint. */
  async #sweepBehind(baseSeq: number): Promise<void> {
    const [first] = await this.#storage.list({ prefix: this.#key('log'), limit: 1 });
    const from = first?.key[3];
    if (typeof from === 'number' && from <= baseSeq) {
      const keys = Array.from({ length: baseSeq - from + 1 }, (_, i) => this.#key('log', from + i));
      await removeKeys(this.#storage, keys);
    }
    await sweepGarbage(this.#checkpoints);
  }
}

function isTurn(value: unknown): value is { readonly turn: true; readonly by?: string } {
  return typeof value === 'object' && value !== null && 'turn' in value;
}

function unreadable(treeId: string, reason: 'block_missing' | 'changed_too_often'): PinnaceError {
  const why = reason === 'block_missing'
    ? 'a part of it is missing'
    : 'other instances replace it too often; try again';
  return new PinnaceError('unavailable', `Cannot load tree "${treeId}": ${why}`, { details: { reason } });
}

type StoredRow = readonly [nodeId: string, parentId: string | null, payloadType: string, payload: Payload];

/** A block has at most this many rows and characters. */
const maxRows = 512;
const maxBlockLength = 512 * 1024;
/** How long readers of a replaced checkpoint still find it. */
const replacedGraceMs = 60_000;

/** Cuts rows into blocks. */
function* blocksOf(rows: Iterable<TreeRow>): Iterable<readonly StoredRow[]> {
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

function rowsOfBlocks(blocks: readonly unknown[]): TreeRow[] {
  const rows: TreeRow[] = [];
  for (const block of blocks as readonly (readonly StoredRow[])[]) { // only `blocksOf` makes them
    for (const [nodeId, parentId, payloadType, payload] of block) rows.push({ nodeId, parentId, payloadType, payload });
  }
  return rows;
}
