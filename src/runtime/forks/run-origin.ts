/** What a run that does not start with its request adds to the pipeline. Types only. */

import type { Agent } from '../../base/schema.ts';
import type { ResolvedRun, RunIdentity } from '../run-options.ts';

/** An earlier run, from which a new one goes on. */
export interface RunOrigin {
  /** Returns the record to run in place of today's; absent, it is today's with the settings of the request. */
  readonly agent?: (today: Agent) => Agent;
  /** Completes the run with what the earlier one has done. Rejects where it cannot go on. */
  readonly resume: (resolved: ResolvedRun, run: Resuming) => Promise<ResolvedRun>;
}

/** The run that is to be completed. */
export type Resuming = Pick<RunIdentity, 'runId' | 'principal' | 'redaction' | 'span' | 'abort'>;
