/** The run that is forked: its record, its inputs and its chunks. */

import { PinnaceError } from '../base/errors.ts';
import type { Principal, Scope } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import { readJournal } from '../log/journal-record.ts';
import { isSuspended } from '../runtime/message-parts.ts';
import { readBasis, readStepNote, type RunBasis, type StepNote } from '../runtime/run-basis.ts';
import type { LostProgram, RuntimeParts } from '../runtime/run-context.ts';
import { runPrefix, type RunState, type StartedCalls } from '../runtime/run-record.ts';
import type { ForkOptions } from '../runtime/runtime.ts';
import { readEvents } from '../runtime/stored-run.ts';

/** A recorded chunk and its number. */
interface Item {
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

/** A log that is cut. */
export interface Cut {
  /** The first step that is made again. */
  readonly step: number;
  /** The chunks that are shared, without those that open the run. */
  readonly kept: readonly Item[];
  /** The chunks of the steps that are made again. */
  readonly dropped: readonly Item[];
  /** Chunks of the fork's own that complete what is shared. */
  readonly completing: readonly UIMessageChunk[];
  /** The programs of the last shared step that go on first; that step ends with them. */
  readonly programs: readonly LostProgram[];
}

const opening: ReadonlySet<string> = new Set(['start', 'data-run', 'data-manifest', 'data-fork']);

/**
 * Cuts a log before a step.
 *
 * @throws PinnaceError `invalid_argument` (`no_such_step`) for a step that the run has not reached, `conflict` (`approval_open`) where a
 * call before it waits for a person.
 */
export function cutBefore(items: readonly Item[], step: number): Cut {
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

/**
 * Cuts the log of a run whose instance was lost: behind its last step, where calls of that were made or started; else before it, so that
 * its model is asked again. Programs of that step go on: what ended them in the log is left out.
 */
export function cutLost(
  items: readonly Item[],
  { started, programs }: { readonly started: StartedCalls; readonly programs: readonly LostProgram[] },
): Cut {
  const starts = indexesOf(items, 'start-step');
  const ends = indexesOf(items, 'finish-step');
  if (starts.length === ends.length) return cutBefore(items, starts.length + 1);
  const step = starts.length;
  const torn = items.slice(starts.at(-1));
  const losses = programs.length === 0 ? [] : lossesIn(torn);
  const open = programs.filter(({ toolCallId }) => isOpenIn(torn, { toolCallId, losses }));
  if (open.length === 0 && !torn.some(({ chunk }) => isMade(chunk, started))) return cutBefore(items, step);
  const last = torn.findLast(({ chunk }) => isOfStep(chunk) && (open.length === 0 || !losses.includes(chunk)));
  const at = items.findIndex(({ seq }) => seq === last?.seq) + 1;
  const ids = new Set(open.map(({ toolCallId }) => toolCallId));
  const completing: readonly UIMessageChunk[] = open.length === 0
    ? [{ type: 'finish-step' }]
    : losses.filter((chunk) => !ids.has(callOf(chunk) ?? ''));
  return { step: step + 1, ...split(items, at), completing, programs: open };
}

/** The chunks that ended calls when the run was found to be lost. */
function lossesIn(torn: readonly Item[]): readonly UIMessageChunk[] {
  const lost = new Set(torn.flatMap(({ chunk }) => isLoss(chunk) ? [callOf(chunk)] : []));
  return torn.flatMap(({ chunk }) => isError(chunk) && lost.has(callOf(chunk)) ? [chunk] : []);
}

function isError({ type }: UIMessageChunk): boolean {
  return type === 'tool-output-error' || type === 'tool-input-error' || type === 'data-tool-error';
}

function isLoss(chunk: UIMessageChunk): boolean {
  if (chunk.type !== 'data-tool-error' || !('data' in chunk)) return false;
  const { details } = chunk.data as { readonly details?: { readonly reason?: unknown } }; // `toolErrorPart` alone writes it
  return details?.reason === 'worker_lost';
}

function callOf(chunk: UIMessageChunk): string | undefined {
  if ('toolCallId' in chunk) return chunk.toolCallId;
  return 'data' in chunk ? (chunk.data as { readonly toolCallId?: string }).toolCallId : undefined;
}

/** Whether these chunks have the call without a result of its own. */
function isOpenIn(
  torn: readonly Item[],
  { toolCallId, losses }: { readonly toolCallId: string; readonly losses: readonly UIMessageChunk[] },
): boolean {
  const own = torn.flatMap(({ chunk }) => callOf(chunk) === toolCallId ? [chunk] : []);
  return own.some(({ type }) => type === 'tool-input-available') &&
    !own.some((chunk) =>
      (chunk.type === 'tool-output-available' && !isSuspended(chunk.output)) ||
      (chunk.type === 'tool-output-error' && !losses.includes(chunk))
    );
}

function split(items: readonly Item[], at: number): Pick<Cut, 'kept' | 'dropped'> {
  const first = items.findIndex(({ chunk }) => !opening.has(chunk.type));
  return { kept: first < 0 ? [] : items.slice(first, Math.max(at, first)), dropped: items.slice(at) };
}

/** Whether a call has an output, or was recorded as started: its model had answered. */
function isMade(chunk: UIMessageChunk, started: StartedCalls): boolean {
  if (!('toolCallId' in chunk)) return false;
  return chunk.type === 'tool-output-available' || started.has(chunk.toolCallId);
}

function isOfStep({ type }: UIMessageChunk): boolean {
  return type !== 'data-usage' && type !== 'data-run' && type !== 'data-steering' && type !== 'error';
}

function indexesOf(items: readonly Item[], type: UIMessageChunk['type']): readonly number[] {
  return items.flatMap(({ chunk }, i) => chunk.type === type ? [i] : []);
}

function requireSettled(kept: readonly Item[]): void {
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
  /** Whether it continues a lost run, which happens once. */
  readonly isContinued: boolean;
}
