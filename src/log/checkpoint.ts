/**
 * Checkpoints of a log, and other values that are larger than one entry: blocks under a name that is used once. The head of the log
 * names the checkpoint that counts.
 *
 * A checkpoint that the head does not name has a garbage record: while it is written, and again once another has replaced it. The
 * commit that makes the head name the checkpoint removes the record. So a sweep that finds an old record may claim it and remove the
 * blocks: if their writer is still there, it cannot make the head name them any more.
 */

import type { Key } from '../base/key.ts';
import type { Change, Entry, Storage } from '../contracts/storage.ts';
import { commitOwn, readPages, removeKeys } from './commits.ts';

/** Where the checkpoints of one log are. */
export interface Checkpoints {
  readonly storage: Storage;
  readonly now: () => number;
  /** Block `n` of a checkpoint is at `[...blocks, name, n]`. */
  readonly blocks: Key;
  /** The number of the first block; 0 when absent. */
  readonly first?: number;
  /** Garbage records are at `[...garbage, name]`. */
  readonly garbage: Key;
  /** Reads the name that the head has. */
  readonly current: () => Promise<string | undefined>;
  /** How long a replaced checkpoint stays for those who read it; 0 when absent. */
  readonly replacedGraceMs?: number;
}

/** A checkpoint that is written and not yet named by the head. */
export interface WrittenCheckpoint {
  readonly name: string;
  readonly blocks: number;
  readonly garbageVersion: string | null;
}

/** What is committed with each block. */
export interface BlockOptions {
  readonly beside?: () => readonly Change[];
  readonly onCommit?: (version: string) => void;
}

/** A checkpoint without a head: since when, how many blocks it has, and whether a reader may still read it. */
interface Garbage {
  readonly at: number;
  readonly blocks?: number;
  readonly isReplaced?: boolean;
}

/** How long an unfinished checkpoint stays for its writer, and how many replaced ones stay. */
const graceMs = 60_000;
const maxReplaced = 3;
const blocksPerRead = 8;

/** Writes blocks under a new name; returns `undefined` when another instance has taken the checkpoint for abandoned. */
export async function writeBlocks(
  checkpoints: Checkpoints,
  name: string,
  values: Iterable<unknown> | AsyncIterable<unknown>,
  { beside, onCommit }: BlockOptions = {},
): Promise<WrittenCheckpoint | undefined> {
  const { storage, now, first = 0 } = checkpoints;
  let blocks = 0;
  let garbageVersion: string | null = null;
  for await (const value of values) {
    const garbage: Garbage = { at: now(), blocks: blocks + 1 };
    const key = blockKey(checkpoints, name, first + blocks++);
    const record = { key: garbageKey(checkpoints, name), value: garbage, ifVersion: garbageVersion };
    // Only this writer writes blocks of this name. The garbage record proves nothing: a sweep may have claimed it since.
    const written = async (): Promise<string | undefined> => (await storage.get(key))?.version;
    const result = await commitOwn(storage, [record, { key, value }, ...beside?.() ?? []], { written });
    if (!result.ok) return undefined;
    garbageVersion = result.version;
    onCommit?.(result.version);
  }
  return { name, blocks, garbageVersion };
}

/** The changes to commit with a head that names `written` instead of `old`. */
export function replacementChanges(
  checkpoints: Checkpoints,
  { name, garbageVersion }: WrittenCheckpoint,
  old: { readonly name: string; readonly blocks: number } | undefined,
): readonly Change[] {
  const finished = garbageVersion === null ? [] : [{ key: garbageKey(checkpoints, name), ifVersion: garbageVersion }];
  if (!old) return finished;
  const garbage: Garbage = { at: checkpoints.now(), blocks: old.blocks, isReplaced: true };
  return [...finished, { key: garbageKey(checkpoints, old.name), value: garbage }];
}

/** Reads the blocks of a checkpoint; `undefined` when some are missing. */
export async function readBlocks(
  checkpoints: Checkpoints,
  { name, blocks }: { readonly name: string; readonly blocks: number },
): Promise<readonly unknown[] | undefined> {
  const { storage, first = 0 } = checkpoints;
  const values: unknown[] = [];
  for (let from = 0; from < blocks; from += blocksPerRead) {
    const keys = blockKeys(checkpoints, name, { from: first + from, count: Math.min(blocksPerRead, blocks - from) });
    for (const entry of await Promise.all(keys.map((key) => storage.get(key)))) {
      if (!entry) return undefined;
      values.push(entry.value);
    }
  }
  return values;
}

/** Removes checkpoints that the head does not name, and that no instance is likely to read or write any more. */
export async function sweepGarbage(checkpoints: Checkpoints): Promise<void> {
  const { storage, now, garbage: prefix, replacedGraceMs = 0 } = checkpoints;
  const records = (await storage.list({ prefix, limit: 1000 })).map((entry) => ({ entry, garbage: garbageOf(entry) }));
  const replaced = records.filter(({ garbage }) => garbage.isReplaced);
  const surplus = new Set(replaced.toSorted((a, b) => b.garbage.at - a.garbage.at).slice(maxReplaced));
  for (const record of records) {
    const { entry, garbage } = record;
    const isOld = now() - garbage.at >= (garbage.isReplaced ? replacedGraceMs : graceMs);
    if (isOld || surplus.has(record)) await removeCheckpoint(checkpoints, entry);
  }
}

/** Records blocks without a garbage record, which earlier versions left behind, so that a later sweep removes them. */
export async function noteOrphans(checkpoints: Checkpoints): Promise<void> {
  const { storage, blocks, current } = checkpoints;
  let after: Key | undefined;
  for (;;) {
    const [found] = await storage.list({ prefix: blocks, ...(after && { after }), limit: 1 });
    const name = found?.key[blocks.length];
    if (typeof name !== 'string') return;
    after = [...blocks, name, '~']; // text sorts after all numbers
    if (name === await current()) continue;
    const garbage: Garbage = { at: checkpoints.now() };
    await storage.commit([{ key: garbageKey(checkpoints, name), value: garbage, ifVersion: null }]);
  }
}

/** Removes a checkpoint that no head will name. */
export async function discardBlocks(checkpoints: Checkpoints, name: string): Promise<void> {
  const record = await checkpoints.storage.get(garbageKey(checkpoints, name));
  if (record) await removeCheckpoint(checkpoints, record);
}

async function removeCheckpoint(checkpoints: Checkpoints, record: Entry): Promise<void> {
  const { storage, now, current } = checkpoints;
  const { key, version } = record;
  const name = key.at(-1);
  if (typeof name !== 'string') return;
  const garbage = garbageOf(record);
  const claim = await storage.commit([{ key, value: { ...garbage, at: now() }, ifVersion: version }]);
  if (!claim.ok) return; // it is in use
  if (await current() !== name) await removeBlocks(checkpoints, name, garbage.blocks);
  await storage.commit([{ key, ifVersion: claim.version }]);
}

/** The record may not count all blocks. */
async function removeBlocks(checkpoints: Checkpoints, name: string, known = 0): Promise<void> {
  const { storage, blocks, first = 0 } = checkpoints;
  await removeKeys(storage, blockKeys(checkpoints, name, { from: first, count: known }));
  for await (const rest of readPages(storage, { prefix: [...blocks, name], limit: blocksPerRead })) {
    await removeKeys(storage, rest.map(({ key }) => key));
  }
}

function blockKey({ blocks }: Checkpoints, name: string, number: number): Key {
  return [...blocks, name, number];
}

function blockKeys(
  checkpoints: Checkpoints,
  name: string,
  { from, count }: { readonly from: number; readonly count: number },
): readonly Key[] {
  return Array.from({ length: count }, (_, i) => blockKey(checkpoints, name, from + i));
}

function garbageKey({ garbage }: Checkpoints, name: string): Key {
  return [...garbage, name];
}

function garbageOf({ value }: Entry): Garbage {
  return value as Garbage; // only this file writes it
}
