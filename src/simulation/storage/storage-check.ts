/** Checks the answers of a storage against the rules of its port, while an app uses it. */

import { type Key, keyText } from '../../base/key.ts';
import type { Change, CommitResult, Entry, Storage } from '../../contracts/storage.ts';
import {
  changedState,
  type Interval,
  type KeyState,
  matchesRead,
  matchesVersion,
  mayBeAbsent,
  mayConflict,
  readState,
  statesDuring,
  unknownState,
} from './key-history.ts';
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
  const histories = new Map<string, KeyState[]>();
  const unknown: UnknownCommit[] = [];
  let operations = 0;
  const broken = (what: string): void => void problems.add(`${name} ${what}`);
  const historyOf = (key: Key): KeyState[] => {
    const id = keyText(key);
    const known = histories.get(id) ?? [unknownState()];
    histories.set(id, known);
    return known;
  };
  const during = async <T>(work: () => Promise<T>): Promise<{ readonly value: T; readonly at: Interval }> => {
    const start = ++operations;
    const value = await work();
    return { value, at: { start, end: ++operations } };
  };
  const checkEntry = (key: Key, entry: Entry | undefined, { at, method }: { at: Interval; method: string }): void => {
    const states = historyOf(key);
    const match = statesDuring(states, at).find((state) => matchesRead(state, entry, now()));
    if (!match) {
      const isOld = states.some((state) => matchesRead(state, entry, now()));
      const what = !entry ? 'misses' : isOld ? 'returns an old value of' : 'returns a value that was never written to';
      return broken(`${method} ${what} ${shownKey(key)}`);
    }
    if (match.isAny) histories.set(keyText(key), settled(states, match, readState(entry, at.start)));
    else if (entry) match.version = entry.version;
  };
  return {
    problems,
    async get(key, work) {
      const { value, at } = await during(work);
      checkEntry(key, value, { at, method: 'get' });
      return value;
    },
    async list(options, work) {
      const { value, at } = await during(work);
      for (const entry of value) checkEntry(entry.key, entry, { at, method: 'list' });
      const problem = listProblem(options, value);
      if (problem) broken(`list ${problem}`);
      const listed = new Set(value.map(({ key }) => keyText(key)));
      const [first, last] = boundsOf(options, value);
      for (const [id, states] of histories) {
        if (listed.has(id) || !id.startsWith(first.prefix) || id <= first.after || id > last) continue;
        if (statesDuring(states, at).every((state) => !mayBeAbsent(state, now()))) broken('list leaves out an entry');
      }
      return value;
    },
    async commit(changes, work) {
      const start = ++operations;
      const made = changes.filter(({ keep }) => !keep).map((change) => {
        const [states, state] = [historyOf(change.key), changedState(change, { start, now: now() })];
        states.push(state);
        return { change, states, state };
      });
      const attempt: UnknownCommit = { made, start };
      unknown.push(attempt);
      const result = await work();
      unknown.splice(unknown.indexOf(attempt), 1);
      const at = { start, end: ++operations };
      const own = new Set(made.map(({ state }) => state));
      const others = ({ key }: Change): readonly KeyState[] =>
        statesDuring(historyOf(key), at).filter((one) => !own.has(one));
      const checked = changes.flatMap((change) =>
        change.ifVersion === undefined ? [] : [{ change, ifVersion: change.ifVersion }]
      );
      if (result.ok) {
        for (const { change, ifVersion } of checked) {
          if (others(change).some((state) => matchesVersion(state, ifVersion, now()))) continue;
          broken(`commit ignores that the version of ${shownKey(change.key)} has changed`);
        }
        for (const one of made) acknowledge(one, { at, version: result.version });
      } else {
        const mayBe = checked.some(({ change, ifVersion }) =>
          others(change).some((state) => mayConflict(state, ifVersion, now()))
        );
        if (!mayBe) broken('commit reports a conflict, though every version is as expected');
        for (const { states, state } of made) states.splice(states.indexOf(state), 1);
      }
      return result;
    },
    async checkUnknown(storage) {
      for (const attempt of unknown.splice(0)) {
        const problem = await partsWritten(attempt, { storage, now });
        if (problem) broken(problem);
      }
    },
  };
}

function settled(states: readonly KeyState[], old: KeyState, found: KeyState): KeyState[] {
  return states.map((state) => state === old ? found : state);
}

/** The change is written: what was acknowledged before it started no longer holds. */
function acknowledge(
  { states, state }: { readonly states: KeyState[]; readonly state: KeyState },
  { at, version }: { readonly at: Interval; readonly version: string },
): void {
  state.version = version;
  state.acknowledgedAt = at.end;
  for (const other of states) {
    if (other === state) continue;
    const isBefore = other.acknowledgedAt < at.start ||
      other.acknowledgedAt === Infinity && other.isChecked && other.from < at.start;
    if (isBefore) other.until = Math.min(other.until, at.end);
  }
}

function listProblem({ prefix, after, limit }: ListOptions, entries: readonly Entry[]): string | undefined {
  const ids = entries.map(({ key }) => keyText(key));
  const first = prefix.length === 0 ? '' : keyText(prefix);
  if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? ''))) return 'returns entries out of order';
  if (ids.some((id) => !id.startsWith(first))) return 'returns entries outside of the prefix';
  if (after && ids.some((id) => id <= keyText(after))) return 'returns entries that are not after the given key';
  return ids.length > limit ? 'returns more entries than the limit' : undefined;
}

/** The texts of keys between which every entry must be listed. */
function boundsOf({ prefix, after, limit }: ListOptions, entries: readonly Entry[]) {
  const last = entries.length < limit ? undefined : entries.at(-1);
  return [
    { prefix: prefix.length === 0 ? '' : keyText(prefix), after: after ? keyText(after) : '' },
    last ? keyText(last.key) : '\xff',
  ] as const;
}
