/** The run that is forked: its record, its inputs and its chunks. */

import { PinnaceError } from '../base/errors.ts';
import type { Principal, Scope } from '../base/principal.ts';
import { readJournal } from '../log/journal-record.ts';
import { type Cut, indexesOf, opening, type ParentRun, split } from '../runtime/resume-run.ts';
import { readLog } from '../runtime/stored-run.ts';
import { readBasis, readStepNote, type StepNote } from '../runtime/run-basis.ts';
import type { RuntimeParts } from '../runtime/run-context.ts';
import { type RecordedChunk, runPrefix, type RunState } from '../runtime/run-record.ts';
import type { ForkOptions } from '../runtime/runtime.ts';

/**
 * Reads a run to fork.
 *
 * @throws PinnaceError `not_found` for the run of another person, `run_expired`, `invalid_argument` (`fork_of_plan`), and `not_found`
 * (`inputs_not_kept`).
 */
export async function readParent(
  { runs, storage }: Pick<RuntimeParts, 'runs' | 'storage'>,
  principal: Principal,
  { runId, scope }: { readonly runId: string; readonly scope?: Scope },
): Promise<ParentRun> {
  const state = await runs.state(principal, runId, scope);
  if (state.planId !== undefined) throw ofPlan();
  const [basis, items] = await Promise.all([readBasis(runId, storage), readLog(runId, storage, state.parent)]);
  if (!basis) throw notKept();
  return { runId, state, basis, items };
}

/** The record of a step, and the run that made it. */
export interface NotedStep extends StepNote {
  readonly runId: string;
}

/** Reads the record of a step: that of the run which made it. */
export async function noteOf(
  { runId, state }: Pick<ParentRun, 'runId' | 'state'>,
  step: number,
  storage: RuntimeParts['storage'],
): Promise<NotedStep | undefined> {
  if (!state.parent || step >= state.parent.step) {
    const note = await readStepNote(runId, step, storage);
    return note && { ...note, runId };
  }
  const above = await readJournal<RunState>(storage, runPrefix(state.parent.runId));
  return above && await noteOf({ runId: state.parent.runId, state: above.head.state }, step, storage);
}

function ofPlan(): PinnaceError {
  return new PinnaceError('invalid_argument', 'Cannot fork the run: it follows a plan', {
    details: { reason: 'fork_of_plan' },
  });
}

function notKept(): PinnaceError {
  return new PinnaceError(
    'not_found',
    "Cannot fork the run: its inputs were not recorded; compose the runtime with keep: 'inputs'",
    { details: { reason: 'inputs_not_kept' } },
  );
}

/**
 * Cuts a log before a step.
 *
 * @throws PinnaceError `invalid_argument` (`no_such_step`) for a step that the run has not reached, `conflict` (`approval_open`) where a
 * call before it waits for a person.
 */
export function cutBefore(items: readonly RecordedChunk[], step: number): Cut {
  const starts = indexesOf(items, 'start-step');
  const ends = indexesOf(items, 'finish-step');
  const start = starts[step - 1];
  const isNext = start === undefined && step === starts.length + 1 && ends.length === starts.length;
  if (start === undefined && !isNext) throw noSuchStep(step, starts.length);
  const at = start ?? (ends.at(-1) ?? items.findLastIndex(({ chunk }) => opening.has(chunk.type))) + 1;
  const cut = { step, ...split(items, at), completing: [], programs: [] };
  requireSettled(cut.kept);
  return cut;
}

function requireSettled(kept: readonly RecordedChunk[]): void {
  const waiting = new Set<string>();
  for (const { chunk } of kept) {
    if (chunk.type === 'tool-approval-request') waiting.add(chunk.toolCallId);
    else if (chunk.type.startsWith('tool-output') && 'toolCallId' in chunk) waiting.delete(chunk.toolCallId);
  }
  if (waiting.size === 0) return;
  throw new PinnaceError('conflict', 'Cannot fork the run here: a call before this step waits for a person', {
    retryable: false,
    details: { reason: 'approval_open' },
  });
}

function noSuchStep(step: number, steps: number): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot fork the run at step ${step}: it has made ${steps}`, {
    details: { reason: 'no_such_step', steps },
  });
}

/** What is forked, where, and how. */
export interface ForkPlan {
  readonly parent: ParentRun;
  readonly cut: Cut;
  readonly options: ForkOptions;
  readonly changed: readonly string[];
  readonly effects: 'dry' | 'live';
}
