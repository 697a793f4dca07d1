/** The head of a stored tree, which names its checkpoint and the end of its log, and the turns of writers that others overtake. */

import type { Key } from '../../base/key.ts';
import type { BlockOptions } from '../../log/checkpoint.ts';
import { commitHead, type Head as StoredHead, readHead as readStoredHead } from '../../log/head.ts';
import { commitOwn } from '../../log/own-commit.ts';
import type { Change, CommitResult, Storage, Watchable } from '../../contracts/storage.ts';

/** The head of a tree. */
export interface Head {
  /** The last entry of the log. */
  readonly seq: number;
  /** The checkpoint: its name, its last entry, and its number of blocks. */
  readonly base: string;
  readonly baseSeq: number;
  readonly blocks: number;
}

/** One tree in storage, and its last known head. */
export interface Access {
  readonly storage: Storage & Partial<Watchable>;
  readonly treeId: string;
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Names this writer among all writers of the tree. */
  readonly writer: string;
  head: StoredHead<Head> | undefined;
  /** The place in the log that this writer has reserved. */
  turn: { readonly seq: number; readonly version: string } | undefined;
}

/** How far ahead of the log a turn is reserved: others come that far while the reservation is written. */
const turnAhead = 3;
const turnAttempts = 10;
/** How long others wait for a turn that shows no sign of life. */
const patience = 250;
const pauseMs = 20;

/** A key of the tree. */
export function keyOf({ treeId }: Pick<Access, 'treeId'>, ...rest: Key): Key {
  return ['tree', treeId, ...rest];
}

/** The key of a log entry. */
export function logKey(access: Access, seq: number): Key {
  return keyOf(access, 'log', seq);
}

/** Reads the head. */
export async function readHead(access: Access): Promise<Access['head']> {
  return await readStoredHead(access.storage, keyOf(access, 'head'));
}

/**
 * Replaces the last known head, with what belongs to it, unless another writer has changed it or reserved this place in the log.
 * Without a `logEntry` the place stays empty, as behind a checkpoint. Waits for the turn of another writer before it returns false.
 */
export async function writeHead(
  access: Access,
  { value, logEntry, changes }: {
    readonly value: Head;
    readonly logEntry?: unknown;
    readonly changes: readonly Change[];
  },
): Promise<boolean> {
  const result = await commitHead(access.storage, {
    key: keyOf(access, 'head'),
    value,
    before: access.head,
    changes: [...(value.seq > 0 ? slotChanges(access, value.seq, logEntry) : []), ...changes],
    own: { markKey: keyOf(access, 'mark', access.writer) },
  });
  if (result.ok) {
    access.head = { value, version: result.version };
    access.turn = undefined;
    return true;
  }
  const lost = result.conflicts.flatMap((key) => (key[2] === 'log' && typeof key[3] === 'number' ? [key[3]] : []));
  if (lost.some((seq) => seq === access.turn?.seq)) access.turn = undefined;
  else if (lost.includes(value.seq)) await waitForTurn(access, value.seq);
  return false;
}

/** A place in the log must be free, or this writer's own. */
function slotChanges(access: Access, seq: number, entry: unknown): readonly Change[] {
  const { turn } = access;
  const isOwn = turn?.seq === seq;
  const slot = { key: logKey(access, seq), ...(entry !== undefined && { value: entry }) };
  if (isOwn) return [{ ...slot, ifVersion: turn.version }];
  const release = turn ? [{ key: logKey(access, turn.seq), ifVersion: turn.version }] : [];
  return [{ ...slot, ifVersion: null }, ...release];
}

/** Reserves a place in the log a little ahead: other writers stop before it until this one has written, or given up. */
export async function takeTurn(access: Access): Promise<void> {
  for (let attempt = 0; attempt < turnAttempts && !access.turn; attempt++) {
    const seq = ((await readHead(access))?.value.seq ?? 0) + turnAhead;
    const result = await reserve(access, logKey(access, seq));
    if (!result.ok) continue;
    access.turn = { seq, version: result.version };
    const latest = await readHead(access);
    if (latest && latest.value.seq >= seq) await releaseTurn(access); // the log was faster
  }
}

/** Writes a reservation where nothing is. The writer's name in it shows that it is this writer's own. */
function reserve({ storage, writer }: Access, key: Key): Promise<CommitResult> {
  return commitOwn(storage, [{ key, value: { turn: true, by: writer }, ifVersion: null }], {
    written: async () => {
      const found = await storage.get(key);
      return isTurn(found?.value) && found?.value.by === writer ? found.version : undefined;
    },
  });
}

/** Releases the reserved place, if there is one. */
export async function releaseTurn(access: Access): Promise<void> {
  const { turn } = access;
  access.turn = undefined;
  if (turn) await access.storage.commit([{ key: logKey(access, turn.seq), ifVersion: turn.version }]);
}

/** Keeps a reservation alive while its writer writes blocks: others wait as long as it changes. */
export function turnRenewal(access: Access): BlockOptions {
  return {
    beside() {
      const { turn, writer } = access;
      return turn
        ? [{ key: logKey(access, turn.seq), value: { turn: true, by: writer }, ifVersion: turn.version }]
        : [];
    },
    onCommit(version) {
      if (access.turn) access.turn = { ...access.turn, version };
    },
  };
}

/** Waits until the reservation is released, and removes it when its writer seems lost. */
async function waitForTurn(access: Access, seq: number): Promise<void> {
  const key = logKey(access, seq);
  let observed: string | undefined;
  for (let left = patience; left > 0; left--) {
    const entry = await access.storage.get(key);
    if (!entry || !isTurn(entry.value)) return;
    if (entry.version !== observed) left = patience;
    observed = entry.version;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  if (observed !== undefined) await access.storage.commit([{ key, ifVersion: observed }]);
}

function isTurn(value: unknown): value is { readonly turn: true; readonly by?: string } {
  return typeof value === 'object' && value !== null && 'turn' in value;
}
