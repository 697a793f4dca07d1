/**
 * Values that are too large for one Deno KV entry. Their parts are written first, under an id of their own; the commit of the
 * entry that names them makes them visible. A marker lists parts that nothing names, before the commit the new ones and after it
 * the replaced ones, so that the parts of a writer that crashed are found and removed.
 */

export interface Parts {
  readonly id: string;
  readonly count: number;
}

/** A note of parts that nothing names. */
export interface Marker {
  readonly key: Deno.KvKey;
  readonly startedAt: number;
  readonly versionstamp: string;
}

export const root = 'pinnace';

/** A marker of this age was left by a crash. A writer gives up long before. */
export const orphanedAfterMs: number = 60 * 60 * 1000;

/** Limits of Deno KV: 10 keys a read, 64 KiB a value, 800 KiB and 1,000 changes a commit. */
const keysPerRead = 10;
const partBytes = 60_000;
const partsPerWrite = 12;
const deletesPerWrite = 500;
/** How many crashed writers one sweep cleans up after. */
const sweepLimit = 10;
/** About two seconds, all waits together. */
const lockedAttempts = 50;

export function nameParts(size: number): Parts {
  return { id: crypto.randomUUID(), count: Math.ceil(size / partBytes) };
}

/** Notes parts about to be written. */
export async function markParts(kv: Deno.Kv, parts: readonly Parts[], startedAt: number): Promise<Marker> {
  const key = markerKey(startedAt);
  const { versionstamp } = await whenUnlocked(() => kv.set(key, parts));
  return { key, startedAt, versionstamp };
}

export function markerKey(time: number): Deno.KvKey {
  return [root, 'unnamed', time, crypto.randomUUID()];
}

/** Writes the parts of a value. Nothing sees them until an entry names them. */
export async function writeParts(
  kv: Deno.Kv,
  { id, count }: Parts,
  { bytes, expireIn }: { readonly bytes: Uint8Array; readonly expireIn?: number | undefined },
): Promise<void> {
  for (let from = 0; from < count; from += partsPerWrite) {
    const write = kv.atomic();
    for (let at = from; at < Math.min(from + partsPerWrite, count); at++) {
      const part = bytes.slice(at * partBytes, (at + 1) * partBytes);
      write.set(partKey(id, at), part, expireIn === undefined ? {} : { expireIn });
    }
    await whenUnlocked(() => write.commit());
  }
}

/** Reads the parts of a value; nothing when one is missing, because the value was replaced meanwhile. */
export async function readParts(kv: Deno.Kv, { id, count }: Parts): Promise<Uint8Array | undefined> {
  const reads: Promise<Deno.KvEntryMaybe<Uint8Array>[]>[] = [];
  for (let from = 0; from < count; from += keysPerRead) {
    const length = Math.min(keysPerRead, count - from);
    reads.push(kv.getMany<Uint8Array[]>(Array.from({ length }, (_, at) => partKey(id, from + at))));
  }
  const found = (await Promise.all(reads)).flat();
  const parts = found.flatMap(({ value }) => value ?? []);
  return parts.length === count ? joined(parts) : undefined;
}

/** Removes parts that nothing names, then the note of them. */
export async function removeParts(kv: Deno.Kv, parts: readonly Parts[], marker: Deno.KvKey): Promise<void> {
  const keys = parts.flatMap(({ id, count }) => Array.from({ length: count }, (_, at) => partKey(id, at)));
  for (let from = 0; from < keys.length; from += deletesPerWrite) {
    const write = kv.atomic();
    for (const key of keys.slice(from, from + deletesPerWrite)) write.delete(key);
    await whenUnlocked(() => write.commit());
  }
  await whenUnlocked(() => kv.delete(marker));
}

/**
 * Removes the parts that crashed writers left. Touching the marker first makes the commit of a writer fail that is merely slow,
 * for it checks its marker.
 */
export async function sweep(kv: Deno.Kv, now: number): Promise<void> {
  const old = { start: [root, 'unnamed'], end: [root, 'unnamed', now - orphanedAfterMs] };
  for await (const { key, value, versionstamp } of kv.list<Parts[]>(old, { limit: sweepLimit })) {
    const touch = kv.atomic().check({ key, versionstamp }).set(key, value);
    const touched = await whenUnlocked(() => touch.commit());
    if (touched.ok) await removeParts(kv, value, key);
  }
}

/** SQLite refuses a write, whole, while another process writes. Then it is tried again, a little later each time. */
export async function whenUnlocked<Result>(write: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0;; attempt++) {
    try {
      return await write();
    } catch (error) {
      const isLocked = error instanceof Error && error.message.includes('database is locked');
      if (!isLocked || attempt >= lockedAttempts) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(2 ** attempt, 100)));
  }
}

function partKey(id: string, at: number): Deno.KvKey {
  return [root, 'part', id, at];
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}
