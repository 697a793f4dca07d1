/** What programs use of their run. Types only. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { PooledPrograms } from '../../tools/pooled-sandbox.ts';
import type { Invoke, RunCalls } from '../calls/run-calls.ts';
import type { LoopApprovals } from '../loop/loop-options.ts';
import type { RunOptions } from '../run-options.ts';

/** A run as its programs see it. */
export interface ProgramTargets extends Pick<RunOptions, 'stepTools' | 'toolSet'> {
  readonly invoke: Invoke;
  /** Counts a tool call that cannot be made. Returns the error where the run may make no more. */
  readonly countFailed: RunCalls['countFailed'];
  readonly approvals: Pick<LoopApprovals, 'needed' | 'describe'>;
  /** Adds a chunk to the stream. */
  readonly push: (chunk: UIMessageChunk) => void;
}

/** A run with programs. */
export interface ProgramRun extends ProgramTargets {
  readonly options: RunOptions;
  readonly sandbox: PooledPrograms;
  /** The call of `code_run` has changed something. */
  readonly acted: (toolCallId: string) => void;
}
