/** Prepares the changes of a commit for Deno KV, and splits what is too large for one entry. */

import { keyBytes } from '../../src/base/key.ts';
import { invalid, type PreparedChange } from './changes.ts';
import { type Draft, headKey, markOf } from './deno-kv-heads.ts';
import { nameParts } from './deno-kv-parts.ts';

/** The most checks of an operation. */
export const maxChecks = 100;
/** Limits of Deno KV, with something to spare: 80 KiB of keys, 800 KiB in all, 64 KiB a value. */
const maxKeysBytes = 80_000;
const maxTotalBytes = 760_000;
const maxInlineBytes = 56_000;
/** The bytes of a head and its key besides the caller's key and value. */
const framingBytes = 200;

/**
 * Serializes the changes with `encode`, and splits off the largest values until each fits into its head and all into one operation.
 *
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
  const large = largest(drafts);
  const split = drafts.map((draft) => large.has(draft) ? { ...draft, parts: nameParts(valueSize(draft)) } : draft);
  const written = split.filter(({ bytes }) => bytes !== undefined);
  const mark = markOf(written.map(({ change: { expiresAt }, parts }) => {
    return { ...(expiresAt !== undefined && { expiresAt }), ...(parts && { parts }) };
  }));
  return split.map((draft) => ({ ...draft, mark }));
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
  return 3 * keySize(key) + 2 * change.id.length + framingBytes;
}

function keySize(key: Deno.KvKey): number {
  return key.reduce<number>((sum, part) => sum + 2 + (part as string | Uint8Array).length, 0); // safe: see headKey
}
