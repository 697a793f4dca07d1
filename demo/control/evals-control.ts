/** The worker's interface for test cases: recorded runs that are run again and checked. */

import type { ErrorData } from '../../src/base/errors.ts';
import type { EvalReport } from '../../src/evals/evaluate.ts';
import type { RunFacts } from '../../src/evals/eval-case.ts';

/** A test case in the list. */
export interface CaseHead {
  /** The id of the run that it was made of. */
  readonly id: string;
  readonly agentId: string;
  /** The revision of the agent when the run was recorded. */
  readonly revision: number;
  readonly message: string;
  readonly expected: RunFacts;
}

export interface EvalSetting {
  /** Each agent as it is now, or as it was when its case was recorded. */
  readonly agent: 'current' | 'recorded';
  /** Another model than the agent's. */
  readonly model?: { readonly providerId: string; readonly modelId?: string | undefined } | undefined;
  /** `auto` calls the model only for answers that the tape does not have; `replay` calls none; `record` calls it for each. */
  readonly answers: 'auto' | 'replay' | 'record';
}

export interface StoredReport {
  /** When it was made, in milliseconds since 1970; its id. */
  readonly at: number;
  readonly setting: EvalSetting;
  /** The revisions of the agents that ran, by their ids. */
  readonly revisions: Readonly<Record<string, number>>;
  readonly report: EvalReport;
}

/** Everything about test cases. */
export interface Evals {
  readonly cases: readonly CaseHead[];
  /** The latest first. */
  readonly reports: readonly StoredReport[];
}

/** The contents of the files that `npx pinnace evals` reads. */
export interface EvalFilesText {
  readonly cases: string;
  readonly tape: string;
}

/** The value or the error. Errors cross as data: comlink would drop their codes. */
export type Answered<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly error: ErrorData };

/** The test cases of this page's worker, called over comlink. */
export interface EvalsControl {
  list(): Promise<Answered<Evals>>;
  /** Makes a case of a run; a run that is a case already stays one. */
  add(runId: string): Promise<Answered<Evals>>;
  remove(id: string): Promise<Answered<Evals>>;
  /** Runs all cases, and stores the report. */
  run(setting: EvalSetting): Promise<Answered<Evals>>;
  files(): Promise<Answered<EvalFilesText>>;
}
