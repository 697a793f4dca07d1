/** The heads of entries in Deno KV: what their keys hold, which versions they have, and which of them a commit must read. */

import type { Key } from '../../src/base/key.ts';
import { isExpired, type PreparedChange } from './changes.ts';
import { packKey } from './deno-kv-key.ts';
import { type Parts, root } from './deno-kv-parts.ts';

/** The value of an entry's key: the serialized value, or the name of its parts. */
export interface Head {
  readonly key: Key;
  readonly expiresAt?: number;
  readonly bytes?: Uint8Array;
  readonly parts?: Parts;
  /** What the version of its commit has besides the versionstamp. Absent: what {@link markOf} returns for this head alone. */
  readonly mark?: string;
}

/** A change as it will be written. */
export interface Draft {
  readonly change: PreparedChange;
  readonly key: Deno.KvKey;
  /** The serialized value; absent in a delete. */
  readonly bytes?: Uint8Array;
  /** Where the bytes go when they do not fit into the head. */
  readonly parts?: Parts;
  /** What the version of the commit has besides the versionstamp. */
  readonly mark: string;
}

/** The state of a head's key that a commit checks: as it was read, or as it is assumed to be. */
export interface FoundHead {
  readonly key: Deno.KvKey;
  readonly value: Pick<Head, 'expiresAt' | 'parts' | 'mark'> | null;
  readonly versionstamp: string | null;
  readonly isAssumed?: true;
}

/** The keys of one read. Deno KV takes ten. */
const keysPerRead = 10;

/** The Deno KV key of an encoded key. */
export function headKey(bytes: Uint8Array): Deno.KvKey {
  return [root, 'entry', packKey(bytes)];
}

/**
 * What the version of a commit has besides its versionstamp: when the first of its values expires, and whether any is in parts. By
 * it, the next commit knows that it need not read what it replaces.
 */
export function markOf(heads: readonly Pick<Head, 'expiresAt' | 'parts'>[]): string {
  const expiresAt = Math.floor(Math.min(...heads.map((head) => head.expiresAt ?? Infinity)));
  return `${Number.isSafeInteger(expiresAt) ? `-${expiresAt}` : ''}${heads.some(({ parts }) => parts) ? '-p' : ''}`;
}

/** The version of an entry. */
export function versionOf(head: Pick<Head, 'expiresAt' | 'parts' | 'mark'>, versionstamp: string): string {
  return versionstamp + (head.mark ?? markOf([head]));
}

/** The version that a caller sees; nothing where the entry has expired. */
export function livingVersion({ change }: Draft, found: FoundHead | undefined, time: number): string | undefined {
  if (found?.isAssumed) return change.ifVersion ?? undefined;
  if (!found?.value || found.versionstamp === null || isExpired(found.value, time)) return undefined;
  return versionOf(found.value, found.versionstamp);
}

/** What is assumed of keys without reading them; the atomic operation checks it. */
export interface Assumptions {
  /** The last known state of this key. */
  readonly recall: (id: string) => FoundHead | undefined;
  readonly time: number;
  /** Whether a key of which nothing is known counts as new when a value is written there whatever the version is. */
  readonly guesses: boolean;
}

/** Returns the current heads of these drafts. Reads those of which nothing may be assumed. */
export async function readHeads(
  kv: Deno.Kv,
  drafts: readonly Draft[],
  assumptions?: Assumptions,
): Promise<FoundHead[]> {
  const assumed = drafts.map((draft) => assumptions && assumedHead(draft, assumptions));
  const places = drafts.filter((_, at) => !assumed[at]).map(({ key }) => key);
  const reads: Promise<readonly FoundHead[]>[] = [];
  for (let from = 0; from < places.length; from += keysPerRead) {
    reads.push(kv.getMany<Head[]>(places.slice(from, from + keysPerRead)));
  }
  const read = (await Promise.all(reads)).flat().values();
  return assumed.flatMap((head) => head ?? read.next().value ?? []);
}

function assumedHead({ key, change }: Draft, { recall, time, guesses }: Assumptions): FoundHead | undefined {
  const { ifVersion, value, keep } = change;
  const absent = { key, value: null, versionstamp: null, isAssumed: true } as const;
  if (ifVersion === null) return absent;
  const known = recall(change.id);
  if (ifVersion === undefined) return known ?? (guesses && value !== undefined ? absent : undefined);
  const [isVersion, versionstamp = '', expiresAt = Infinity, parts] = versionFormat.exec(ifVersion) ?? [];
  if (isVersion === undefined || Number(expiresAt) <= time) return undefined;
  if (known?.value && known.versionstamp === versionstamp) return known;
  return parts === undefined || keep ? { ...absent, versionstamp } : undefined;
}

/** A versionstamp of Deno KV, and a mark. */
const versionFormat = /^([0-9a-f]{20})(?:-(\d+))?(-p)?$/;

/** The states of keys that this storage wrote last, as far as their versions do not tell them. */
export interface HeadMemory {
  readonly recall: (id: string) => FoundHead | undefined;
  /** Remembers what was written, or forgets what is no longer known. */
  readonly note: (drafts: readonly Draft[], versionstamp: string | undefined) => void;
}

/** How many keys are remembered: about 1 MB. */
const remembered = 2_000;

/** Creates a memory of keys that were written without a version, and of values in parts. */
export function createHeadMemory(): HeadMemory {
  const known = new Map<string, FoundHead>();
  return {
    recall: (id) => known.get(id),
    note(drafts, versionstamp) {
      for (const { key, change, parts, mark } of drafts) {
        if (change.keep) continue;
        known.delete(change.id);
        if (versionstamp === undefined || change.value === undefined || !isWorthNoting(change, parts)) continue;
        const value = {
          mark,
          ...(change.expiresAt !== undefined && { expiresAt: change.expiresAt }),
          ...(parts && { parts }),
        };
        known.set(change.id, { key, value, versionstamp, isAssumed: true });
      }
      while (known.size > remembered) known.delete(known.keys().next().value ?? '');
    },
  };
}

function isWorthNoting({ ifVersion }: PreparedChange, parts: Parts | undefined): boolean {
  return ifVersion === undefined || parts !== undefined;
}
