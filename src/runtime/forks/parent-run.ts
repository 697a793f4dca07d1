/** The run that is forked: its record, its inputs and its chunks. */

import { PinnaceError } from '../../base/errors.ts';
import type { Principal, Scope } from '../../base/principal.ts';
import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import { readJournal } from '../../log/journal-record.ts';
import { runPrefix, type RunState } from '../run-record.ts';
import { readEvents } from '../stored-run.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { readBasis, type RunBasis } from './basis.ts';
import { readStepNote, type StepNote } from './step-notes.ts';

/** A recorded chunk and its number. */
export interface Item {
  readonly seq: number;
  readonly text: string;
  readonly chunk: UIMessageChunk;
}

/** A run with all that a fork is made of. */
export interface ParentRun {
  readonly runId: string;
  readonly state: RunState;
  readonly basis: RunBasis;
  /** What was committed. */
  readonly items: readonly Item[];
}

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
  const [basis, items] = await Promise.all([readBasis(runId, storage), readAll(runId, state, storage)]);
  if (!basis) throw notKept();
  return { runId, state, basis, items };
}

async function readAll(
  runId: string,
  { parent }: RunState,
  storage: RuntimeParts['storage'],
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let after = 0;;) {
    const events = await readEvents(runId, after, storage, parent);
    for (const { seq, text } of events) found.push({ seq, text, chunk: JSON.parse(text) as UIMessageChunk }); // `record` alone writes them
    if (events.length === 0) return found;
    after = events.at(-1)?.seq ?? after;
  }
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
