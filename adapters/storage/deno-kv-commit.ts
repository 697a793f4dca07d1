/**
 * Commits of Deno KV. What must hold:
 *
 * - A commit is one atomic operation that checks the state of every key it names, also where the caller names no version: else the
 *   parts of a replaced value (`deno-kv-parts.ts`) would stay for ever.
 * - The first attempt assumes what the versions of the caller say, and what is new; the operation checks that. All later attempts read.
 * - Commits that come at once go together into one operation, for Deno KV pays for each transaction. Each is decided for itself: a
 *   conflict answers its own caller, and the others are written without it.
 * - A version is the versionstamp of the operation and a mark: when the first of its values expires, and whether any is in parts. By
 *   it the next commit knows that it need not read what it replaces.
 */

import { type Key, keyBytes } from '../../src/base/key.ts';
import type { CommitResult } from '../../src/contracts/storage.ts';
import { findConflicts, invalid, isExpired, type PreparedChange } from './changes.ts';
import {
  type Marker,
  markerKey,
  markParts,
  nameParts,
  orphanedAfterMs,
  type Parts,
  removeParts,
  root,
  sweep,
  whenUnlocked,
  writeParts,
} from './deno-kv-parts.ts';
import { storageBlocked } from './unavailable.ts';

/** The value of an entry's key: the serialized value, or the name of its parts. */
export interface Head {
  readonly key: Key;
  readonly expiresAt?: number;
  readonly bytes?: Uint8Array;
  readonly parts?: Parts;
  /** The mark of its commit's version. Absent: the mark of this head alone. */
  readonly mark?: string;
}

/** A change as it will be written: its bytes in the head, or in parts; a delete has none. */
interface Draft {
  readonly change: PreparedChange;
  readonly key: Deno.KvKey;
  readonly bytes?: Uint8Array;
  readonly parts?: Parts;
  readonly mark: string;
}

/** The state of a head's key that an operation checks: as it was read, or as it is assumed to be. */
interface CheckedHead {
  readonly key: Deno.KvKey;
  readonly value: Pick<Head, 'expiresAt' | 'parts' | 'mark'> | null;
  readonly versionstamp: string | null;
  readonly isAssumed?: true;
}

interface Commit {
  readonly kv: Deno.Kv;
  readonly drafts: readonly Draft[];
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** Limits of Deno KV, with something to spare: 100 checks, 80 KiB of keys and 800 KiB in all an operation, 64 KiB a value, 10 keys a read. */
const maxChecks = 100;
const maxKeysBytes = 80_000;
const maxTotalBytes = 760_000;
const maxInlineBytes = 56_000;
const keysPerRead = 10;
/** The bytes of a head and its key besides the caller's key and value. */
const framingBytes = 200;
/** While one group is on its way, the next is read and put together. */
const groupsAtOnce = 2;
/** How often other writers may come between reading and writing. */
const commitAttempts = 100;
/** Deno KV's own expiry only saves room, so it comes later; that of parts comes later than that of the head naming them. */
const headGraceMs = 60_000;
const longestExpiryMs = 1e13;

/** Creates the function that commits drafts. Those under way at one time must write different keys. */
export function createCommits(now: () => number): (kv: Deno.Kv, drafts: readonly Draft[]) => Promise<CommitResult> {
  const waiting: Commit[] = [];
  let underWay = 0;
  const work = async (): Promise<void> => {
    while (waiting.length > 0) await settle(waiting.splice(0, fitting(waiting)), now);
    underWay -= 1;
  };
  return (kv, drafts) => {
    const { promise, resolve, reject } = Promise.withResolvers<CommitResult>();
    const commit = { kv, drafts, resolve, reject };
    if (drafts.some(({ parts }) => parts)) void settle([commit], now); // its parts need writes of their own before
    else if (waiting.push(commit) && underWay < groupsAtOnce) {
      underWay += 1;
      queueMicrotask(() => void work());
    }
    return promise;
  };
}

function fitting(commits: readonly Commit[]): number {
  let [checks, keys, total] = [0, 0, 0];
  const end = commits.findIndex(({ kv, drafts }, at) => {
    checks += drafts.length;
    keys += sum(drafts, keySize);
    total += sum(drafts, (draft) => sizeWithoutValue(draft) + valueSize(draft));
    return at > 0 && (kv !== commits[0]?.kv || checks > maxChecks || keys > maxKeysBytes || total > maxTotalBytes);
  });
  return end < 0 ? commits.length : end;
}

async function settle(group: readonly Commit[], now: () => number): Promise<void> {
  try {
    await commitGroup(group, now);
  } catch (error) {
    for (const { reject } of group) reject(error); // those that are settled already stay so
  }
}

async function commitGroup(group: readonly Commit[], now: () => number): Promise<void> {
  const ownParts = group.flatMap(({ drafts }) => drafts.flatMap(({ parts }) => parts ?? []));
  const isAlone = group.length === 1;
  let rest = group;
  let marker: Marker | undefined;
  for (let attempt = 0; attempt < commitAttempts; attempt++) {
    const [kv] = rest.map((one) => one.kv);
    if (!kv) return;
    // Other writers are too fast for so many at once.
    if (attempt > 1 && !isAlone) return void await Promise.all(rest.map((one) => settle([one], now)));
    // A wrong guess would fail the whole group, and parts would be written in vain.
    const assume = { time: now(), guesses: isAlone && ownParts.length === 0 };
    const heads = await readHeads(kv, rest.flatMap(({ drafts }) => drafts), attempt === 0 ? assume : undefined);
    let at = 0;
    const decided = rest.map((one) => {
      const checked = heads.slice(at, at += one.drafts.length);
      return { one, checked, conflicts: conflictsOf(one.drafts, checked, now()) };
    });
    const lost = decided.filter(({ conflicts }) => conflicts.length > 0);
    if (lost.some(({ checked }) => checked.some(({ isAssumed }) => isAssumed))) continue; // those may differ, too
    if (marker && lost.length > 0) await tidy(kv, ownParts, marker.key);
    for (const { one, conflicts } of lost) one.resolve({ ok: false, conflicts });
    const free = decided.filter(({ conflicts }) => conflicts.length === 0);
    rest = free.map(({ one }) => one);
    if (rest.length === 0) return;
    const drafts = rest.flatMap((one) => one.drafts);
    if (ownParts.length > 0) marker ??= await writeAhead(kv, drafts, now());
    const checks = free.flatMap(({ checked }) => checked);
    const versionstamp = await writeHeads(kv, drafts, { checks, marker, time: now() });
    if (versionstamp === undefined) continue;
    for (const one of rest) one.resolve({ ok: true, version: versionstamp + (one.drafts[0]?.mark ?? '') });
    return;
  }
  throw storageBlocked('Cannot commit: other writers keep changing the same keys; try again');
}

function conflictsOf(drafts: readonly Draft[], heads: readonly CheckedHead[], time: number): readonly Key[] {
  return findConflicts(drafts.map(({ change }) => change), ({ ifVersion }, at) => {
    const { value, versionstamp, isAssumed } = heads[at] ?? {};
    if (isAssumed) return ifVersion ?? undefined;
    return value && versionstamp && !isExpired(value, time) ? versionOf(value, versionstamp) : undefined;
  });
}

/** The state of each head: as `assume` has it where something may be assumed, else as it is read. */
async function readHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  assume: { readonly time: number; readonly guesses: boolean } | undefined,
): Promise<CheckedHead[]> {
  const assumed = drafts.map((draft) => assume && assumedHead(draft, assume));
  const places = drafts.filter((_, at) => !assumed[at]).map(({ key }) => key);
  const reads: Promise<readonly CheckedHead[]>[] = [];
  for (let from = 0; from < places.length; from += keysPerRead) {
    reads.push(kv.getMany<Head[]>(places.slice(from, from + keysPerRead)));
  }
  const read = (await Promise.all(reads)).flat().values();
  return assumed.flatMap((head) => head ?? read.next().value ?? []);
}

/** A versionstamp of Deno KV, and a mark. */
const versionFormat = /^([0-9a-f]{20})(?:-(\d+))?(-p)?$/;

/** What the caller's version says of a head. With `guesses`, a value that is written whatever the version is counts as new. */
function assumedHead(
  { key, change: { ifVersion, value, keep } }: Draft,
  { time, guesses }: { readonly time: number; readonly guesses: boolean },
): CheckedHead | undefined {
  const absent = { key, value: null, versionstamp: null, isAssumed: true } as const;
  if (ifVersion === null) return absent;
  if (ifVersion === undefined) return guesses && value !== undefined ? absent : undefined;
  const [, versionstamp, expiresAt = Infinity, parts] = versionFormat.exec(ifVersion) ?? [];
  const mustRead = versionstamp === undefined || Number(expiresAt) <= time || (parts !== undefined && !keep);
  return mustRead ? undefined : { ...absent, versionstamp };
}

/** Writes the parts, noted as unnamed until a head names them; removes what crashed writers left. */
async function writeAhead(kv: Deno.Kv, drafts: readonly Draft[], time: number): Promise<Marker> {
  await sweep(kv, time).catch(() => {}); // the next one may have better luck
  const marker = await markParts(kv, drafts.flatMap(({ parts }) => parts ?? []), time);
  for (const { change, bytes, parts } of drafts) {
    if (bytes && parts) await writeParts(kv, parts, { bytes, ...expiry(change, time, headGraceMs + orphanedAfterMs) });
  }
  return marker;
}

/** The atomic operation: names the new parts, and notes the replaced ones as unnamed. Returns no versionstamp when another writer was first. */
async function writeHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  { checks, marker, time }: {
    readonly checks: readonly CheckedHead[];
    readonly marker: Marker | undefined;
    readonly time: number;
  },
): Promise<string | undefined> {
  const write = kv.atomic().check(...checks);
  for (const { change, key, bytes, parts, mark } of drafts) {
    if (change.keep) continue;
    const expiresAt = change.expiresAt === undefined ? {} : { expiresAt: change.expiresAt };
    if (bytes === undefined) write.delete(key);
    else {write.set(
        key,
        { key: change.key, mark, ...expiresAt, ...(parts ? { parts } : { bytes }) },
        expiry(change, time),
      );}
  }
  // The check excludes a sweep. A hundred changes leave no room for it, so a writer also gives up long before any sweep.
  if (marker && time - marker.startedAt > orphanedAfterMs / 2) {
    throw storageBlocked('Cannot commit: writing the values took too long; try again');
  }
  if (marker && drafts.length < maxChecks) write.check(marker);
  const replaced = checks.flatMap(({ value }, at) => drafts[at]?.change.keep ? [] : value?.parts ?? []);
  const note = marker?.key ?? markerKey(time);
  if (replaced.length > 0) write.set(note, replaced);
  else if (marker) write.delete(note);
  const result = await whenUnlocked(() => write.commit());
  if (result.ok && replaced.length > 0) await tidy(kv, replaced, note);
  return result.ok ? result.versionstamp : undefined;
}

function expiry({ expiresAt }: PreparedChange, time: number, graceMs = headGraceMs): { readonly expireIn?: number } {
  if (expiresAt === undefined || expiresAt - time > longestExpiryMs) return {};
  return { expireIn: Math.max(0, Math.ceil(expiresAt - time)) + graceMs };
}

/** The commit is decided: the rest may wait for a sweep. */
async function tidy(kv: Deno.Kv, parts: readonly Parts[], note: Deno.KvKey): Promise<void> {
  await removeParts(kv, parts, note).catch(() => {});
}

/**
 * Serializes the changes with `encode`, and splits off the largest values until each fits into its head and all into one operation.
 * @throws PinnaceError `invalid_argument` with the reason `invalid_value`, `value_too_large`, or `commit_too_large` where the
 * keys alone take more than Deno KV does.
 */
export function draftChanges(
  changes: readonly PreparedChange[],
  encode: (value: unknown) => Uint8Array<ArrayBuffer>,
): Draft[] {
  const drafts = changes.map((change): Draft => {
    const draft = { change, key: headKey(keyBytes(change.id)), mark: '' };
    return change.value === undefined ? draft : { ...draft, bytes: encode(change.value) };
  });
  const keys = sum(drafts, keySize);
  if (keys > maxKeysBytes) {
    const sizes = `their keys take ${keys} bytes together, Deno KV takes ${maxKeysBytes}`;
    throw invalid('commit_too_large', `Cannot commit ${drafts.length} changes: ${sizes}; make it two commits`);
  }
  const split = new Map<Draft, Parts>();
  let total = sum(drafts, (draft) => sizeWithoutValue(draft) + valueSize(draft));
  for (const draft of drafts.toSorted((a, b) => valueSize(b) - valueSize(a))) {
    if (valueSize(draft) <= maxInlineBytes && total <= maxTotalBytes) break;
    split.set(draft, nameParts(valueSize(draft)));
    total -= valueSize(draft);
  }
  const written = drafts.filter(({ bytes }) => bytes !== undefined);
  const mark = markOf(written.map((draft) => ({ expiresAt: draft.change.expiresAt, parts: split.get(draft) })));
  return drafts.map((draft) => {
    const parts = split.get(draft);
    return { ...draft, mark, ...(parts && { parts }) };
  });
}

/** What a version has besides the versionstamp of its commit. */
function markOf(
  heads: readonly { readonly expiresAt?: number | undefined; readonly parts?: Parts | undefined }[],
): string {
  const expiresAt = Math.floor(Math.min(...heads.map((head) => head.expiresAt ?? Infinity)));
  return `${Number.isSafeInteger(expiresAt) ? `-${expiresAt}` : ''}${heads.some(({ parts }) => parts) ? '-p' : ''}`;
}

export function versionOf(head: Pick<Head, 'expiresAt' | 'parts' | 'mark'>, versionstamp: string): string {
  return versionstamp + (head.mark ?? markOf([head]));
}

export function headKey(bytes: Uint8Array): Deno.KvKey {
  return [root, 'entry', packKey(bytes)];
}

/**
 * Packs the bytes of a key into bytes from 1 to 128, seven bits each, that sort in the same way. Deno KV doubles every zero and
 * takes 2,048 bytes: packed, the longest key takes 1,756, whatever it holds.
 */
function packKey(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const packed = new Uint8Array(Math.ceil(bytes.length * 8 / 7));
  let [bits, pending, at] = [0, 0, 0];
  for (const byte of bytes) {
    bits = (bits << 8 | byte) & 0x3fff; // at most six bits were pending
    for (pending += 8; pending >= 7; pending -= 7) packed[at++] = (bits >> pending - 7 & 127) + 1;
  }
  if (pending > 0) packed[at] = (bits << 7 - pending & 127) + 1;
  return packed;
}

function sum(drafts: readonly Draft[], sizeOf: (draft: Draft) => number): number {
  return drafts.reduce((size, draft) => size + sizeOf(draft), 0);
}

function valueSize({ bytes }: Draft): number {
  return bytes?.length ?? 0;
}

/** Deno KV counts the key of a checked write three times. The head holds it once more, in at most two bytes a character. */
function sizeWithoutValue(draft: Draft): number {
  return 3 * keySize(draft) + 2 * draft.change.id.length + framingBytes;
}

function keySize({ key }: Draft): number {
  return key.reduce<number>((size, part) => size + 2 + (part as string | Uint8Array).length, 0); // safe: see headKey
}
