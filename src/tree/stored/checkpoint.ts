/**
 * Checkpoints of a stored tree: all its rows, in blocks under a name that no other checkpoint has. The head names the one that counts.
 *
 * A checkpoint that the head does not name has a garbage record: while it is written, and again once another has replaced it. The
 * record is removed in the commit that makes the head name the checkpoint. So whoever finds an old record may claim it and remove
 * the blocks: the writer that it belonged to, if there still is one, cannot make its head name them any more.
 */

import type { Key } from '../../base/key.ts';
import { commitOwn } from '../../log/own-commit.ts';
import type { Change, Entry } from '../../contracts/storage.ts';
import type { Payload } from '../nodes/node-store.ts';
import type { TreeRow } from '../nodes/row.ts';
import { type Access, type Head, keyOf, readHead, turnRenewal } from './stored-head.ts';

type StoredRow = readonly [nodeId: string, parentId: string | null, payloadType: string, payload: Payload];

/** A checkpoint without a head: since when nothing has happened to it, and whether a reader may still be at it. */
interface Garbage {
  readonly at: number;
  readonly blocks?: number;
  readonly isReplaced?: boolean;
}

/** A block has at most this many rows and characters. */
const maxRows = 512;
const maxBlockLength = 512 * 1024;
/** How long a checkpoint without a head stays for those who read or write it, and how many replaced ones do. */
const graceMs = 60_000;
const maxReplaced = 3;
const blocksPerRead = 8;

/** Writes rows as blocks under the name `base`; `undefined` when another instance has taken the checkpoint for abandoned. */
export async function writeBlocks(
  access: Access,
  base: string,
  rows: Iterable<TreeRow>,
): Promise<{ readonly blocks: number; readonly garbageVersion: string | null } | undefined> {
  let blocks = 0;
  let garbageVersion: string | null = null;
  for (const value of blocksOf(rows)) {
    const garbage: Garbage = { at: access.now(), blocks: blocks + 1 };
    const key = blockKey(access, base, blocks++);
    const changes = [
      { key: garbageKey(access, base), value: garbage, ifVersion: garbageVersion },
      { key, value },
      ...turnRenewal(access),
    ];
    // This writer alone writes blocks of this name. The garbage record proves nothing: a sweeper may have claimed it since.
    const written = async () => (await access.storage.get(key))?.version;
    const result = await commitOwn(access.storage, changes, { written });
    if (!result.ok) return undefined;
    garbageVersion = result.version;
    if (access.turn) access.turn = { ...access.turn, version: result.version };
  }
  return { blocks, garbageVersion };
}

/** The changes that belong to a head which names another checkpoint than before. */
export function replacementChanges(
  access: Access,
  { base, garbageVersion, old }: {
    readonly base: string;
    readonly garbageVersion: string | null;
    readonly old: Head | undefined;
  },
): readonly Change[] {
  const written = garbageVersion === null ? [] : [{ key: garbageKey(access, base), ifVersion: garbageVersion }];
  if (!old) return written;
  const garbage: Garbage = { at: access.now(), blocks: old.blocks, isReplaced: true };
  return [...written, { key: garbageKey(access, old.base), value: garbage }];
}

/** Reads the rows of a checkpoint; `undefined` when some are gone. */
export async function readBlocks(access: Access, { base, blocks }: Head): Promise<TreeRow[] | undefined> {
  const rows: TreeRow[] = [];
  for (let from = 0; from < blocks; from += blocksPerRead) {
    const numbers = Array.from({ length: Math.min(blocksPerRead, blocks - from) }, (_, i) => from + i);
    const entries = await Promise.all(numbers.map((number) => access.storage.get(blockKey(access, base, number))));
    for (const entry of entries) {
      if (!entry) return undefined;
      for (const row of entry.value as readonly StoredRow[]) rows.push(toRow(row)); // safe: only this file writes it
    }
  }
  return rows;
}

/** Removes checkpoints that no head names and nobody is likely to read or write any more. */
export async function sweepGarbage(access: Access): Promise<void> {
  const records = await access.storage.list({ prefix: keyOf(access, 'garbage'), limit: 1000 });
  const garbageOf = ({ value }: Entry): Garbage => value as Garbage; // safe: only this file writes it
  const replaced = records.filter((record) => garbageOf(record).isReplaced);
  const surplus = new Set(replaced.toSorted((a, b) => garbageOf(b).at - garbageOf(a).at).slice(maxReplaced));
  for (const record of records) {
    const isOld = access.now() - garbageOf(record).at >= graceMs;
    if (isOld || surplus.has(record)) await removeCheckpoint(access, record, garbageOf(record));
  }
}

/** Notes blocks that a release without garbage records has left behind, so that a later sweep removes them. */
export async function noteOrphans(access: Access): Promise<void> {
  const prefix = keyOf(access, 'block');
  let after: Key | undefined;
  for (;;) {
    const [found] = await access.storage.list({ prefix, ...(after && { after }), limit: 1 });
    const base = found?.key[3];
    if (typeof base !== 'string') return;
    after = keyOf(access, 'block', base, '~'); // text stands behind all numbers
    const head = await readHead(access);
    if (base === head?.value.base) continue;
    const garbage: Garbage = { at: access.now() };
    await access.storage.commit([{ key: garbageKey(access, base), value: garbage, ifVersion: null }]);
  }
}

/** Removes a checkpoint that was just written and that no head will name. */
export async function discardBlocks(access: Access, base: string): Promise<void> {
  const record = await access.storage.get(garbageKey(access, base));
  if (record) await removeCheckpoint(access, record, record.value as Garbage); // safe: only this file writes it
}

async function removeCheckpoint(access: Access, { key, version }: Entry, garbage: Garbage): Promise<void> {
  const base = key[3];
  if (typeof base !== 'string') return;
  const claim = await access.storage.commit([{ key, value: { ...garbage, at: access.now() }, ifVersion: version }]);
  if (!claim.ok) return; // it is in use
  const head = await readHead(access);
  if (head?.value.base !== base) await removeBlocks(access, base, garbage.blocks);
  await access.storage.commit([{ key, ifVersion: claim.version }]);
}

async function removeBlocks(access: Access, base: string, known: number | undefined): Promise<void> {
  await removeKeys(access, Array.from({ length: known ?? 0 }, (_, i) => blockKey(access, base, i)));
  for (;;) {
    const rest = await access.storage.list({ prefix: keyOf(access, 'block', base), limit: blocksPerRead });
    if (rest.length === 0) return;
    await removeKeys(access, rest.map(({ key }) => key));
  }
}

/** Removes entries, as many in a commit as one takes. */
export async function removeKeys({ storage }: Access, keys: readonly Key[]): Promise<void> {
  for (let i = 0; i < keys.length; i += 100) await storage.commit(keys.slice(i, i + 100).map((key) => ({ key })));
}

function blockKey(access: Access, base: string, number: number): Key {
  return keyOf(access, 'block', base, number);
}

function garbageKey(access: Access, base: string): Key {
  return keyOf(access, 'garbage', base);
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

function toRow([nodeId, parentId, payloadType, payload]: StoredRow): TreeRow {
  return { nodeId, parentId, payloadType, payload };
}
