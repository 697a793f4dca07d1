/** Where a registry keeps what, in a `Storage`. */

import type { Key } from '../../key.ts';
import type { RecordKind } from '../../record-kinds.ts';

/** Counted up by every write: what a write has read is still so when the count is unchanged. */
export const headKey: Key = ['registry', 'head'];

/** The record itself; without an id, the prefix of all records of the kind. */
export function recordKey(kind: RecordKind, ...id: readonly string[]): Key {
  return ['registry', 'record', kind, ...id];
}

/** The last revision of a record that was removed, so that none is used again. */
export function removedKey(kind: RecordKind, id: string): Key {
  return ['registry', 'removed', kind, id];
}

/** The second part of the keys of the history. */
export const historyPart = 'history';

/** One change of a record, by the revision that it made; without a revision, the prefix of all. */
export function historyKey(kind: RecordKind, id: string, ...revision: readonly number[]): Key {
  return ['registry', historyPart, kind, id, ...revision];
}

/** That an agent names a record; without an agent, the prefix of all that do. */
export function useKey(kind: RecordKind, id: string, ...agentId: readonly string[]): Key {
  return ['registry', 'use', kind, id, ...agentId];
}
