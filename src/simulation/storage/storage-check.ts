/** Checks the answers of a storage against the rules of its port, while an app uses it. */

import type { Key } from '../../base/key.ts';
import type { Change, CommitResult, Entry, Storage } from '../../contracts/storage.ts';
import { changedState, type KeyState, matchesVersion, mayConflict } from './key-history.ts';
import { createHistories, type Histories } from './histories.ts';
import { listProblem } from './list-rules.ts';
import { partsWritten, type UnknownCommit } from './partial-commit.ts';
import { shownKey } from './value-text.ts';

type ListOptions = Parameters<Storage['list']>[0];

/** The check of one storage, for all instances that use it. */
export interface StorageCheck {
  /** Rules that it has broken, each once. */
  readonly problems: ReadonlySet<string>;
  get(key: Key, work: () => Promise<Entry | undefined>): Promise<Entry | undefined>;
  list(options: ListOptions, work: () => Promise<Entry[]>): Promise<Entry[]>;
  commit(changes: readonly Change[], work: () => Promise<CommitResult>): Promise<CommitResult>;
  /** Checks that commits whose answer never came were written as a whole or not at all. Needs a storage that nothing uses now. */
  checkUnknown(storage: Storage): Promise<void>;
}

/** Creates a check. All writes must go through it. */
export function createStorageCheck(name: string, now: () => number): StorageCheck {
  const problems = new Set<string>();
  const broken = (what: string | undefined): void => void (what === undefined || problems.add(`${name} ${what}`));
  const histories = createHistories(now);
  const unknown = new Set<UnknownCommit>();
  return {
    problems,
    async get(key, work) {
      const start = histories.tick();
      const entry = await work();
      broken(histories.readProblem(key, entry, { at: { start, end: histories.tick() }, method: 'get' }));
      return entry;
    },
    async list(options, work) {
      const start = histories.tick();
      const entries = await work();
      const at = { start, end: histories.tick() };
      for (const entry of entries) broken(histories.readProblem(entry.key, entry, { at, method: 'list' }));
      broken(listProblem(options, entries) ?? histories.missingProblem(options, entries, at));
      return entries;
    },
    async commit(changes, work) {
      const start = histories.tick();
      const attempt = { start, made: startChanges(histories, changes, { start, now: now() }) };
      unknown.add(attempt);
      const result = await work();
      unknown.delete(attempt);
      broken(commitProblem(histories, { changes, attempt, result, now: now() }));
      return result;
    },
    async checkUnknown(storage) {
      for (const attempt of unknown) broken(await partsWritten(attempt, { storage, now }));
      unknown.clear();
    },
  };
}

function startChanges(
  histories: Histories,
  changes: readonly Change[],
  at: { readonly start: number; readonly now: number },
): UnknownCommit['made'] {
  return changes.filter(({ keep }) => !keep).map((change) => {
    const state = changedState(change, at);
    const states = histories.of(change.key);
    states.push(state);
    return { change, states, state };
  });
}

/** Notes the result of a commit, and returns what is wrong with it. */
function commitProblem(
  histories: Histories,
  { changes, attempt: { start, made }, result, now }: {
    readonly changes: readonly Change[];
    readonly attempt: UnknownCommit;
    readonly result: CommitResult;
    readonly now: number;
  },
): string | undefined {
  const at = { start, end: histories.tick() };
  const own = new Set(made.map(({ state }) => state));
  const checked = changes.flatMap(({ key, ifVersion }) => {
    const states = ifVersion === undefined ? [] : histories.during(key, at).filter((state) => !own.has(state));
    return ifVersion === undefined ? [] : [{ key, ifVersion, states }];
  });
  if (!result.ok) {
    for (const { states, state } of made) states.splice(states.indexOf(state), 1);
    const mayBe = checked.some(({ states, ifVersion }) => states.some((state) => mayConflict(state, ifVersion, now)));
    return mayBe ? undefined : 'commit reports a conflict, though every version is as expected';
  }
  for (const { states, state } of made) acknowledge(states, state, { start, end: at.end, version: result.version });
  const ignored = checked.find(({ states, ifVersion }) =>
    !states.some((state) => matchesVersion(state, ifVersion, now))
  );
  return ignored && `commit ignores that the version of ${shownKey(ignored.key)} has changed`;
}

/** The change is written: what was acknowledged before it started no longer holds. */
function acknowledge(
  states: readonly KeyState[],
  state: KeyState,
  { start, end, version }: { readonly start: number; readonly end: number; readonly version: string },
): void {
  state.version = version;
  state.acknowledgedAt = end;
  for (const other of states) {
    if (other === state) continue;
    // A commit that was rejected, and that checks its version, can no longer be written.
    const isBefore = other.acknowledgedAt < start ||
      other.acknowledgedAt === Infinity && other.isChecked && other.from < start;
    if (isBefore) other.until = Math.min(other.until, end);
  }
}
