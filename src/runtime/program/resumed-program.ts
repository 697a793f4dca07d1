/** A program that goes on, or starts: what it is, and what it did before. */

import type { StoredJournal } from '../../log/journal-record.ts';
import type { SpentDecision, Unspendable } from '../../permission/interruption.ts';
import type { ProgramHome, ProgramPast, ProgramState } from './program-record.ts';

/** A program to run from its start, with what it did before. */
export interface Resumed {
  readonly home: ProgramHome;
  readonly state: ProgramState;
  readonly past: ProgramPast;
  readonly decisions: ReadonlyMap<number, SpentDecision | Unspendable>;
  /** The journal that was taken over; absent for a new program. */
  readonly taken: StoredJournal<ProgramState> | undefined;
}

/** What a decision on a call of a program is about, besides the chat and the agent. */
export function programSubject(
  { codeDigest }: Pick<ProgramState, 'codeDigest'>,
  { definition, digest, n }: { readonly definition: unknown; readonly digest: string; readonly n: number },
): readonly unknown[] {
  return [definition, digest, codeDigest, n];
}
