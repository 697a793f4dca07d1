/** The state of a run, as its caller sees it. */

import { ownerOfRun, type RunState } from './run-record.ts';

/** A run as its caller sees it. */
export interface RunStatus extends Omit<RunState, 'tenant' | 'actor' | 'span' | 'continues' | 'parent'> {
  readonly runId: string;
  readonly lastSeq: number;
  /** The run that this one was forked from, and its first step. */
  readonly parent?: { readonly runId: string; readonly step: number };
}

/** Returns the status of a run with this state. */
export function toStatus(
  runId: string,
  { seq, state }: { seq: number; state: RunState },
): RunStatus {
  const { tenant: _, actor: __, span: ___, continues: ____, parent, ...shown } = state;
  const { subject } = ownerOfRun(state);
  const from = parent && { parent: { runId: parent.runId, step: parent.step } };
  return { runId, ...shown, ...(subject !== undefined && { subject }), ...from, lastSeq: seq };
}
