/** Commits without an answer: they are written as a whole, or not at all. */

import type { Change, Storage } from '../../contracts/storage.ts';
import { type KeyState, matchesRead } from './key-history.ts';
import { shownKey } from './value-text.ts';

/** A commit that was rejected, or that never answered. */
export interface UnknownCommit {
  readonly made: readonly { readonly change: Change; readonly states: KeyState[]; readonly state: KeyState }[];
  readonly start: number;
}

/** Returns what is wrong when some of the changes are written and others are not. Skips keys that were written again. */
export async function partsWritten(
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
