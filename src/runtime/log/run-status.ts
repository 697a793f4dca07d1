/** The state of a run, as its caller sees it. */

import type { RunState } from './run-record.ts';

/** A run as its caller sees it. */
export interface RunStatus extends Omit<RunState, 'tenant' | 'span' | 'continues'> {
  readonly runId: string;
  readonly lastSeq: number;
}

/** Returns the status of a run with this state. */
export function toStatus(
  runId: string,
  { seq, state: { tenant: _, span: __, continues: ___, ...state } }: { seq: number; state: RunState },
): RunStatus {
  return { runId, ...state, lastSeq: seq };
}
