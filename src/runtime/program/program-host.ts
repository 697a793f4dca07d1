/** Runs the programs of one run: starts them, suspends those that wait for people, and goes on with those of an earlier run. */

import { type ErrorData, PinnaceError, toData, toPinnaceError } from '../../base/errors.ts';
import { sha256Sync } from '../../base/sha256-sync.ts';
import { type Span, type SpanContext, statusOfError } from '../../events/span.ts';
import { claimOn, describedText } from '../../tools/call-approval.ts';
import { maxProgramLength, maxProgramOutput } from '../../tools/builtin/code-run.ts';
import { codeRunId } from '../../tools/run-scope.ts';
import type { ProgramHost, ToolContext } from '../../tools/tool.ts';
import { askedBy } from '../../permission/interruption.ts';
import { waitingOutput } from '../../tools/call-ends.ts';
import { driveProgram } from './drive-program.ts';
import { createProgramCalls, type ProgramAsk } from './program-calls.ts';
import { openProgramJournal, type ProgramJournal } from './program-journal.ts';
import { programId, programPrefix, type ProgramState } from './program-record.ts';
import type { ProgramRun } from './program-targets.ts';
import { createProgramView, type ProgramView } from './program-view.ts';
import { programSubject, type Resumed } from './resumed-program.ts';

/** The host of a run's programs. */
export interface RunPrograms extends ProgramHost {
  /** How the next call of `code_run` with this id goes on, or why it cannot. */
  resume(toolCallId: string, how: Resumed | PinnaceError): void;
}

/** The time that the code of a program itself may take. */
const codeMs = 5_000;

/** Creates the host of a run's programs. */
export function createProgramHost(run: ProgramRun): RunPrograms {
  const resumed = new Map<string, Resumed | PinnaceError>();
  const ordinals = new Map<string, number>();
  const begin = (code: string, toolCallId: string): Resumed => {
    const how = resumed.get(toolCallId);
    resumed.delete(toolCallId);
    if (how instanceof PinnaceError) throw how;
    if (how) return how;
    const ordinal = ordinals.get(toolCallId) ?? 0;
    ordinals.set(toolCallId, ordinal + 1);
    return newProgram(run, { code, toolCallId, id: programId(toolCallId, ordinal) });
  };
  return {
    resume: (toolCallId, how) => void resumed.set(toolCallId, how),
    close: () => Promise.resolve(), // the signal of its call ends a program
    async run(code, context) {
      const program = begin(code, context.toolCallId);
      const end = await execute(run, program, context);
      if (!('asks' in end)) return end.output;
      run.calls.suspend(context.toolCallId);
      return waitingOutput;
    },
  };
}

/** @throws PinnaceError `invalid_argument` for a program that is too long, or has a secret of the run in it. */
function newProgram(
  { options, sandbox }: ProgramRun,
  { code, toolCallId, id }: { readonly code: string; readonly toolCallId: string; readonly id: string },
): Resumed {
  const { runId, principal: { tenant, subject }, request: { chat }, agent, toolSet, redaction, now } = options;
  if (code.length > maxProgramLength) throw refused(`it is longer than ${maxProgramLength}`, 'program_too_long');
  if (redaction.text(code) !== code) throw refused('it has a secret in it', 'secret_in_program');
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
  const state: ProgramState = {
    v: 1,
    mark: crypto.randomUUID(),
    toolCallId,
    tenant,
    subject,
    chatId: chat.id,
    agentId: agent.id,
    revision: agent.revision,
    toolSetDigest: toolSet.digest,
    codeDigest: sha256Sync(code),
    timeZone: sandbox.timeZone,
    seed,
    at: now(),
    status: 'running',
    driver: runId,
  };
  const past = { code, outs: [], begun: new Map(), asked: new Map() };
  return { home: { runId, id }, state, past, decisions: new Map(), taken: undefined };
}

type Ended = { readonly output: unknown } | { readonly asks: readonly ProgramAsk[] };

async function execute(run: ProgramRun, program: Resumed, context: ToolContext): Promise<Ended> {
  const { options, push } = run;
  const { metrics, now } = options;
  const { past: { outs }, taken } = program;
  const span = startSpan(context.span, taken !== undefined);
  const view = createProgramView({ toolCallId: context.toolCallId, replayed: outs.length, push, now });
  view.show('running');
  const end = (status: 'completed' | 'suspended' | 'failed', error: ErrorData | null): void => {
    metrics.count('pinnace_programs_total', { status });
    view.show(status);
    span?.end({ status: error ? statusOfError(error) : 'ok', error, payload: { ...view.counts, state: status } });
  };
  try {
    const ended = await drive(run, program, { context, view, span });
    end('asks' in ended ? 'suspended' : 'completed', null);
    return ended;
  } catch (error) {
    const output = thrownByCode(error, view);
    end('failed', toData(error));
    if (output) return { output };
    throw error;
  }
}

interface Running {
  readonly context: ToolContext;
  readonly view: ProgramView;
  readonly span: Span | undefined;
}

async function drive(run: ProgramRun, program: Resumed, running: Running): Promise<Ended> {
  const { options, sandbox } = run;
  const { state, past, decisions } = program;
  const { context: { signal: callSignal, toolCallId, principal, scope }, view, span } = running;
  const lost = new AbortController();
  const signal = AbortSignal.any([callSignal, lost.signal]);
  const journal = openProgramJournal({
    ...journalPlace(run, program),
    onLost: (error) => lost.abort(error),
  });
  const spanContext: SpanContext = span ?? options.span;
  const maker = createProgramCalls({
    ...run,
    toolCallId,
    traceId: options.traceId,
    spanContext,
    earlier: { decisions, begun: past.begun },
    journal,
    signal,
    onCall(call) {
      view.called(call);
      if (call.acts) run.calls.acted(toolCallId);
    },
    onReached: (...reached) => view.reached(...reached),
  });
  try {
    const cell = await sandbox.open(past.code, {
      seed: state.seed,
      at: state.at,
      recorded: past.outs.map(({ t: _, digest: __, ...delivery }) => delivery),
      timeoutMs: codeMs,
      maxOutputLength: maxProgramOutput,
      signal,
      holder: { principal, scope, onQueue: (isWaiting) => view.queue(isWaiting) },
    });
    const ended = await driveProgram({ cell, past, calls: maker, journal });
    if ('asks' in ended) await suspend(run, program, { ...running, journal, asks: ended.asks, spanContext });
    else await journal.end(true);
    return ended;
  } catch (error) {
    await journal.end(false);
    throw lost.signal.aborted ? toPinnaceError(lost.signal.reason) : error;
  }
}

function journalPlace({ options }: ProgramRun, { home, state, past, taken }: Resumed) {
  const { storage, now, ttlMs, limits: { storageGraceMs: graceMs, approvalMs } } = options;
  // A program lives as long as its questions.
  const keep = Math.max(ttlMs, 2 * approvalMs);
  return {
    storage,
    prefix: programPrefix(home.runId, home.id),
    now,
    ttlMs: keep,
    graceMs,
    state,
    code: past.code,
    taken,
  };
}

interface Suspending extends Running {
  readonly journal: ProgramJournal;
  readonly asks: readonly ProgramAsk[];
  readonly spanContext: SpanContext;
}

/** Records the questions with the journal, then shows them: after that, nothing of the program is in memory. */
async function suspend(run: ProgramRun, program: Resumed, suspending: Suspending): Promise<void> {
  const { options, push } = run;
  const { runId, agent, interruptions } = options;
  const { journal, asks, spanContext, view, context } = suspending;
  const questions = await Promise.all(asks.map(async ({ call, toolCall }) => {
    const { tool, input, toolCallId } = toolCall;
    const description = await toolCall.describe();
    const claim = await claimOn(options, programSubject(program.state, { definition: tool.definition, ...call }));
    const { record, change } = interruptions.draft({
      ...claim,
      ...askedBy(options.principal, description),
      kind: 'approval',
      runId,
      agentId: agent.id,
      program: program.home,
    });
    return { call, tool, input, toolCallId, description, approvalId: record.id, change };
  }));
  await journal.suspend(
    questions.map(({ call: { n, tool, digest }, approvalId }) => ({ t: 'ask', n, tool, digest, approvalId })),
    questions.map(({ change }) => change),
  );
  for (const { tool, input, toolCallId, description, approvalId } of questions) {
    const facts = description && { reason: describedText(description), approvalDescriptor: description };
    push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input, dynamic: true });
    push({ type: 'tool-approval-request', approvalId, toolCallId, ...facts });
    const target = { type: 'tool', id: tool.definition.id };
    spanContext.emit({ action: 'approval.request', target, status: 'ok', payload: { runId, approvalId } });
  }
  const payload = { toolCallId: context.toolCallId.slice(0, 64), questions: asks.length, ...view.counts };
  spanContext.emit({ action: 'program.suspend', target: { type: 'tool', id: codeRunId }, status: 'ok', payload });
}

function startSpan(span: Span | undefined, isResumed: boolean): Span | undefined {
  const target = { type: 'tool', id: codeRunId };
  if (isResumed) span?.emit({ action: 'program.resume', target, status: 'ok' });
  return span?.start({ action: 'program.run', target });
}

/** The output of a program that threw: the model receives the text, which may hold what tools returned; errors and events do not. */
function thrownByCode(error: unknown, { counts: { sideEffects } }: ProgramView): unknown {
  if (!(error instanceof PinnaceError) || error.details?.['reason'] !== 'code_failed') return undefined;
  const { details: { line, column }, cause } = error;
  const text = cause instanceof Error ? cause.message : 'It threw an error';
  return { isError: true, error: text, ...(line !== undefined && { line, column }), sideEffects };
}

function refused(why: string, reason: string): PinnaceError {
  return new PinnaceError('invalid_argument', `Cannot run the program: ${why}`, { details: { reason } });
}
