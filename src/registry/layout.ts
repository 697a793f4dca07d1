/** Where a registry stores what, in a `Storage`. The keys of shared records are those of registries without tenants. */

import type { Key } from '../base/key.ts';
import type { RecordScope } from './owner.ts';

/** Counted up by every write: what a write has read is still so when the count is unchanged. */
export const headKey: Key = ['registry', 'head'];

/** The record itself; without an id, the prefix of all records of the kind and the owner. */
export function recordKey(place: RecordScope, ...id: readonly string[]): Key {
  return [...prefixOf('record', place), ...id];
}

/** The last revision of a record that was removed, so that none is used again. */
export function removedKey(place: RecordScope, id: string): Key {
  return [...prefixOf('removed', place), id];
}

/** The second part of the keys of the history. */
export const historyPart = 'history';

/** One change of a record, by the revision that it made; without a revision, the prefix of all. */
export function historyKey(place: RecordScope, id: string, ...revision: readonly number[]): Key {
  return [...prefixOf(historyPart, place), id, ...revision];
}

/** That an agent of the owner names a record; without an agent, the prefix of all that do. */
export function useKey(place: RecordScope, id: string, ...agentId: readonly string[]): Key {
  return [...prefixOf('use', place), id, ...agentId];
}

/** No kind is called `@`, so no prefix of a kind holds what is a tenant's. */
function prefixOf(
  part: 'record' | 'removed' | typeof historyPart | 'use',
  { kind, owner }: RecordScope,
): readonly string[] {
  return owner === undefined ? ['registry', part, kind] : ['registry', part, '@', owner, kind];
}
