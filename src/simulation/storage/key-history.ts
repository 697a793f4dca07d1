/** What one key of a storage may hold at a time, as far as the answers of the storage say. */

import type { Change, Entry } from '../../contracts/storage.ts';
import { valueText } from './value-text.ts';

/** An interval of operations: the numbers at which one started and ended. */
export interface Interval {
  readonly start: number;
  readonly end: number;
}

/** A state of a key. */
export interface KeyState {
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
export function unknownState(): KeyState {
  const always = { from: 0, until: Infinity, acknowledgedAt: 0, expiresAt: Infinity };
  return { text: undefined, version: undefined, isChecked: false, isAny: true, ...always };
}

/** Returns the state that a change makes. */
export function changedState(
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

/** Returns the state that a read has shown. */
export function readState(entry: Entry | undefined, start: number): KeyState {
  const facts = { from: start, until: Infinity, acknowledgedAt: start, expiresAt: Infinity, isChecked: false };
  return { text: entry && valueText(entry.value), version: entry?.version, ...facts };
}

/** Returns the states that may hold at some time of the interval. */
export function statesDuring(states: readonly KeyState[], { start, end }: Interval): readonly KeyState[] {
  return states.filter(({ from, until }) => from <= end && until >= start);
}

/** Whether the key may be absent in this state. */
export function mayBeAbsent({ text, isAny, expiresAt }: KeyState, now: number): boolean {
  return isAny === true || text === undefined || expiresAt <= now;
}

/** Whether a read may return this in the state. */
export function matchesRead(state: KeyState, entry: Entry | undefined, now: number): boolean {
  if (state.isAny) return true;
  if (!entry) return mayBeAbsent(state, now);
  const isVersion = state.version === undefined || state.version === entry.version;
  return isVersion && state.text === valueText(entry.value);
}

/** Whether a change with this `ifVersion` may succeed in the state. */
export function matchesVersion(state: KeyState, ifVersion: string | null, now: number): boolean {
  if (state.isAny) return true;
  if (ifVersion === null) return mayBeAbsent(state, now);
  return state.text !== undefined && (state.version === undefined || state.version === ifVersion);
}

/** Whether a change with this `ifVersion` may conflict in the state. */
export function mayConflict(state: KeyState, ifVersion: string | null, now: number): boolean {
  if (state.isAny || state.version === undefined && state.text !== undefined) return true;
  if (ifVersion === null) return state.text !== undefined;
  return mayBeAbsent(state, now) || state.version !== ifVersion;
}
