/** `pinnace/evals`: test cases from recorded runs, models from tapes, checks and reports. */

export { type BudgetCheck, type Check, checks, type EvalRun, type Finding, type JudgeOptions } from './checks.ts';
export { type CaseChange, compare, type Comparison, toTable, wilson } from './run-evals.ts';
export {
  type Dataset,
  datasetOf,
  type DatasetOptions,
  type EvalCase,
  fromJsonLines,
  toJsonLines,
} from './eval-case.ts';
export {
  type CaseReport,
  type EvalReport,
  type EvalSubject,
  evaluate,
  type EvaluateOptions,
  expectPass,
} from './evaluate.ts';
export { recorded, type RecordedModels, type RecordedOptions } from './tape.ts';
export { type EvalFiles, type EvalsResult, runEvals } from './run-evals.ts';
export type { CallFacts, RunFacts } from './eval-case.ts';
export { storageTape, type Tape, type TapeEntry, type TextTape, textTape } from './tape.ts';
