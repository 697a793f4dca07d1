/** The seam between the tool `code_run` and the run whose tools a program calls. */

import type { ToolContext } from './tool.ts';
import type { Closable } from './run-scope.ts';

/** The id of the tool that runs programs. */
export const codeRunId = 'code_run';

/** Runs programs. A run keeps its host in its scope, under {@link programHostKey}. */
export interface ProgramHost extends Closable {
  /** Returns what the program returned. Rejects with the `PinnaceError` of a program that was not run to its end. */
  run(code: string, context: ToolContext): Promise<unknown>;
}

/** The key of the host in a run's scope. */
export const programHostKey: object = {};
