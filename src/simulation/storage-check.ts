/** Checks the answers of a storage against the rules of its port, while an app uses it. */

import { isRecord } from '../base/is-record.ts';
import { type Key, keyText } from '../base/key.ts';
import type { Change, CommitResult, Entry, Storage } from '../contracts/storage.ts';

type ListOptions = Parameters<Storage['list']>[0];

export type StorageCheck = ReturnType<typeof createStorageCheck>;

export function createStorageCheck(name: string, now: () => number) {
  const problems = new Set<string>();
  const broken = (what: string | undefined): void => void (what === undefined || problems.add(`${name} ${what}`));
  const histories = createHistories(now);
  const unknown = new Set<UnknownCommit>();
  return {
    problems,
    async get(key: Key, work: () => Promise<Entry | undefined>): Promise<Entry | undefined> {
      const start = histories.tick();
      const entry = await work();
      broken(histories.readProblem(key, entry, { at: { start, end: histories.tick() }, method: 'get' }));
      return entry;
    },
    async list(options: ListOptions, work: () => Promise<Entry[]>): Promise<Entry[]> {
      const start = histories.tick();
      const entries = await work();
      const at = { start, end: histories.tick() };
      for (const entry of entries) broken(histories.readProblem(entry.key, entry, { at, method: 'list' }));
      broken(listProblem(options, entries) ?? histories.missingProblem(options, entries, at));
      return entries;
    },
    async commit(changes: readonly Change[], work: () => Promise<CommitResult>): Promise<CommitResult> {
      const start = histories.tick();
      const attempt = { start, made: startChanges(histories, changes, { start, now: now() }) };
      unknown.add(attempt);
      const result = await work();
      unknown.delete(attempt);
      broken(commitProblem(histories, { changes, attempt, result, now: now() }));
      return result;
    },
    /** Checks that commits whose answer never came were written as a whole or not at all. Needs a storage that nothing uses now. */
    async checkUnknown(storage: Storage): Promise<void> {
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

type Histories = ReturnType<typeof createHistories>;

function createHistories(now: () => number) {
  const histories = new Map<string, KeyState[]>();
  let ticks = 0;
  const of = (key: Key): KeyState[] => {
    const id = keyText(key);
    const known = histories.get(id) ?? [unknownState()];
    histories.set(id, known);
    return known;
  };
  return {
    /** Returns the number of the next start or end of an operation. */
    tick: (): number => ++ticks,
    of,
    during: (key: Key, at: Interval): readonly KeyState[] => statesDuring(of(key), at),
    /** Notes what a read has returned, and returns what is wrong with it. */
    readProblem(
      key: Key,
      entry: Entry | undefined,
      { at, method }: { readonly at: Interval; readonly method: string },
    ): string | undefined {
      const states = of(key);
      const match = statesDuring(states, at).find((state) => matchesRead(state, entry, now()));
      if (match?.isAny) states[states.indexOf(match)] = readState(entry, at.start);
      else if (match && entry) match.version = entry.version;
      if (match) return undefined;
      const isOld = states.some((state) => !state.isAny && matchesRead(state, entry, now()));
      const what = !entry ? 'misses' : isOld ? 'returns an old value of' : 'returns a value that was not written to';
      return `${method} ${what} ${shownKey(key)}`;
    },
    /** Returns what is wrong when a listing leaves out an entry. */
    missingProblem(options: ListOptions, entries: readonly Entry[], at: Interval): string | undefined {
      const listed = new Set(entries.map(({ key }) => keyText(key)));
      const isMissing = ([id, states]: readonly [string, readonly KeyState[]]): boolean =>
        !listed.has(id) && isWithin(id, options, entries) &&
        statesDuring(states, at).every((state) => !mayBeAbsent(state, now()));
      return histories.entries().some(isMissing) ? 'list leaves out an entry' : undefined;
    },
  };
}

interface Interval {
  readonly start: number;
  readonly end: number;
}

interface KeyState {
  /** `undefined`: absent. */
  readonly text: string | undefined;
  /** Unknown until it is read, or its commit is acknowledged. */
  version: string | undefined;
  /** When it may hold for the first and the last time. */
  readonly from: number;
  until: number;
  /** When its commit was acknowledged. */
  acknowledgedAt: number;
  readonly expiresAt: number;
  /** Whether its commit was to check the version of the key. */
  readonly isChecked: boolean;
  /** Nothing is known of it: it matches everything. */
  readonly isAny?: true;
}

/** Returns the state before the first operation that is known. */
function unknownState(): KeyState {
  const always = { from: 0, until: Infinity, acknowledgedAt: 0, expiresAt: Infinity };
  return { text: undefined, version: undefined, isChecked: false, isAny: true, ...always };
}

/** Returns the state that a change makes. */
function changedState(
  change: Change,
  { start, now }: { readonly start: number; readonly now: number },
): KeyState {
  return {
    text: change.value === undefined ? undefined : valueText(change.value),
    version: undefined,
    from: start,
    until: Infinity,
    acknowledgedAt: Infinity,
    expiresAt: now + (change.ttlMs ?? Infinity),
    isChecked: change.ifVersion !== undefined,
  };
}

function readState(entry: Entry | undefined, start: number): KeyState {
  const facts = { from: start, until: Infinity, acknowledgedAt: start, expiresAt: Infinity, isChecked: false };
  return { text: entry && valueText(entry.value), version: entry?.version, ...facts };
}

/** Returns the states that may hold at some time of the interval. */
function statesDuring(states: readonly KeyState[], { start, end }: Interval): readonly KeyState[] {
  return states.filter(({ from, until }) => from <= end && until >= start);
}

/** Whether the key may be absent in this state. */
function mayBeAbsent({ text, isAny, expiresAt }: KeyState, now: number): boolean {
  return isAny === true || text === undefined || expiresAt <= now;
}

/** Whether a read may return this in the state. */
function matchesRead(state: KeyState, entry: Entry | undefined, now: number): boolean {
  if (state.isAny) return true;
  if (!entry) return mayBeAbsent(state, now);
  const isVersion = state.version === undefined || state.version === entry.version;
  return isVersion && state.text === valueText(entry.value);
}

/** Whether a change with this `ifVersion` may succeed in the state. */
function matchesVersion(state: KeyState, ifVersion: string | null, now: number): boolean {
  if (state.isAny) return true;
  if (ifVersion === null) return mayBeAbsent(state, now);
  return state.text !== undefined && (state.version === undefined || state.version === ifVersion);
}

/** Whether a change with this `ifVersion` may conflict in the state. */
function mayConflict(state: KeyState, ifVersion: string | null, now: number): boolean {
  if (state.isAny || state.version === undefined && state.text !== undefined) return true;
  if (ifVersion === null) return state.text !== undefined;
  return mayBeAbsent(state, now) || state.version !== ifVersion;
}

/** Returns what is wrong with the entries of a listing, whatever the storage holds. */
function listProblem({ prefix, after, limit }: ListOptions, entries: readonly Entry[]): string | undefined {
  const ids = entries.map(({ key }) => keyText(key));
  const first = prefix.length === 0 ? '' : keyText(prefix);
  if (ids.some((id, at) => at > 0 && id <= (ids[at - 1] ?? ''))) return 'list returns entries out of order';
  if (ids.some((id) => !id.startsWith(first))) return 'list returns entries outside of the prefix';
  if (after && ids.some((id) => id <= keyText(after))) return 'list returns entries that are not after the given key';
  return ids.length > limit ? 'list returns more entries than the limit' : undefined;
}

/** Whether a key belongs into the listing, up to its last entry when it is full. */
function isWithin(id: string, { prefix, after, limit }: ListOptions, entries: readonly Entry[]): boolean {
  const last = entries.length < limit ? undefined : entries.at(-1);
  return id.startsWith(prefix.length === 0 ? '' : keyText(prefix)) && (!after || id > keyText(after)) &&
    (!last || id < keyText(last.key));
}

/** A commit that was rejected, or that never answered. */
interface UnknownCommit {
  readonly made: readonly { readonly change: Change; readonly states: KeyState[]; readonly state: KeyState }[];
  readonly start: number;
}

/** Returns what is wrong when some of the changes are written and others are not. Skips keys that were written again. */
async function partsWritten(
  { made, start }: UnknownCommit,
  { storage, now }: { readonly storage: Storage; readonly now: () => number },
): Promise<string | undefined> {
  const [written, missing]: [Change[], Change[]] = [[], []];
  for (const { change, states, state } of made) {
    if (states.some(({ from }) => from > start) || states.some(({ isAny }) => isAny) && change.ifVersion !== null) {
      continue;
    }
    const entry = await storage.get(change.key);
    const isNew = matchesRead(state, entry, now());
    const isOld = states.some((one) => one !== state && !one.isAny && matchesRead(one, entry, now())) ||
      change.ifVersion === null && entry === undefined;
    if (isNew !== isOld) (isNew ? written : missing).push(change);
  }
  const [one] = missing;
  if (written.length === 0 || !one) return undefined;
  return `commit without an answer is written in part: ${shownKey(written[0]?.key ?? [])} is, ${
    shownKey(one.key)
  } is not`;
}

/** Returns a text that two values have in common only when they are equal. Stores may reorder the members of objects. */
export function valueText(value: unknown): string {
  return JSON.stringify(plain(value)) ?? 'undefined';
}

function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return { bigint: String(value) };
  if (value instanceof Date) return { date: value.getTime() };
  if (value instanceof Map) return { map: [...value].map((entry) => entry.map(plain)) };
  if (value instanceof Set) return { set: [...value].map(plain) };
  if (ArrayBuffer.isView(value)) {
    return { bytes: [...new Uint8Array(value.buffer, value.byteOffset, value.byteLength)] };
  }
  if (Array.isArray(value)) return value.map(plain);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.keys(value).toSorted().map((name) => [name, plain(value[name])]));
}

/** Returns a key as a report shows it: without ids, which differ from seed to seed. */
function shownKey(key: Key): string {
  const parts = key.map((part) =>
    typeof part === 'string' && /[0-9a-f]{16}|[0-9a-f]{8}-[0-9a-f]{4}-/.test(part) ? '<id>' : JSON.stringify(part)
  );
  return `[${parts.join(', ')}]`;
}
