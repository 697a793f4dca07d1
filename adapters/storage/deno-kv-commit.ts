/** Turns a commit into one atomic operation of Deno KV. */

import type { Key } from '../../src/base/key.ts';
import type { CommitResult } from '../../src/contracts/storage.ts';
import { findConflicts, invalid, isExpired, type PreparedChange } from './changes.ts';
import { packKey } from './deno-kv-key.ts';
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
import { encodeValue } from './value-codec.ts';

/** The value of an entry's key: the serialized value, or the name of its parts. */
export interface Head {
  readonly key: Key;
  readonly expiresAt?: number;
  readonly bytes?: Uint8Array;
  readonly parts?: Parts;
}

/** A change as it will be written. */
export interface Draft {
  readonly change: PreparedChange;
  readonly key: Deno.KvKey;
  /** The serialized value; absent in a delete. */
  readonly bytes?: Uint8Array;
  /** Where the bytes go when they do not fit into the head. */
  readonly parts?: Parts;
}

/** The current value of a head's key. */
export interface FoundHead {
  readonly key: Deno.KvKey;
  readonly value: Head | null;
  readonly versionstamp: string | null;
  /** The version was not read: the change names it, and the atomic operation checks it. */
  readonly isAssumed?: true;
}

/** Limits of Deno KV, with something to spare: 10 keys a read, 100 checks, 80 KiB of keys, 800 KiB in all, 64 KiB a value. */
const keysPerRead = 10;
const maxChecks = 100;
const maxKeysBytes = 80_000;
const maxTotalBytes = 760_000;
const maxInlineBytes = 56_000;
/** The bytes of a head and its key besides the caller's key and value. */
const framingBytes = 200;

/** How often other writers may come between reading and writing. */
const commitAttempts = 100;

/** Deno KV's own expiry only saves room, so it comes later; that of parts comes later than that of the head naming them. */
const headGraceMs = 60_000;
const partsGraceMs: number = headGraceMs + orphanedAfterMs;
const longestExpiryMs = 1e13;

/** The Deno KV key of an encoded key. */
export function headKey(bytes: Uint8Array): Deno.KvKey {
  return [root, 'entry', packKey(bytes)];
}

/**
 * Serializes the changes, and splits off the largest values until each fits into its head and all into one operation.
 *
 * @throws PinnaceError `invalid_argument` with the reason `invalid_value`, `value_too_large`, or `commit_too_large` where the
 * keys alone take more than Deno KV does.
 */
export function draftChanges(changes: readonly PreparedChange[]): Draft[] {
  const drafts = changes.map((change): Draft => {
    const draft = { change, key: headKey(change.bytes) };
    return change.value === undefined ? draft : { ...draft, bytes: encodeValue(change.value) };
  });
  const large = largest(drafts);
  return drafts.map((draft) => large.has(draft) ? { ...draft, parts: nameParts(valueSize(draft)) } : draft);
}

/**
 * Commits the drafts. The state of every key is checked, also where the caller does not care about it: otherwise the parts of a
 * value could be replaced without anybody knowing of them. If another writer comes between, it reads and decides again.
 */
export async function commitDrafts(kv: Deno.Kv, drafts: readonly Draft[], now: () => number): Promise<CommitResult> {
  const changes = drafts.map(({ change }) => change);
  const ownParts = drafts.flatMap(({ parts }) => parts ?? []);
  let marker: Marker | undefined;
  for (let attempt = 0; attempt < commitAttempts; attempt++) {
    const heads = await readHeads(kv, drafts, { mayAssume: attempt === 0 });
    const conflicts = findConflicts(changes, (_, at) => livingVersion(heads[at], now()));
    if (conflicts.length > 0 && heads.some(({ isAssumed }) => isAssumed)) continue; // those may differ, too
    if (conflicts.length > 0) {
      if (marker !== undefined) await tidy(kv, ownParts, marker.key);
      return { ok: false, conflicts };
    }
    if (ownParts.length > 0) marker ??= await writeAhead(kv, drafts, now());
    const version = await writeHeads(kv, drafts, { heads, marker, time: now() });
    if (version !== undefined) return { ok: true, version };
  }
  throw storageBlocked('Cannot commit: other writers keep changing the same keys; try again');
}

function largest(drafts: readonly Draft[]): Set<Draft> {
  const keys = drafts.reduce((sum, { key }) => sum + keySize(key), 0);
  if (keys > maxKeysBytes) {
    const sizes = `their keys take ${keys} bytes together, Deno KV takes ${maxKeysBytes}`;
    throw invalid('commit_too_large', `Cannot commit ${drafts.length} changes: ${sizes}; make it two commits`);
  }
  const large = new Set<Draft>();
  let total = drafts.reduce((sum, draft) => sum + sizeWithoutValue(draft) + valueSize(draft), 0);
  for (const draft of drafts.toSorted((a, b) => valueSize(b) - valueSize(a))) {
    if (valueSize(draft) <= maxInlineBytes && total <= maxTotalBytes) break;
    large.add(draft);
    total -= valueSize(draft);
  }
  return large;
}

/** What one atomic operation takes. */
export interface Room {
  /** Adds drafts with inline values, and returns whether all so far fit. */
  readonly take: (drafts: readonly Draft[]) => boolean;
}

/** Creates the room of an empty operation. */
export function createRoom(): Room {
  let [checks, keys, total] = [0, 0, 0];
  return {
    take(drafts) {
      checks += drafts.length;
      for (const draft of drafts) {
        keys += keySize(draft.key);
        total += sizeWithoutValue(draft) + valueSize(draft);
      }
      return checks <= maxChecks && keys <= maxKeysBytes && total <= maxTotalBytes;
    },
  };
}

function valueSize({ bytes }: Draft): number {
  return bytes?.length ?? 0;
}

/** Deno KV counts the key of a checked write three times. The head holds it once more, in at most two bytes a character. */
function sizeWithoutValue({ key, change }: Draft): number {
  return 3 * keySize(key) + 2 * change.bytes.length + framingBytes;
}

function keySize(key: Deno.KvKey): number {
  return key.reduce<number>((sum, part) => sum + 2 + (part as string | Uint8Array).length, 0); // safe: see headKey
}

/**
 * Reads the current heads of these drafts. With `mayAssume` it reads none whose version the change names: of a new key, or of one
 * that is only checked. Others may have parts to remove.
 */
export async function readHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  { mayAssume }: { readonly mayAssume: boolean },
): Promise<FoundHead[]> {
  const assumed = drafts.map((draft) => mayAssume ? assumedHead(draft) : undefined);
  const places = drafts.filter((_, at) => !assumed[at]).map(({ key }) => key);
  const reads: Promise<readonly FoundHead[]>[] = [];
  for (let from = 0; from < places.length; from += keysPerRead) {
    reads.push(kv.getMany<Head[]>(places.slice(from, from + keysPerRead)));
  }
  const read = (await Promise.all(reads)).flat().values();
  return assumed.flatMap((head) => head ?? read.next().value ?? []);
}

function assumedHead({ key, change: { ifVersion, keep } }: Draft): FoundHead | undefined {
  if (ifVersion === undefined || (ifVersion !== null && !keep)) return undefined;
  return { key, value: null, versionstamp: ifVersion, isAssumed: true };
}

/** The version that a caller sees; nothing where the entry has expired. */
export function livingVersion(head: FoundHead | undefined, time: number): string | undefined {
  if (head?.isAssumed) return head.versionstamp ?? undefined;
  if (!head?.value || isExpired(head.value, time)) return undefined;
  return head.versionstamp ?? undefined;
}

/** Writes what the heads will name, noted as unnamed until then; removes what crashed writers left. */
async function writeAhead(kv: Deno.Kv, drafts: readonly Draft[], time: number): Promise<Marker> {
  await sweep(kv, time).catch(() => {}); // the next one may have better luck
  const marker = await markParts(kv, drafts.flatMap(({ parts }) => parts ?? []), time);
  for (const { change, bytes, parts } of drafts) {
    if (bytes === undefined || parts === undefined) continue;
    await writeParts(kv, parts, { bytes, ...expiry(change, { time, graceMs: partsGraceMs }) });
  }
  return marker;
}

/** The atomic operation: names the new parts, and records the replaced ones as unnamed. Returns no version when another writer was first. */
export async function writeHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  { heads, marker, time }: {
    readonly heads: readonly FoundHead[];
    readonly marker: Marker | undefined;
    readonly time: number;
  },
): Promise<string | undefined> {
  const write = kv.atomic().check(...heads);
  for (const draft of drafts) {
    if (draft.change.keep) continue;
    if (draft.bytes === undefined) write.delete(draft.key);
    else write.set(draft.key, toHead(draft), expiry(draft.change, { time, graceMs: headGraceMs }));
  }
  if (marker !== undefined) checkMarker(write, marker, { time, room: drafts.length < maxChecks });
  const replaced = heads.flatMap(({ value }, at) => drafts[at]?.change.keep ? [] : value?.parts ?? []);
  const note = marker?.key ?? markerKey(time);
  if (replaced.length > 0) write.set(note, replaced);
  else if (marker !== undefined) write.delete(note);
  const result = await whenUnlocked(() => write.commit());
  if (!result.ok) return undefined;
  if (replaced.length > 0) await tidy(kv, replaced, note);
  return result.versionstamp;
}

/** The check excludes a sweep. A hundred changes leave no room for it, so a writer also gives up long before any sweep. */
function checkMarker(
  write: Deno.AtomicOperation,
  marker: Marker,
  { time, room }: { readonly time: number; readonly room: boolean },
): void {
  if (time - marker.startedAt > orphanedAfterMs / 2) {
    throw storageBlocked('Cannot commit: writing the values took too long; try again');
  }
  if (room) write.check(marker);
}

function toHead({ change: { key, expiresAt }, bytes, parts }: Draft): Head {
  return {
    key,
    ...(expiresAt !== undefined && { expiresAt }),
    ...(parts !== undefined ? { parts } : bytes !== undefined && { bytes }),
  };
}

function expiry(
  { expiresAt }: PreparedChange,
  { time, graceMs }: { readonly time: number; readonly graceMs: number },
): { readonly expireIn?: number } {
  if (expiresAt === undefined || expiresAt - time > longestExpiryMs) return {};
  return { expireIn: Math.max(0, Math.ceil(expiresAt - time)) + graceMs };
}

/** The commit is decided: the rest may wait for a sweep. */
async function tidy(kv: Deno.Kv, parts: readonly Parts[], note: Deno.KvKey): Promise<void> {
  await removeParts(kv, parts, note).catch(() => {});
}
