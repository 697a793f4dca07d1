/** The histories of all keys of a storage. */

import { type Key, keyText } from '../../base/key.ts';
import type { Entry, Storage } from '../../contracts/storage.ts';
import {
  type Interval,
  type KeyState,
  matchesRead,
  mayBeAbsent,
  readState,
  statesDuring,
  unknownState,
} from './key-history.ts';
import { isWithin } from './list-rules.ts';
import { shownKey } from './value-text.ts';

type ListOptions = Parameters<Storage['list']>[0];

/** The histories, and the checks of reads against them. */
export interface Histories {
  /** Returns the number of the next start or end of an operation. */
  tick(): number;
  of(key: Key): KeyState[];
  during(key: Key, at: Interval): readonly KeyState[];
  /** Notes what a read has returned, and returns what is wrong with it. */
  readProblem(
    key: Key,
    entry: Entry | undefined,
    read: { readonly at: Interval; readonly method: string },
  ): string | undefined;
  /** Returns what is wrong when a listing leaves out an entry. */
  missingProblem(options: ListOptions, entries: readonly Entry[], at: Interval): string | undefined;
}

/** Creates histories of nothing. */
export function createHistories(now: () => number): Histories {
  const histories = new Map<string, KeyState[]>();
  let ticks = 0;
  const of = (key: Key): KeyState[] => {
    const id = keyText(key);
    const known = histories.get(id) ?? [unknownState()];
    histories.set(id, known);
    return known;
  };
  return {
    tick: () => ++ticks,
    of,
    during: (key, at) => statesDuring(of(key), at),
    readProblem(key, entry, { at, method }) {
      const states = of(key);
      const match = statesDuring(states, at).find((state) => matchesRead(state, entry, now()));
      if (match?.isAny) states[states.indexOf(match)] = readState(entry, at.start);
      else if (match && entry) match.version = entry.version;
      if (match) return undefined;
      const isOld = states.some((state) => !state.isAny && matchesRead(state, entry, now()));
      const what = !entry ? 'misses' : isOld ? 'returns an old value of' : 'returns a value that was not written to';
      return `${method} ${what} ${shownKey(key)}`;
    },
    missingProblem(options, entries, at) {
      const listed = new Set(entries.map(({ key }) => keyText(key)));
      const isMissing = ([id, states]: readonly [string, readonly KeyState[]]): boolean =>
        !listed.has(id) && isWithin(id, options, entries) &&
        statesDuring(states, at).every((state) => !mayBeAbsent(state, now()));
      return histories.entries().some(isMissing) ? 'list leaves out an entry' : undefined;
    },
  };
}
