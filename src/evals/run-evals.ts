/** Evals of files, for command lines: an exit code and a table. */

import { type EvalCase, fromJsonLines } from './eval-case.ts';
import { type CaseReport, type EvalReport, evaluate, type EvaluateOptions } from './evaluate.ts';
import { recorded, textTape } from './tape.ts';

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

/** How a case has changed. */
export interface CaseChange {
  readonly id: string;
  readonly change: 'better' | 'worse' | 'same' | 'new' | 'removed';
  readonly before?: string;
  readonly after?: string;
}

/** How the cases have changed. */
export interface Comparison {
  readonly cases: readonly CaseChange[];
  readonly better: number;
  readonly worse: number;
}

/** Compares a report with an earlier one. Repeated cases differ where the 95 % intervals of their pass rates do not meet. */
export function compare(baseline: EvalReport, report: EvalReport): Comparison {
  const before = new Map(baseline.cases.map((one) => [one.id, one]));
  const after = new Map(report.cases.map((one) => [one.id, one]));
  const cases = [...new Set([...before.keys(), ...after.keys()])].map((id) =>
    changeOf(id, before.get(id), after.get(id))
  );
  const count = (change: CaseChange['change']): number => cases.filter((one) => one.change === change).length;
  return { cases, better: count('better'), worse: count('worse') };
}

function changeOf(id: string, before: CaseReport | undefined, after: CaseReport | undefined): CaseChange {
  const rates = { ...(before && { before: rateOf(before) }), ...(after && { after: rateOf(after) }) };
  if (!before || !after) return { id, change: before ? 'removed' : 'new', ...rates };
  if (before.runs === 1 && after.runs === 1) {
    const change = before.pass === after.pass ? 'same' : after.pass ? 'better' : 'worse';
    return { id, change, ...rates };
  }
  const [[low, high], [lower, higher]] = [wilson(before.passed, before.runs), wilson(after.passed, after.runs)];
  return { id, change: higher < low ? 'worse' : lower > high ? 'better' : 'same', ...rates };
}

function rateOf({ passed, runs }: CaseReport): string {
  return `${passed}/${runs}`;
}

/** The interval of a rate (Wilson 1927), by default at 95 %. */
export function wilson(passed: number, runs: number, z = 1.96): readonly [low: number, high: number] {
  if (runs === 0) return [0, 1];
  const rate = passed / runs;
  const center = rate + z * z / (2 * runs);
  const spread = z * Math.sqrt((rate * (1 - rate) + z * z / (4 * runs)) / runs);
  const scale = 1 + z * z / runs;
  return [Math.max(0, (center - spread) / scale), Math.min(1, (center + spread) / scale)];
}

/** Prints a report as a table, with the changes since another one. */
export function toTable(report: EvalReport, comparison?: Comparison): string {
  const changes = new Map(comparison?.cases.map((one) => [one.id, one.change]));
  const rows = report.cases.map(({ id, passed, runs, findings, run }) => [
    id,
    `${passed}/${runs}`,
    changes.get(id) ?? '',
    `${Number(run.usage['totalTokens'] ?? 0)}`,
    findings.filter(({ pass }) => !pass).map(({ check, message }) => `${check}: ${message}`).join('; '),
  ]);
  const table = [['case', 'passed', 'change', 'tokens', 'findings'], ...rows];
  const widths = table[0]?.map((_, i) => Math.max(...table.map((row) => row[i]?.length ?? 0))) ?? [];
  const lines = table.map((row) => row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join('  ').trimEnd());
  return [...lines, `${report.passed} passed, ${report.failed} failed, ${report.misses} not on the tape`].join('\n');
}
