/** Where a run goes on that an earlier one is the start of. Types only. */

import type { Key } from '../../base/key.ts';
import type { Money } from '../../base/record-fields.ts';
import type { ModelMessage, UIMessage, UIMessageChunk } from '../../contracts/ai-types.ts';
import type { Change } from '../../contracts/storage.ts';
import type { RunState } from '../run-record.ts';
import type { ProgramHome } from '../program-record.ts';

/** A program that has a journal, and whose run was lost. */
export interface LostProgram {
  readonly toolCallId: string;
  readonly home: ProgramHome;
}

/** Where a run goes on. */
export interface ResumedRun {
  /** The number of its first step. */
  readonly step: number;
  /** The ids of blocks in the steps before. */
  readonly shownIds: readonly string[];
  /** Used by the steps before. */
  readonly used: { readonly tokens: number; readonly cost?: Money | undefined };
  /** The chunks before its first step that are its own. */
  readonly opening: readonly UIMessageChunk[];
  /** The programs of its last step before, which were lost: they go on first. */
  readonly programs: readonly LostProgram[];
  /** Returns the chat as the model receives it, once the programs have gone on. */
  readonly toModel: (messages: readonly UIMessage[]) => readonly ModelMessage[];
  /** What the claim writes: the state, the first items of the log and the number of the last one, and other changes. */
  readonly claim: {
    readonly state: Pick<RunState, 'parent' | 'expiresAt'>;
    readonly log: { readonly items: readonly string[]; readonly seq: number };
    readonly beside: readonly Change[];
    /** Rejects where a conflict at one of these keys refuses the run. */
    readonly refuse: (conflicts: readonly Key[]) => Promise<void>;
  };
}
