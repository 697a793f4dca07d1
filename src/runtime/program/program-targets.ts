/** What programs use of their run. Types only. */

import type { UIMessageChunk } from '../../contracts/ai-types.ts';
import type { PooledPrograms } from '../../tools/pooled-sandbox.ts';
import type { RunCalls } from '../../tools/run-calls.ts';
import type { RunOptions } from '../run-options.ts';

/** A run as its programs see it. */
export interface ProgramTargets extends Pick<RunOptions, 'stepTools' | 'toolSet'> {
  readonly calls: RunCalls;
  /** Adds a chunk to the stream. */
  readonly push: (chunk: UIMessageChunk) => void;
}

/** A run with programs. */
export interface ProgramRun extends ProgramTargets {
  readonly options: RunOptions;
  readonly sandbox: PooledPrograms;
}
