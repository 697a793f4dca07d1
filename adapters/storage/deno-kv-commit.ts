/** Turns a commit into one atomic operation of Deno KV. */

import type { Key } from '../../src/base/key.ts';
import type { CommitResult } from '../../src/contracts/storage.ts';
import { findConflicts, type PreparedChange } from './changes.ts';
import { maxChecks } from './deno-kv-draft.ts';
import {
  type Assumptions,
  type Draft,
  type FoundHead,
  type Head,
  type HeadMemory,
  livingVersion,
  readHeads,
} from './deno-kv-heads.ts';
import {
  type Marker,
  markerKey,
  markParts,
  orphanedAfterMs,
  type Parts,
  removeParts,
  sweep,
  whenUnlocked,
  writeParts,
} from './deno-kv-parts.ts';
import { storageBlocked } from './unavailable.ts';

/** How often other writers may come between reading and writing. */
const commitAttempts = 100;

/** Deno KV's own expiry only saves room, so it comes later; that of parts comes later than that of the head naming them. */
const headGraceMs = 60_000;
const partsGraceMs: number = headGraceMs + orphanedAfterMs;
const longestExpiryMs = 1e13;

/** What the commits of one storage share. */
export interface CommitContext {
  readonly now: () => number;
  readonly memory: HeadMemory;
}

/**
 * Commits the drafts. The state of every key is checked, also where the caller names no version: otherwise the parts of a value
 * could be replaced and never removed. The first attempt assumes as much as it may and reads the rest. After it has failed, every
 * head is read.
 */
export async function commitDrafts(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  context: CommitContext,
): Promise<CommitResult> {
  const ownParts = drafts.flatMap(({ parts }) => parts ?? []);
  const { now, memory } = context;
  let marker: Marker | undefined;
  for (let attempt = 0; attempt < commitAttempts; attempt++) {
    const guesses = ownParts.length === 0; // parts are written before, in vain after a wrong guess
    const heads = await readHeads(kv, drafts, attempt === 0 ? assumptions(context, guesses) : undefined);
    const conflicts = conflictsOf(drafts, heads, now());
    if (conflicts.length > 0 && heads.some(({ isAssumed }) => isAssumed)) continue; // those may differ, too
    if (conflicts.length > 0) {
      if (marker !== undefined) await tidy(kv, ownParts, marker.key);
      return { ok: false, conflicts };
    }
    if (ownParts.length > 0) marker ??= await writeAhead(kv, drafts, now());
    const version = await writeHeads(kv, drafts, { heads, marker, time: now(), memory });
    if (version !== undefined) return { ok: true, version: version + (drafts[0]?.mark ?? '') };
  }
  throw storageBlocked('Cannot commit: other writers keep changing the same keys; try again');
}

/** What a first attempt may assume. */
export function assumptions({ now, memory }: CommitContext, guesses: boolean): Assumptions {
  return { recall: memory.recall, time: now(), guesses };
}

/** The keys whose versions differ from what the changes name. */
export function conflictsOf(drafts: readonly Draft[], heads: readonly FoundHead[], time: number): readonly Key[] {
  const changes = drafts.map(({ change }) => change);
  return findConflicts(changes, (_, at) => drafts[at] && livingVersion(drafts[at], heads[at], time));
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

/** The atomic operation: names the new parts, and records the replaced ones as unnamed. Returns no versionstamp when another writer was first. */
export async function writeHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  { heads, marker, time, memory }: {
    readonly heads: readonly FoundHead[];
    readonly marker: Marker | undefined;
    readonly time: number;
    readonly memory: HeadMemory;
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
  memory.note(drafts, result.ok ? result.versionstamp : undefined);
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

function toHead({ change: { key, expiresAt }, bytes, parts, mark }: Draft): Head {
  return {
    key,
    mark,
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
