/**
 * The programs of one run: starts them, suspends those that wait for people, and goes on with those of an earlier run.
 *
 * What must hold:
 *
 * 1. Every call of a program is a call of its run: counted, permitted, audited and redacted as one of the model (`RunCalls`).
 * 2. A side effect is in the journal before it starts, its outcome after. A program that only reads writes nothing.
 * 3. Programs are deterministic. One that goes on runs from its start, and gets the recorded outcomes in their order; nothing new
 *    runs before all recorded calls have been compared.
 * 4. The journal is taken over before decisions are spent: of two runs, one gets it, and only that one goes on.
 * 5. The questions of a program are committed with its journal, then shown. After that, nothing of it is in memory.
 * 6. What a guarded agent's program must not see stays here (`handles.ts`), and it makes no acting call that it has not stated (`acts.ts`).
 * 7. Decisions belong to the owner of the program, its chat, agent, tools and time zone: when one has changed, it does not go on.
 */

import { type ErrorData, PinnaceError, toData, toPinnaceError } from '../base/errors.ts';
import { sha256Sync } from '../base/hash.ts';
import { type Span, type SpanContext, statusOfError } from '../events/span.ts';
import { type JournalHead, readJournal, takeOver } from '../log/journal-record.ts';
import { askedBy, type SpentDecision, type Unspendable } from '../permission/interruption.ts';
import { unlabelled } from '../permission/label.ts';
import { type OwnedRecord, reach } from '../permission/ownership.ts';
import { approvalsRequestedIn } from '../runtime/decided-calls.ts';
import type { CallForApproval, ProgramHome, RunContext, RunPrograms } from '../runtime/run-context.ts';
import { deliveryOf, driveProgram } from './drive-program.ts';
import { programsIn } from '../runtime/message-parts.ts';
import { Acts } from './acts.ts';
import { HandleCount, Handles, type ProgramGuard } from './handles.ts';
import { boundOf, createProgramCalls, createProgramView, type ProgramAsk, type ProgramView } from './program-calls.ts';
import { ownerOfRun, runPrefix, type RunState, runStateOf } from '../runtime/run-record.ts';
import { maxProgramLength, maxProgramOutput } from '../tools/builtin/code-run.ts';
import { claimOn, describedText, earlierClaim, factsOf } from '../tools/call-approval.ts';
import { outcomeUnknown, waitingOutput } from '../tools/call-ends.ts';
import type { PooledPrograms } from '../tools/pooled-sandbox.ts';
import { codeRunId } from '../tools/run-scope.ts';
import type { ProgramSource, ToolContext } from '../tools/tool.ts';
import {
  openProgramJournal,
  type Outcome,
  programId,
  type ProgramJournal,
  type ProgramPast,
  programPrefix,
  type ProgramState,
  readPast,
  type Resumed,
} from './program-record.ts';

export { findLostPrograms } from './program-record.ts';

/** A run, and where its programs run. */
interface ProgramRun {
  readonly run: RunContext;
  readonly sandbox: PooledPrograms;
}

/** The time that the code of a program itself may take. */
const codeMs = 5_000;

export function openPrograms(place: ProgramRun): RunPrograms {
  const resumed = new Map<string, Resumed | PinnaceError>();
  const ordinals = new Map<string, number>();
  const held = { count: new HandleCount(), programs: 0 };
  const begin = (source: ProgramSource, toolCallId: string): Resumed => {
    const how = resumed.get(toolCallId);
    resumed.delete(toolCallId);
    if (how instanceof PinnaceError) throw how;
    if (how) return how;
    const ordinal = ordinals.get(toolCallId) ?? 0;
    ordinals.set(toolCallId, ordinal + 1);
    const approved = place.run.calls.isApproved(toolCallId);
    held.programs += 1;
    return newProgram(place, {
      source,
      toolCallId,
      id: programId(toolCallId, ordinal),
      ordinal: held.programs,
      approved,
    });
  };
  return {
    async resumed() {
      const found = await resumePrograms(place);
      for (const { call: { toolCallId }, how } of found) {
        resumed.set(toolCallId, how);
        if (!(how instanceof PinnaceError)) held.programs = Math.max(held.programs, how.state.ordinal ?? 0);
      }
      return found.map(({ call }) => call);
    },
    close: () => Promise.resolve(), // the signal of its call ends a program
    async run(source, context) {
      const program = begin(source, context.toolCallId);
      const end = await execute(place, program, { context, count: held.count });
      if (!('asks' in end)) return end.output;
      place.run.calls.suspend(context.toolCallId);
      return waitingOutput;
    },
  };
}

/** @throws PinnaceError `invalid_argument` for a program that is too long, or has a secret of the run in it. */
function newProgram(
  { run, sandbox }: ProgramRun,
  { source, toolCallId, id, ordinal, approved }: {
    readonly source: ProgramSource;
    readonly toolCallId: string;
    readonly id: string;
    readonly ordinal: number;
    readonly approved: boolean;
  },
): Resumed {
  const { code, acts } = source;
  const { runId, principal: { tenant, subject }, request: { chat }, agent, redaction, now } = run;
  if (code.length > maxProgramLength) throw refused(`it is longer than ${maxProgramLength}`, 'program_too_long');
  if (redaction.text(code) !== code) throw refused('it has a secret in it', 'secret_in_program');
  const [seed = 0] = crypto.getRandomValues(new Uint32Array(1));
  const guarded = agent.trust === 'guarded' && { ordinal, ...(approved && { approved: true as const }) };
  const state: ProgramState = {
    v: guarded ? 2 : 1,
    mark: crypto.randomUUID(),
    toolCallId,
    tenant,
    subject,
    chatId: chat.id,
    agentId: agent.id,
    revision: agent.revision,
    toolSetDigest: run.resolution.toolSet.digest,
    codeDigest: sha256Sync(code),
    timeZone: sandbox.timeZone,
    seed,
    at: now(),
    status: 'running',
    driver: runId,
    ...guarded,
  };
  const past = {
    code,
    ...(guarded && { acts: acts ?? [] }),
    outs: [],
    labels: [],
    begun: new Map(),
    asked: new Map(),
    changed: new Map(),
  };
  return { home: { runId, id }, state, past, decisions: new Map(), taken: undefined };
}

type Ended = { readonly output: unknown } | { readonly asks: readonly ProgramAsk[] };

async function execute(
  place: ProgramRun,
  program: Resumed,
  { context, count }: { readonly context: ToolContext; readonly count: HandleCount },
): Promise<Ended> {
  const { metrics, now, push } = place.run;
  const { past: { outs, acts }, taken, state: { v, ordinal = 1, approved } } = program;
  const span = startSpan(context.span, taken !== undefined);
  const guard = v === 2
    ? { handles: new Handles(count), acts: new Acts(acts ?? []), ordinal, approved: approved === true }
    : undefined;
  guard?.handles.branch(place.run.facts.read); // what its model has read may be in all that it has written
  const view = createProgramView({
    toolCallId: context.toolCallId,
    replayed: outs.length,
    push,
    now,
    acts: guard && (() => guard.acts.list()),
  });
  view.show('running');
  const end = (status: 'completed' | 'suspended' | 'failed', error: ErrorData | null): void => {
    metrics.count('pinnace_programs_total', { status });
    view.show(status);
    span?.end({ status: error ? statusOfError(error) : 'ok', error, payload: { ...view.counts, state: status } });
  };
  try {
    const ended = await drive(place, program, { context, view, span, guard });
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
  readonly guard: ProgramGuard | undefined;
}

async function drive({ run, sandbox }: ProgramRun, program: Resumed, running: Running): Promise<Ended> {
  const { state, past, decisions } = program;
  const { context: { signal: callSignal, toolCallId, principal, scope }, view, span, guard } = running;
  const lost = new AbortController();
  const signal = AbortSignal.any([callSignal, lost.signal]);
  const journal = openProgramJournal({
    ...journalPlace(run, program),
    onLost: (error) => lost.abort(error),
  });
  const spanContext: SpanContext = span ?? run.span;
  const maker = createProgramCalls({
    run,
    toolCallId,
    spanContext,
    earlier: { decisions, begun: past.begun, asked: past.asked, changed: past.changed },
    guard,
    journal,
    signal,
    onCall(call) {
      view.called(call);
      if (call.acts) run.calls.acted(toolCallId);
    },
    onReached: (...reached) => view.reached(...reached),
  });
  try {
    if (guard) { for (const out of past.outs) restore(guard.handles, out); }
    const cell = await sandbox.open(past.code, {
      seed: state.seed,
      at: state.at,
      recorded: past.outs.map(deliveryOf),
      ...(guard && { handles: true }),
      timeoutMs: codeMs,
      maxOutputLength: maxProgramOutput,
      signal,
      holder: { principal, scope, onQueue: (isWaiting) => view.queue(isWaiting) },
    });
    const ended = await driveProgram({ cell, past, calls: maker, journal });
    if ('asks' in ended) await suspend(run, program, { ...running, journal, asks: ended.asks, spanContext });
    else await journal.end(true);
    return guard && 'output' in ended ? { output: guard.handles.describe(ended.output) } : ended;
  } catch (error) {
    await journal.end(false);
    throw lost.signal.aborted ? toPinnaceError(lost.signal.reason) : error;
  }
}

function restore(handles: Handles, out: Outcome): void {
  if (out.ok && out.handle !== undefined) {
    handles.hold(out.handle, { value: out.output, label: out.label ?? unlabelled });
  }
}

function journalPlace({ storage, now, runtime, limits }: RunContext, { home, state, past, taken }: Resumed) {
  const { storageGraceMs: graceMs, approvalMs } = limits;
  const { ttlMs } = runtime;
  // A program lives as long as its questions.
  const keep = Math.max(ttlMs, 2 * approvalMs);
  return {
    storage,
    prefix: programPrefix(home.runId, home.id),
    now,
    ttlMs: keep,
    graceMs,
    state,
    source: { code: past.code, ...(past.acts && { acts: past.acts }) },
    labels: past.labels,
    taken,
  };
}

interface Suspending extends Running {
  readonly journal: ProgramJournal;
  readonly asks: readonly ProgramAsk[];
  readonly spanContext: SpanContext;
}

/** Records the questions with the journal, then shows them: after that, nothing of the program is in memory. */
async function suspend(run: RunContext, program: Resumed, suspending: Suspending): Promise<void> {
  const { runId, principal, agent, interruptions, push } = run;
  const { journal, asks, spanContext, view, context, guard } = suspending;
  await interruptions.requireRoom(principal, asks.length);
  const questions = await Promise.all(asks.map(async ({ call, toolCall, changed }) => {
    const { tool, input, toolCallId } = toolCall;
    const description = await toolCall.describe();
    const claim = await claimOn(run, programSubject(program.state, { definition: tool.definition, ...call }));
    const edit = guard ? undefined : run.calls.editOf(toolCall); // what a guarded program has bound to labels stays
    const { record, changes } = interruptions.draft({
      ...claim,
      ...askedBy(principal, toolCall.terms),
      ...(toolCall.preview !== undefined && { preview: toolCall.preview }),
      ...(run.goesOn && { goesOn: run.goesOn }),
      ...(edit && { edit }),
      chatId: run.request.chat.id,
      kind: 'approval',
      runId,
      agentId: agent.id,
      program: program.home,
      facts: factsOf(tool, description),
    });
    const bound = guard ? await boundOf(toolCall) : undefined;
    return { call, tool, input, toolCallId, description, bound, changed, approvalId: record.id, changes };
  }));
  await journal.suspend(
    questions.map(({ call: { n, tool, digest }, approvalId, bound, changed }) => ({
      t: 'ask',
      n,
      tool,
      digest,
      approvalId,
      ...(bound !== undefined && { bound }),
      ...changed,
    })),
    questions.flatMap(({ changes }) => changes),
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

/** How a call of `code_run` goes on with a program, or why it cannot. */
interface ResumedCall {
  readonly call: CallForApproval;
  readonly how: Resumed | PinnaceError;
}

/** Prepares the waiting programs of the chat's last message and those of a lost run. */
async function resumePrograms({ run, sandbox: { timeZone } }: ProgramRun): Promise<readonly ResumedCall[]> {
  const tool = run.resolution.toolSet.tools.find(({ definition: { id } }) => id === codeRunId);
  if (!tool) return [];
  const found = await findPrograms(run);
  return await Promise.all(
    [...found].map(async ([toolCallId, { approvalId = '', home, isLost }]): Promise<ResumedCall> => {
      const how = await resume(run, home, { toolCallId, timeZone, isLost }).catch((error: unknown) =>
        isLost ? outcomeUnknown(codeRunId, 'worker_lost', error) : toPinnaceError(error)
      );
      const code = how instanceof PinnaceError ? '//' : how.past.code;
      // A person or the hook has let the program start; its calls are decided one by one.
      const decision = { kind: 'approval', approved: true } as const;
      return { call: { toolCallId, tool, input: { code }, approvalId, decision }, how };
    }),
  );
}

interface FoundProgram {
  readonly home: ProgramHome | undefined;
  /** One of the approvals that it waits for. */
  readonly approvalId?: string;
  /** Whether this run continues the one that was lost with it. */
  readonly isLost: boolean;
}

/** The programs by the ids of their calls. */
async function findPrograms(
  { request: { chat }, principal, interruptions, resolution: { resumed } }: RunContext,
): Promise<ReadonlyMap<string, FoundProgram>> {
  const found = new Map<string, FoundProgram>();
  for (const { toolCallId, home } of resumed?.programs ?? []) found.set(toolCallId, { home, isLost: true });
  const last = chat.messages.at(-1);
  const programs = programsIn(last);
  for (const { approvalId, toolCallId } of approvalsRequestedIn(last)) {
    const program = programs.of(toolCallId);
    if (program === undefined || found.has(program)) continue;
    const home = (await interruptions.find(principal, approvalId))?.program;
    found.set(program, { home, approvalId, isLost: false });
  }
  return found;
}

interface Waiting {
  readonly toolCallId: string;
  readonly timeZone: string;
  readonly isLost: boolean;
}

/** The journal is taken over before the decisions are spent: of two runs, one gets it, and only that one goes on. */
async function resume(
  run: RunContext,
  home: ProgramHome | undefined,
  { toolCallId, timeZone, isLost }: Waiting,
): Promise<Resumed> {
  const { runId, storage, now, runtime: { ttlMs }, limits: { approvalMs } } = run;
  if (!home) throw unresumable('no approval of this program has this id', 'approval_not_found');
  const prefix = programPrefix(home.runId, home.id);
  const found = await readJournal<ProgramState>(storage, prefix);
  if (!found) throw unresumable('its record has expired', 'approval_expired');
  const { state } = found.head;
  const reached = reach(run.principal, await ownerOf(state, { home, storage }));
  if (reached !== 'owner') {
    throw unresumable('no approval of this program has this id', 'approval_not_found');
  }
  requireSame(found.head, { run, toolCallId, timeZone });
  await requireFree(run, state);
  const taken = await takeOver<ProgramState>({
    storage,
    prefix,
    now,
    ttlMs: Math.max(ttlMs, 2 * approvalMs),
    when: ({ fence }) => fence === found.head.fence,
    next: (before) => ({ ...before, status: 'running', driver: runId }),
  });
  if (!taken) throw unresumable('another run goes on with it', 'approval_spent');
  const past = await readPast(storage, prefix);
  const decisions = await spendDecisions(run, past, { state, isLost });
  return { home, state: taken.head.state, past, decisions, taken };
}

/** A program is free when it waits for people, this run had it before, or the run that executed it ended as lost. */
async function requireFree(
  { runtime: { runs }, principal, runId }: RunContext,
  { status, driver }: ProgramState,
): Promise<void> {
  if (status === 'suspended' || driver === runId) return;
  const run = driver === undefined ? undefined : await runs.state(principal, driver).catch(() => undefined);
  if (run && runStateOf(run) === 'interrupted') return;
  throw unresumable('another run goes on with it', 'approval_spent');
}

/** Whose program it is. */
async function ownerOf(
  { tenant, subject }: ProgramState,
  { home, storage }: { readonly home: ProgramHome; readonly storage: RunContext['storage'] },
): Promise<OwnedRecord> {
  if (subject !== undefined) return { tenant, subject };
  const run = (await readJournal<RunState>(storage, runPrefix(home.runId)))?.head.state;
  return { tenant, subject: run && ownerOfRun(run).subject };
}

function requireSame(
  { state }: JournalHead<ProgramState>,
  { run, toolCallId, timeZone }: {
    readonly run: RunContext;
    readonly toolCallId: string;
    readonly timeZone: string;
  },
): void {
  const { request: { chat }, agent, resolution: { toolSet } } = run;
  const isMine = state.chatId === chat.id && state.agentId === agent.id && state.toolCallId === toolCallId;
  if (!isMine) throw unresumable('its approval was given in another chat or to another agent', 'approval_moved');
  const isSame = state.revision === agent.revision && state.toolSetDigest === toolSet.digest &&
    state.timeZone === timeZone && (state.v === 2) === (agent.trust === 'guarded');
  if (isSame) return;
  throw new PinnaceError(
    'conflict',
    'Cannot go on with the program: its agent or tools have changed since it started',
    {
      retryable: false,
      details: { reason: 'program_changed' },
    },
  );
}

/** Spends the decisions. A run that was lost may have spent them before: this one alone goes on now. */
async function spendDecisions(
  run: RunContext,
  { asked, begun, outs }: ProgramPast,
  { state, isLost }: { readonly state: ProgramState; readonly isLost: boolean },
): Promise<ReadonlyMap<number, SpentDecision | Unspendable>> {
  const settled = new Set(outs.map(({ n }) => n));
  const decisions = new Map<number, SpentDecision | Unspendable>();
  for (const { n, tool, digest, approvalId } of asked.values()) {
    if (settled.has(n) || begun.has(n)) continue;
    const definition = run.resolution.toolSet.tools.find((one) => one.definition.name === tool)?.definition;
    const about = programSubject(state, { definition, digest, n });
    const how = { again: state.status !== 'suspended', earlier: () => earlierClaim(run, about) };
    const decision = await run.interruptions.spend(approvalId, await claimOn(run, about), how);
    // The lost run may not have shown the question: it is asked again.
    if (isLost && 'unspendable' in decision && decision.unspendable === 'approval_undecided') continue;
    decisions.set(n, decision);
  }
  return decisions;
}

function unresumable(why: string, reason: string): PinnaceError {
  return new PinnaceError('approval_required', `Cannot go on with the program: ${why}`, {
    details: { reason },
  });
}

/** What a decision on a call of a program is about, besides the chat and the agent. */
function programSubject(
  { codeDigest }: Pick<ProgramState, 'codeDigest'>,
  { definition, digest, n }: { readonly definition: unknown; readonly digest: string; readonly n: number },
): readonly unknown[] {
  return [definition, digest, codeDigest, n];
}
