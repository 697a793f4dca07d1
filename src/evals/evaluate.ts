/** Runs cases and checks what they do. */

import { checkNames, optional } from '../base/check-options.ts';
import { type ErrorData, toData } from '../base/errors.ts';
import { localPrincipal, type Principal } from '../base/principal.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { ModelSource } from '../contracts/model-source.ts';
import type { HostedRuntime } from '../runtime/runtime.ts';
import type { Check, Finding } from './checks.ts';
import { callChunks, type EvalCase, readRunChunks, type RunFacts } from './eval-case.ts';

/** What is tested: how its runtime is composed, and which agent of it runs. */
export interface EvalSubject {
  readonly createRuntime: (parts: { readonly models?: ModelSource }) => HostedRuntime;
  /** Runs in place of the agent of each case. */
  readonly agentId?: string;
}

/** What to run, and how to check it. */
export interface EvaluateOptions {
  /** The cases to run. */
  readonly cases: readonly EvalCase[];
  /** Creates the runtime that is tested. */
  readonly subject: EvalSubject;
  /** The models of the runtime, as `recorded(tape)`; the subject's own when absent. */
  readonly models?: ModelSource;
  /**
   * `recorded` (the default): tools answer from the case. `reads`: tools that only read run, others answer from the case. `live`: all
   * run. A call that the case does not have fails with `forbidden`, reason `fork_dry`.
   */
  readonly effects?: 'recorded' | 'reads' | 'live';
  /** What every result must pass. */
  readonly checks: readonly Check[];
  /** How often each case runs; 1 when absent. */
  readonly repeat?: number;
  /** The caller of the runs; `localPrincipal()` when absent. */
  readonly principal?: Principal;
  /** Stops the evaluation. */
  readonly signal?: AbortSignal;
  /** A report that was interrupted: its cases do not run again. */
  readonly before?: EvalReport;
}

/** What became of a case. */
export interface CaseReport {
  readonly id: string;
  readonly pass: boolean;
  /** How many of its runs passed. */
  readonly passed: number;
  readonly runs: number;
  /** Of its last run. */
  readonly findings: readonly Finding[];
  readonly run: RunFacts;
}

/** What became of all cases. */
export interface EvalReport {
  readonly v: 1;
  readonly cases: readonly CaseReport[];
  readonly passed: number;
  readonly failed: number;
  /** How many cases needed an answer that the tape does not have. */
  readonly misses: number;
}

/**
 * Runs each case and checks it.
 *
 * @example
 * const report = await evaluate({ cases, subject, models: recorded(tape), checks: [checks.state('completed')] });
 */
export async function evaluate(options: EvaluateOptions): Promise<EvalReport> {
  checkNames(
    'evaluate',
    options,
    optional('cases', 'subject', 'models', 'repeat', 'before', 'signal', 'checks', 'effects', 'principal'),
  );
  const { cases, subject, models, repeat = 1, before, signal } = options;
  const known = new Map(before?.cases.map((one) => [one.id, one]));
  const runtime = subject.createRuntime(models ? { models } : {});
  const reports: CaseReport[] = [];
  try {
    for (const one of cases) {
      signal?.throwIfAborted();
      reports.push(known.get(one.id) ?? await evaluateCase(one, runtime, { ...options, repeat }));
    }
  } finally {
    await runtime.close();
  }
  return reportOf(reports);
}

function reportOf(cases: readonly CaseReport[]): EvalReport {
  const passed = cases.filter(({ pass }) => pass).length;
  const misses = cases.filter(({ run }) => run.error?.details?.['reason'] === 'tape_miss').length;
  return { v: 1, cases, passed, failed: cases.length - passed, misses };
}

async function evaluateCase(
  one: EvalCase,
  runtime: HostedRuntime,
  { checks, repeat, ...options }: EvaluateOptions & { readonly repeat: number },
): Promise<CaseReport> {
  let [passed, last]: [number, { run: RunFacts; findings: readonly Finding[] } | undefined] = [0, undefined];
  for (let i = 0; i < repeat; i++) {
    const run = await runCase(one, runtime, options);
    const findings = await Promise.all(checks.map(async (check) => await check({ ...run, case: one })));
    if (findings.every(({ pass, advisory }) => pass || advisory)) passed++;
    last = { run, findings };
  }
  const { run = failedRun({ code: 'internal', message: '', retryable: false }), findings = [] } = last ?? {};
  return { id: one.id, pass: passed === repeat, passed, runs: repeat, findings, run };
}

async function runCase(
  one: EvalCase,
  runtime: HostedRuntime,
  { subject, effects = 'recorded', principal = localPrincipal(), signal }: Omit<EvaluateOptions, 'checks'>,
): Promise<RunFacts> {
  const { request } = one;
  const chat = { id: `eval_${crypto.randomUUID()}`, messages: request.chat.messages };
  const asked = { ...request, chat, agentId: subject.agentId ?? request.agentId };
  try {
    const { runId } = await runtime.startRecorded(asked, principal, { calls: callChunks(one), effects, signal });
    const cursor = await runtime.runs.answer(principal, runId);
    const chunks: UIMessageChunk[] = [];
    for (let events = await cursor.next(); events; events = await cursor.next()) {
      for (const { text } of events) chunks.push(JSON.parse(text) as UIMessageChunk); // the log alone has them
    }
    cursor.close();
    return readRunChunks(chunks);
  } catch (error) {
    signal?.throwIfAborted();
    return failedRun(toData(error));
  }
}

function failedRun(error: ErrorData): RunFacts {
  return { state: 'refused', text: '', calls: [], usage: {}, durationMs: 0, error };
}

/** @throws Error that lists what did not pass, for test runners. */
export function expectPass({ cases }: EvalReport): void {
  const wrong = cases.flatMap(({ id, pass, findings, run }) =>
    pass
      ? []
      : findings.filter((one) => !one.pass).map(({ check, message }) => `${id}: ${check}: ${message}${why(run)}`)
  );
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
}

function why({ error }: RunFacts): string {
  const pointer = error?.details?.['pointer'];
  return error ? ` (${error.code}${typeof pointer === 'string' ? ` at ${pointer}` : ''})` : '';
}
