/** The state of a run, as its caller sees it. */

import type { RunState } from './run-record.ts';

/** A run as its caller sees it. */
export interface RunStatus extends Omit<RunState, 'tenant' | 'span' | 'continues' | 'parent'> {
  readonly runId: string;
  readonly lastSeq: number;
  /** The run that this one was forked from, and its first step. */
  readonly parent?: { readonly runId: string; readonly step: number };
}

/** Returns the status of a run with this state. */
export function toStatus(
  runId: string,
  { seq, state: { tenant: _, span: __, continues: ___, parent, ...state } }: { seq: number; state: RunState },
): RunStatus {
  const from = parent && { parent: { runId: parent.runId, step: parent.step } };
  return { runId, ...state, ...from, lastSeq: seq };
}
