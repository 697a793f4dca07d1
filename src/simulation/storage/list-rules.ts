/** The rules of a listing. */

import { keyText } from '../../base/key.ts';
import type { Entry, Storage } from '../../contracts/storage.ts';

type ListOptions = Parameters<Storage['list']>[0];

/** Returns what is wrong with the entries of a listing, whatever the storage holds. */
export function listProblem({ prefix, after, limit }: ListOptions, entries: readonly Entry[]): string | undefined {
  const ids = entries.map(({ key }) => keyText(key));
  const first = prefix.length === 0 ? '' : keyText(prefix);
  if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? ''))) return 'list returns entries out of order';
  if (ids.some((id) => !id.startsWith(first))) return 'list returns entries outside of the prefix';
  if (after && ids.some((id) => id <= keyText(after))) return 'list returns entries that are not after the given key';
  return ids.length > limit ? 'list returns more entries than the limit' : undefined;
}

/** Whether a key belongs into the listing, up to its last entry when it is full. */
export function isWithin(id: string, { prefix, after, limit }: ListOptions, entries: readonly Entry[]): boolean {
  const last = entries.length < limit ? undefined : entries.at(-1);
  return id.startsWith(prefix.length === 0 ? '' : keyText(prefix)) && (!after || id > keyText(after)) &&
    (!last || id < keyText(last.key));
}
