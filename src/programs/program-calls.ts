/** Makes the calls of one program, each as a call of its run, and shows how far it is. */

import { type ErrorData, isErrorCode, PinnaceError, toData } from '../base/errors.ts';
import { sha256 } from '../base/hash.ts';
import { asRecord, isRecord } from '../base/is-record.ts';
import { canonicalJson } from '../base/json.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { SpanContext } from '../events/span.ts';
import type { SpentDecision, Unspendable } from '../permission/interruption.ts';
import type { CallMaker, CallResult, MadeCall, ProgramCall } from './drive-program.ts';
import type { ApprovalTerms } from '../permission/call-permit.ts';
import { join, type Label, trusted } from '../permission/label.ts';
import type { RunContext } from '../runtime/run-context.ts';
import { followTool, isCallable } from '../tools/builtin/code-run.ts';
import { followId } from '../tools/run-scope.ts';
import { notApproved } from '../tools/call-approval.ts';
import { mayAct, outcomeChunks, outcomeUnknown } from '../tools/call-ends.ts';
import { signatureOf } from '../tools/declaration.ts';
import type { ToolCall } from '../tools/tool-call.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { ShownAct } from './acts.ts';
import { handOver, type ProgramGuard, type ResolvedInput } from './handles.ts';
import type { ChangedInput, ProgramJournal, ProgramPast } from './program-record.ts';
import { wantsOthers } from '../runtime/decided-calls.ts';
import { editedChunk, editsOf } from '../tools/edited-calls.ts';
import { callOfGuard, isOfGuard, repeatOfGuard } from './guard-calls.ts';

/** A call that a person must approve. */
export interface ProgramAsk {
  readonly call: ProgramCall;
  readonly toolCall: ToolCall;
  readonly changed?: ChangedInput | undefined;
}

/** What was decided before the program went on, and what had started before it was lost. */
interface Earlier {
  /** By the numbers of the calls. */
  readonly decisions: ReadonlyMap<number, SpentDecision | Unspendable>;
  readonly begun: ReadonlyMap<number, string>;
  readonly asked: ProgramPast['asked'];
  readonly changed: ProgramPast['changed'];
}

/** What the calls work with. */
interface ProgramCallsOptions {
  readonly run: RunContext;
  /** The call of `code_run`. */
  readonly toolCallId: string;
  readonly spanContext: SpanContext;
  readonly earlier: Earlier;
  /** Absent where the agent is not guarded. */
  readonly guard: ProgramGuard | undefined;
  readonly journal: Pick<ProgramJournal, 'begin'>;
  /** Aborts when the call of `code_run` must end. */
  readonly signal: AbortSignal;
  /** Is called when a call starts. */
  readonly onCall: (call: { readonly n: number; readonly tool: string; readonly acts: boolean }) => void;
  /** Is called when a call has an outcome, or waits for a person. */
  readonly onReached: ProgramView['reached'];
}

/** The tool by which a program waits: the sandbox makes these calls for `setTimeout`. */
const sleepTool = '$sleep';
const maxSleepMs = 10_000;
/** All waits of a program together: it holds a sandbox while it waits. */
const maxSleepsMs = 60_000;

export function createProgramCalls(options: ProgramCallsOptions): CallMaker<ProgramAsk> {
  const reads = new AbortController();
  const found = new Set<string>();
  const branched = new Map<number, Label>(); // a call that is made after others were replayed has the label of its own moment
  let slept = 0;
  const signals = { reads: AbortSignal.any([options.signal, reads.signal]), acts: options.signal };
  const { guard } = options;
  return {
    stopReads: () => reads.abort('program_ended'),
    received({ n, tool }) {
      if (!guard) return;
      branched.set(n, guard.handles.branched);
      const definition = toolNamed(tool, options)?.definition;
      if (definition && mayAct(definition)) guard.acts.take(n, tool);
    },
    replayed(call, result) {
      const { n, tool } = call;
      if (guard && result.ok) repeatOfGuard(call, guard);
      if (guard && result.ok && result.label && result.handle === undefined) followed(result.label, options, guard);
      guard?.acts.started(n);
      if (tool !== sleepTool) options.onReached({ n, tool }, 'replayed', result.ok ? undefined : result.code);
      if (tool === findTool && result.ok) { for (const name of namesIn(result.output)) found.add(name); }
    },
    async make(call) {
      const { input } = call;
      if (!input.ok) return failed(toData(options.run.calls.countFailed() ?? input.error));
      if (guard && isOfGuard(call.tool)) return { result: await callOfGuard(call, { guard, options }) };
      if (call.tool === sleepTool) {
        const ms = sleepMs(input.data);
        if ((slept += ms) > maxSleepsMs) throw waitsTooLong();
        return await sleep(ms, signals.reads);
      }
      const tool = findCallable(call.tool, options, found);
      if (tool instanceof PinnaceError) return failed(toData(options.run.calls.countFailed() ?? tool));
      const resolved = guard && resolvedBy(guard, input.data, { tool, branched: branched.get(call.n) });
      if (resolved instanceof PinnaceError) return failed(toData(options.run.calls.countFailed() ?? resolved));
      if (guard && mayAct(tool.definition) && !guard.acts.isPlanned(call.n)) {
        return failed(toData(options.run.calls.countFailed() ?? notPlanned(call.tool)));
      }
      const made = await makeCall(
        { call, tool, input: resolved ? resolved.input : input.data, resolved, signals },
        options,
      );
      if (call.tool !== findTool || !('result' in made) || !made.result.ok || made.result.handle !== undefined) {
        return made;
      }
      const output = signaturesOf(made.result.output, options);
      for (const name of namesIn(output)) found.add(name);
      return { result: { ok: true, output } };
    },
  };
}

interface Making {
  readonly call: ProgramCall;
  readonly tool: Tool;
  readonly input: unknown;
  /** What the input was made of, in a guarded agent. */
  readonly resolved: ResolvedInput | undefined;
  readonly signals: { readonly reads: AbortSignal; readonly acts: AbortSignal };
}

async function makeCall(making: Making, options: ProgramCallsOptions): Promise<MadeCall<ProgramAsk>> {
  const { call, tool, signals, resolved } = making;
  const { earlier: { begun, decisions, asked, changed: inputs }, guard } = options;
  const changed = inputs.get(call.n);
  const { input } = changed ?? making;
  const toolCallId = `${options.toolCallId}/${call.n}`;
  const facts = resolved && { ...resolved.facts, planned: guard?.acts.isPlanned(call.n) === true };
  const toolCall = options.run.calls.open(tool, input, toolCallId, facts);
  const { definition } = tool;
  const executing = { call, signals, toolCall, resolved, changed };
  const decision = decisions.get(call.n);
  if (begun.has(call.n)) {
    // It may have acted before the program was lost: a tool that takes the same call twice gets it again.
    if (definition.annotations?.idempotentHint !== true) {
      return failed(toData(outcomeUnknown(definition.id, 'worker_lost')));
    }
    return await decided({ ...executing, approved: true, isShown: decision !== undefined }, options);
  }
  if (!decision) {
    const prepared = await toolCall.prepare();
    if (!prepared.ok && prepared.approval && !isCovered(prepared.approval, making, guard)) {
      options.onReached({ n: call.n, tool: definition.name }, 'waiting');
      return { ask: { call, toolCall, changed } };
    }
    const isByDefinition = !prepared.ok && prepared.approval !== undefined;
    // Prepared again: a person's approval of the program is now that of the call.
    const made = isByDefinition ? options.run.calls.open(tool, input, toolCallId, facts) : toolCall;
    const outcome = await execute({ ...executing, toolCall: made, approved: isByDefinition }, options);
    return { result: resultOf(outcome, { ...executing, toolCall: made }, options) };
  }
  if ('approved' in decision && decision.approved) {
    const { preview } = decision;
    if (preview !== undefined && !await toolCall.isAsShown(preview)) return { ask: { call, toolCall, changed } };
    // What was approved is the input with the values in it, from where they were.
    if (guard && asked.get(call.n)?.bound !== await boundOf(toolCall)) return { ask: { call, toolCall, changed } };
    if (decision.edited) return await makeEdited(executing, decision.edited, options);
    return await decided({ ...executing, approved: true, isShown: true }, options);
  }
  const error = toData(notApproved(definition.id, decision));
  options.onReached({ n: call.n, tool: definition.name }, 'approved' in decision ? 'denied' : 'failed', error.code);
  showCall(toolCall, options);
  if ('approved' in decision) options.run.push({ type: 'tool-output-denied', toolCallId });
  else showOutcome({ ok: false, error }, toolCall, options);
  return failed(error);
}

/**
 * Whether the approval of what a program will do covers the call: one that its definition alone asks for, not always, and whose
 * arguments the program has all written itself.
 */
function isCovered(
  { reason }: ApprovalTerms & { readonly reason?: string },
  { call, tool: { definition: { approval } }, resolved }: Making,
  guard: ProgramGuard | undefined,
): boolean {
  return guard?.approved === true && guard.acts.isPlanned(call.n) && reason === undefined && approval !== 'always' &&
    resolved !== undefined && resolved.label === trusted;
}

/** Makes a call with the input of the person, unless a rule or the tool wants a decision on that. */
async function makeEdited(
  executing: Omit<Executing, 'approved'>,
  edited: NonNullable<SpentDecision['edited']>,
  options: ProgramCallsOptions,
): Promise<MadeCall<ProgramAsk>> {
  const { call, toolCall: { tool, toolCallId, input } } = executing;
  const { calls, push } = options.run;
  const changed: ChangedInput = { input: edited.input };
  const open = (): ToolCall => calls.open(tool, changed.input, toolCallId);
  const probe = open();
  push(editedChunk(toolCallId, editsOf(input, changed.input)));
  if (await wantsOthers(probe, edited)) return { ask: { call, toolCall: probe, changed } };
  return await decided({ ...executing, toolCall: open(), changed, approved: true, isShown: true }, options);
}

interface Executing extends Pick<Making, 'call' | 'signals' | 'resolved'> {
  readonly toolCall: ToolCall;
  readonly changed: ChangedInput | undefined;
  readonly approved: boolean;
}

/** Makes a call that a person was shown, and shows its outcome in its place. */
async function decided(
  executing: Executing & { readonly isShown: boolean },
  options: ProgramCallsOptions,
): Promise<MadeCall<ProgramAsk>> {
  if (executing.isShown) showCall(executing.toolCall, options);
  const outcome = await execute(executing, options);
  if (executing.isShown) showOutcome(outcome, executing.toolCall, options);
  return { result: resultOf(outcome, executing, options) };
}

async function execute({ call, toolCall, changed, approved, signals }: Executing, options: ProgramCallsOptions) {
  const { definition } = toolCall.tool;
  const { name } = definition;
  const acts = mayAct(definition);
  if (acts) options.guard?.acts.started(call.n);
  options.onCall({ n: call.n, tool: name, acts });
  if (acts) await options.journal.begin(call.n, call.digest, changed);
  const signal = acts ? signals.acts : signals.reads;
  const terms = { signal, approved, inside: options.spanContext, isHidden: options.guard !== undefined };
  const outcome = await options.run.calls.make(toolCall, terms);
  options.onReached(
    { n: call.n, tool: name },
    outcome.ok ? 'done' : 'failed',
    outcome.ok ? undefined : outcome.error.code,
  );
  return outcome;
}

function showCall({ toolCallId, tool, input }: ToolCall, { run: { push } }: ProgramCallsOptions): void {
  push({ type: 'tool-input-available', toolCallId, toolName: tool.definition.name, input, dynamic: true });
}

function showOutcome(
  outcome: ToolOutcome,
  { tool, toolCallId }: ToolCall,
  { run: { push, traceId } }: ProgramCallsOptions,
): void {
  for (const chunk of outcomeChunks(tool, outcome, { toolCallId, traceId })) {
    push(
      chunk.type === 'tool-output-available' || chunk.type === 'tool-output-error'
        ? { ...chunk, dynamic: true }
        : chunk,
    );
  }
}

/** What the program gets of an outcome: a guarded one gets a handle of what a stranger may have said, and of an error its code alone. */
function resultOf(
  outcome: ToolOutcome,
  { call: { n }, toolCall: { tool, label }, resolved }: Omit<
    Executing,
    'approved' | 'changed' | 'signals'
  >,
  options: ProgramCallsOptions,
): CallResult {
  const { guard } = options;
  if (!guard || !resolved) return outcome.ok ? { ok: true, output: outcome.output ?? null } : refused(outcome.error);
  if (!outcome.ok) {
    const { error: { code } } = outcome;
    const message = `Tool "${tool.definition.name}" failed`;
    return { ok: false, code: isErrorCode(code) ? code : 'internal', message }; // a tool may make codes of its own
  }
  if (tool !== followTool()) return handOver(outcome.output ?? null, join(label, resolved.label), { n, guard });
  followed(resolved.label, options, guard);
  return { ok: true, output: outcome.output, label: resolved.label };
}

/** The program and the model that wrote it have read this from now on: a person has let them. */
function followed(label: Label, { run }: ProgramCallsOptions, { handles }: ProgramGuard): void {
  handles.branch(label);
  run.facts.add(label);
}

/** What an approval of a call is bound to besides the program: the values in its input, and where they are from. */
export async function boundOf({ input, facts }: ToolCall): Promise<string> {
  const labels = [...facts?.args ?? []].map(([at, { from, readers }]) => [at, from, readers]);
  return await sha256(canonicalJson([input, labels]));
}

function resolvedBy(
  { handles }: ProgramGuard,
  input: unknown,
  { tool, branched }: { readonly tool: Tool; readonly branched: Label | undefined },
): ResolvedInput | PinnaceError {
  if (tool === followTool() && typeof asRecord(input)['why'] !== 'string') {
    return new PinnaceError('invalid_argument', 'Cannot ask the user: "why" must be a text of the program');
  }
  try {
    return handles.resolve(input, branched);
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'invalid_argument') return error;
    throw error;
  }
}

function notPlanned(name: string): PinnaceError {
  const message =
    `Cannot call tool "${name}" here: the program has not stated it in "acts", in this order and so often`;
  return new PinnaceError('forbidden', message, { details: { reason: 'not_planned' } });
}

function refused({ code, message }: ErrorData): CallResult {
  return { ok: false, code, message };
}

function failed(error: ErrorData): { readonly result: CallResult } {
  return { result: refused(error) };
}

function sleepMs(input: unknown): number {
  return isRecord(input) && typeof input['ms'] === 'number' ? Math.min(Math.max(0, input['ms']), maxSleepMs) : 0;
}

function waitsTooLong(): PinnaceError {
  const message = `The program was stopped: its waits take longer than ${maxSleepsMs} ms together`;
  return new PinnaceError('budget_exceeded', message, { details: { reason: 'program_waits' } });
}

/** Waits; a program that ends waits no longer. */
async function sleep(ms: number, signal: AbortSignal): Promise<{ readonly result: CallResult }> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
  clearTimeout(timer);
  return { result: { ok: true, output: null } };
}

const findTool = 'tool_find';

function toolNamed(name: string, { run: { resolution: { toolSet } } }: ProgramCallsOptions): Tool | undefined {
  return toolSet.tools.find(({ definition }) => definition.name === name);
}

/** Finds a tool that the program may call: one that is active, or that it has found. */
function findCallable(
  name: string,
  { run: { resolution: { stepTools, toolSet } }, guard }: ProgramCallsOptions,
  found: ReadonlySet<string>,
): Tool | PinnaceError {
  const isNamed = ({ definition }: Tool): boolean => definition.name === name;
  const tool = stepTools.active().find(isNamed) ??
    (found.has(name) || (guard && name === followId)
      ? toolSet.tools.find((one) => isNamed(one) && one.isAvailable?.() !== false)
      : undefined);
  if (tool && isCallable(tool)) return tool;
  if (!tool) return stepTools.missing(name);
  return new PinnaceError('forbidden', `Cannot call tool "${name}": programs may not`, {
    details: { reason: 'not_for_programs' },
  });
}

/** What `tool_find` returns in a program: names, signatures and descriptions. */
function signaturesOf(
  output: unknown,
  { run: { resolution: { toolSet } } }: ProgramCallsOptions,
): readonly Record<string, string>[] {
  const tools = isRecord(output) && Array.isArray(output['tools']) ? output['tools'] as readonly unknown[] : [];
  return tools.flatMap((one) => {
    const tool = isRecord(one) && toolSet.tools.find(({ definition: { name } }) => name === one['name']);
    if (!tool || !isCallable(tool)) return [];
    const { name, description } = tool.definition;
    return [{ name, signature: signatureOf(tool.definition), description }];
  });
}

function namesIn(output: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(output) ? output : [];
  return list.flatMap((one) => isRecord(one) && typeof one['name'] === 'string' ? [one['name']] : []);
}

/** The state of a program in the stream. */
type ProgramStateName = 'running' | 'suspended' | 'completed' | 'failed';

/** How far a call of a program has come. `replayed`: an earlier run made it, and its outcome is known. */
type ProgramCallState = 'running' | 'done' | 'failed' | 'denied' | 'waiting' | 'replayed';

/** A call of a program in the stream: without its input and output. */
interface ShownCall {
  readonly n: number;
  readonly tool: string;
  readonly state: ProgramCallState;
  /** The code of its error. */
  readonly code?: string | undefined;
  readonly ms?: number | undefined;
}

/** What a program has done so far. */
export interface ProgramView {
  /** A call starts. */
  called(call: { readonly n: number; readonly tool: string; readonly acts: boolean }): void;
  /** A call has come so far. */
  reached(call: { readonly n: number; readonly tool: string }, state: ProgramCallState, code?: string): void;
  /** The program waits for a sandbox, or has got one. */
  queue(isWaiting: boolean): void;
  show(state: ProgramStateName): void;
  readonly counts: Readonly<Counts>;
}

interface Counts {
  calls: number;
  sideEffects: number;
  replayed: number;
  /** How long it waited for a sandbox; absent where it did not. */
  queuedMs?: number;
}

/** The most tools, and calls, that are listed. */
const maxListed = 32;
/** Changes within this time are shown together. */
const spacingMs = 250;

export function createProgramView(
  { toolCallId, replayed, push, now, acts: listActs }: {
    /** The acting calls that it has stated. */
    readonly acts: (() => readonly ShownAct[]) | undefined;
    readonly toolCallId: string;
    readonly replayed: number;
    readonly push: (chunk: UIMessageChunk) => void;
    readonly now: () => number;
  },
): ProgramView {
  const tools = new Map<string, number>();
  const calls = new Map<number, ShownCall>();
  const startedAt = new Map<number, number>();
  const counts: Counts = { calls: 0, sideEffects: 0, replayed };
  let shownAt = 0;
  let queuedAt: number | undefined;
  const list = (call: ShownCall): void => {
    if (calls.has(call.n) || calls.size < maxListed) calls.set(call.n, call);
  };
  const show = (state: ProgramStateName): void => {
    shownAt = now();
    const queued = queuedAt !== undefined && { queued: true };
    const shown = { tools: Object.fromEntries(tools), list: [...calls.values()] };
    const data = { toolCallId, state, ...counts, ...queued, ...shown, ...(listActs && { acts: listActs() }) };
    push({ type: 'data-program', id: toolCallId, data });
  };
  return {
    counts,
    show,
    queue(isWaiting) {
      if (queuedAt !== undefined) counts.queuedMs = now() - queuedAt;
      queuedAt = isWaiting ? now() : undefined;
      show('running');
    },
    called({ n, tool, acts }) {
      startedAt.set(n, now());
      list({ n, tool, state: 'running' });
      counts.calls += 1;
      if (acts) counts.sideEffects += 1;
      if (tools.has(tool) || tools.size < maxListed) tools.set(tool, (tools.get(tool) ?? 0) + 1);
      if (now() - shownAt >= spacingMs) show('running');
    },
    reached({ n, tool }, state, code) {
      const started = startedAt.get(n);
      startedAt.delete(n);
      const ms = started === undefined ? undefined : now() - started;
      list({ n, tool, state, ...(code !== undefined && { code }), ...(ms !== undefined && { ms }) });
    },
  };
}
