/** Evals of files, for command lines: an exit code and a table. */

import { compare, toTable } from './compare.ts';
import { type EvalCase, fromJsonLines } from './eval-case.ts';
import { type EvalReport, evaluate, type EvaluateOptions } from './evaluate.ts';
import { recorded } from './recorded.ts';
import { textTape } from './tape.ts';

/** The contents of files. */
export interface EvalFiles {
  /** JSONL of cases. */
  readonly cases: string;
  /** JSONL of a tape; the subject's own models answer when absent. */
  readonly tape?: string;
  /** JSON of an earlier report. */
  readonly baseline?: string;
}

/** The outcome of a command. */
export interface EvalsResult {
  /** 0; 1 where a case is worse, or without a baseline fails; 2 where the tape lacks an answer. */
  readonly exitCode: 0 | 1 | 2;
  readonly report: EvalReport;
  readonly table: string;
}

/** Runs the cases of files. */
export async function runEvals(
  { cases, tape, baseline }: EvalFiles,
  options: Omit<EvaluateOptions, 'cases' | 'models'>,
): Promise<EvalsResult> {
  const models = tape === undefined ? {} : { models: recorded(textTape(tape)) };
  const report = await evaluate({ ...options, ...models, cases: fromJsonLines<EvalCase>(cases) });
  const comparison = baseline === undefined ? undefined : compare(JSON.parse(baseline) as EvalReport, report); // as written before
  const isWorse = comparison ? comparison.worse > 0 : report.failed > 0;
  return { exitCode: report.misses > 0 ? 2 : isWorse ? 1 : 0, report, table: toTable(report, comparison) };
}
