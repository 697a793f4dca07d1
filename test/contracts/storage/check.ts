/** Types and helpers of the storage checks. */

import type { Change, Entry, Storage } from '../../../src/contracts/storage.ts';
import { assert } from '../assert.ts';

/** A clock that stays still until a test sets it. */
export interface TestClock {
  readonly now: () => number;
  readonly advance: (ms: number) => void;
}

/** A store to check. Each check receives a fresh one, and opens each of the two at most once. */
export interface StorageSubject<Store extends Storage = Storage> {
  /** Opens the store, which is empty. */
  readonly open: () => Promise<Store>;
  /** Opens another namespace, which is empty too: another name, path or prefix. */
  readonly openOther: () => Promise<Store>;
  /** The clock that both stores go by. */
  readonly clock: TestClock;
}

/** One check, named by the fact that it proves. `run` rejects if the check fails. */
export interface StorageCheck<Store extends Storage = Storage> {
  readonly name: string;
  readonly run: (subject: StorageSubject<Store>) => Promise<void>;
}

/** Makes a clock for a subject. */
export function createTestClock(start = 1_800_000_000_000): TestClock {
  let time = start;
  return {
    now: () => time,
    advance: (ms) => {
      time += ms;
    },
  };
}

/** Commits a change that must succeed, and returns its version. */
export async function put(store: Storage, ...changes: Change[]): Promise<string> {
  const result = await store.commit(changes);
  assert(result.ok, 'The commit was answered with a conflict');
  return result.version;
}

/** Returns the entry that must be there. */
export async function mustGet(store: Storage, key: Entry['key']): Promise<Entry> {
  const entry = await store.get(key);
  assert(entry !== undefined, 'The entry is missing');
  return entry;
}

/** Lists everything under a prefix, page by page. */
export async function listAll(store: Storage, prefix: Entry['key'] = [], limit = 1000): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (;;) {
    const last = entries.at(-1);
    const page = await store.list({ prefix, limit, ...(last !== undefined && { after: last.key }) });
    entries.push(...page);
    if (page.length < limit) return entries;
  }
}
