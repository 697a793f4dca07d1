/**
 * The tool calls of one run. Each is prepared, recorded before it may act, made once, and ended once in the stream, on every path.
 *
 * What must hold:
 *
 * 1. Every attempt counts against the run's limit of calls, also one that cannot be made.
 * 2. A call of the model waits until the stream has shown it, so what it logs comes after it. A call of a program is not shown.
 * 3. A call that may act is committed with the run's log before its tool runs: an instance that lost the run to another cannot write
 *    that log, so it cannot act either. Calls that only read pay no round trip.
 * 4. A call that waits for a person has no outcome in the stream; the chat's next run goes on with it.
 * 5. `closing` ends whatever the stream has shown and not ended. What may have acted is `outcome_unknown` there.
 */

import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import type { UIMessageChunk } from '../contracts/ai-types.ts';
import type { Interaction } from '../contracts/mcp/answers.ts';
import type { Recorder, SideEffect } from '../events/audit.ts';
import { reportAt } from '../events/report.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../events/span.ts';
import { type CallFacts, labelOf } from '../permission/label.ts';
import { sourceOf } from '../permission/run-facts.ts';
import { askedBy, type Interruption, type Interruptions } from '../permission/interruption.ts';
import type { GoesOn, WaitingFacts } from '../permission/waiting.ts';
import { type ClaimHost, claimOn, describedText, factsOf } from './call-approval.ts';
import { editOf } from './edited-calls.ts';
import { createOpenCalls, type Loss, lostChunks, lostError, mayAct, outcomeChunks, waitingChunk } from './call-ends.ts';
import { type CallerBudget, createReserves, createRunScope, type Delegation, type RunScope } from './run-scope.ts';
import { type CallFacilities, type CallHost, type CallLimits, ToolCall } from './tool-call.ts';
import type { CitedSource, LogLevel, Progress, Tool, ToolOutcome } from './tool.ts';

export interface RunOfCalls extends CallHost, ClaimHost {
  readonly runId: string;
  readonly traceId: string;
  readonly limits: CallLimits & { readonly toolCalls: number };
  readonly interruptions: Pick<Interruptions, 'open'>;
  /** How the server goes on after a decision; absent where the chat's client does. */
  readonly goesOn?: GoesOn | undefined;
}

export interface CallTargets {
  /** Commits the run's log up to here with the start of a call that may act. */
  readonly record: (
    call: { readonly toolCallId: string; readonly tool: string; readonly input?: unknown },
  ) => Promise<void>;
  readonly usage: { toolCalls: number };
  readonly budget: CallerBudget & { readonly addOther: Delegation['used'] };
  readonly spans: { readonly current: SpanContext; readonly step: number };
  /** Finds a tool that the model has now. */
  readonly find: (name: string) => Tool | undefined;
  /** Adds a chunk to the stream. */
  readonly push: (chunk: UIMessageChunk) => void;
  /** Stores the files of an outcome. */
  readonly settled: (outcome: ToolOutcome) => ToolOutcome | Promise<ToolOutcome>;
  readonly citeOf: (toolCallId: string) => (sources: readonly CitedSource[]) => readonly number[];
}

export interface RunCallTerms {
  readonly signal: AbortSignal;
  readonly approved?: boolean | undefined;
  /** The answered interruption with which the call continues an earlier one. */
  readonly interruptionId?: string | undefined;
  /** Whether the outcome goes to a program that cannot look into it. */
  readonly isHidden?: boolean | undefined;
  /** The span of the program that makes the call. Absent for a call of the model. */
  readonly inside?: SpanContext | undefined;
}

/** A call that a provider asks about. */
type AskedCall = Required<Pick<ToolCall, 'toolCallId'>> & { readonly providerApprovalId: string };

/** What became of a call: an outcome and the chunks that show it, or the chunks that ask a person. */
export interface SettledCall {
  readonly chunks: readonly UIMessageChunk[];
  readonly outcome?: ToolOutcome;
  /** A person was asked meanwhile. */
  readonly hasAsked?: boolean;
}

export class RunCalls {
  /** What the tools keep open until the run ends. */
  readonly scope: RunScope = createRunScope();

  readonly #run: RunOfCalls;
  readonly #targets: CallTargets;
  readonly #delegation: Delegation;
  /** What the stream shows as open. */
  readonly #open = createOpenCalls();
  /** By their ids: models use an id again in a later step. */
  readonly #calls = new Map<string, ToolCall>();
  readonly #ofProvider: ProviderCalls;
  readonly #announced = new Map<string, PromiseWithResolvers<void>>();

  constructor(run: RunOfCalls, targets: CallTargets) {
    this.#run = run;
    this.#targets = targets;
    const { budget, push } = targets;
    this.#ofProvider = new ProviderCalls(run, targets);
    this.#delegation = {
      callers: [run.agent.id],
      reserve: createReserves(budget),
      used: (more) => budget.addOther(more),
      show: push,
    };
  }

  /** Creates a call. Nothing happens yet. `facts` are those of a program's call. */
  open(tool: Tool, input: unknown, toolCallId: string, facts?: CallFacts): ToolCall {
    return new ToolCall(this.#run, { tool, input, toolCallId, facts });
  }

  /** Creates a call that its provider makes itself, and asks about. */
  openAsked(tool: Tool, input: unknown, { toolCallId, providerApprovalId }: AskedCall): ToolCall {
    return new ToolCall(this.#run, { tool, input, toolCallId, providerApprovalId });
  }

  /** Makes a call of the model, or asks the person who must approve it. */
  async askOrSettle(call: ToolCall, signal: AbortSignal): Promise<SettledCall> {
    const prepared = await call.prepare();
    if (prepared.ok || !prepared.approval) return await this.settle(call, { signal });
    return await this.requestApproval(call);
  }

  /** Makes a call, and returns what the stream is to show of it. Never rejects but for the storage of a question. */
  async settle(call: ToolCall, terms: RunCallTerms): Promise<SettledCall> {
    const { tool, toolCallId } = call;
    const outcome = await this.make(call, terms);
    if (call.isSuspended) return { chunks: [waitingChunk(toolCallId)] };
    const { interaction } = call;
    if (!outcome.ok && interaction) return { chunks: await this.#ask(call, interaction) };
    const { traceId } = this.#run;
    return { chunks: outcomeChunks(tool, outcome, { toolCallId, traceId }), outcome };
  }

  /** Makes a call; never rejects. */
  async make(
    call: ToolCall,
    { signal, approved = false, interruptionId, inside, isHidden }: RunCallTerms,
  ): Promise<ToolOutcome> {
    const { tool, toolCallId } = call;
    const { record, spans, settled } = this.#targets;
    const tooMany = this.countFailed();
    if (tooMany) return { ok: false, error: toData(tooMany) };
    if (!inside) await this.#announcement(toolCallId).promise;
    const { definition } = tool;
    // The stream does not show the input of a call of a program.
    const shown = inside && { input: this.#run.redaction.data(call.input) };
    const refused = mayAct(definition)
      ? await errorOf(record({ toolCallId, tool: definition.id, ...shown }))
      : undefined;
    if (refused) return { ok: false, error: refused };
    this.#calls.set(toolCallId, call);
    const made = await call.make({
      signal,
      approved,
      isHidden,
      spanContext: inside ?? spans.current,
      report: reportAt(this.#run.report, { step: spans.step }),
      facilities: this.#facilitiesOf(call, interruptionId),
    });
    const outcome = await settled(made);
    if (outcome.ok) call.interaction = undefined; // it went on without
    if (!call.interaction) call.outcome = outcome;
    // The stream has no end to give to a call that it does not show: a program may make a thousand.
    if (inside && !this.#open.has(toolCallId)) this.#calls.delete(toolCallId);
    return outcome;
  }

  /** Counts a call that cannot be made. Returns the error where the run may make no more. */
  countFailed(): PinnaceError | undefined {
    const { toolCalls } = this.#run.limits;
    return ++this.#targets.usage.toolCalls > toolCalls ? tooManyCalls(toolCalls) : undefined;
  }

  /** Records that a person must approve the call, and returns the chunk that asks. A call that nobody can be asked about is refused. */
  async requestApproval(call: ToolCall): Promise<SettledCall> {
    const { tool, toolCallId } = call;
    const { definition } = tool;
    const description = await call.describe();
    const asked = await this.#interrupt(call, 'approval', factsOf(tool, description)).catch(tooManyWaiting);
    if (asked instanceof PinnaceError) {
      const outcome = { ok: false as const, error: toData(asked) };
      return { chunks: outcomeChunks(tool, outcome, { toolCallId, traceId: this.#run.traceId }), outcome };
    }
    const { id } = asked;
    const target = { type: 'tool', id: definition.id };
    const why = description?.by && { rule: description.rule, ...call.factsNote() };
    const payload = { runId: this.#run.runId, approvalId: id, ...why };
    this.#targets.spans.current.emit({ action: 'approval.request', target, status: 'ok', payload });
    const facts = description && { reason: describedText(description), approvalDescriptor: { ...description } };
    return { chunks: [{ type: 'tool-approval-request', approvalId: id, toolCallId, ...facts }] };
  }

  /**
   * Lets the provider make a call that a person has approved: `shown` announces it. Returns why it may not: a rule denies it by now, the
   * run may make no more calls, or nothing could record it.
   */
  async letProvider(call: ToolCall, shown: UIMessageChunk): Promise<ErrorData | undefined> {
    const { tool: { definition: { id } }, toolCallId } = call;
    const prepared = await call.prepare();
    if (!prepared.ok && !prepared.approval) return toData(prepared.error);
    const tooMany = this.countFailed();
    if (tooMany) return toData(tooMany);
    const refused = await errorOf(this.#ofProvider.begin(call));
    if (refused) {
      this.#ofProvider.end(toolCallId, { status: 'error', error: refused });
      return refused;
    }
    this.#targets.push(shown);
    return await errorOf(this.#targets.record({ toolCallId, tool: id }));
  }

  /** The call is a program that waits for people. */
  suspend(toolCallId: string): void {
    const call = this.#calls.get(toolCallId);
    if (call) call.isSuspended = true;
  }

  /** Whether a person has approved the call. */
  isApproved(toolCallId: string): boolean {
    return this.#calls.get(toolCallId)?.isApproved ?? false;
  }

  /** The call may have changed something, whatever its tool declares. */
  acted(toolCallId: string): void {
    const call = this.#calls.get(toolCallId);
    if (call) call.mayHaveActed = true;
  }

  /** Takes a chunk of the stream, before redaction. */
  observe(chunk: UIMessageChunk): void {
    this.#open.observe(chunk);
    if ('providerExecuted' in chunk && chunk.providerExecuted) this.#ofProvider.observe(chunk);
    else if (chunk.type === 'tool-approval-request') this.#ofProvider.wait(chunk.toolCallId);
    if (chunk.type === 'tool-input-available') this.#calls.delete(chunk.toolCallId);
  }

  /** Takes a chunk that the stream has shown: the call that it announces may be made now. */
  shown(chunk: UIMessageChunk): void {
    if (chunk.type === 'tool-input-available') this.#announcement(chunk.toolCallId).resolve();
  }

  /** Ends all calls that the stream has not ended, in the events as well, and returns their chunks. */
  closing(loss: Loss): readonly UIMessageChunk[] {
    const { traceId } = this.#run;
    return this.#open.list().flatMap((open) => {
      const { toolCallId } = open;
      const call = this.#calls.get(toolCallId);
      if (call?.outcome) return outcomeChunks(call.tool, call.outcome, { toolCallId, traceId });
      const mayHaveActed = call?.mayHaveActed ?? this.#ofProvider.mayHaveActed(toolCallId);
      const error = lostError(open, { loss, mayHaveActed });
      call?.fail(error);
      this.#ofProvider.end(toolCallId, { status: statusOfError(error), error });
      return lostChunks(open, { error, traceId });
    });
  }

  /** Closes what the tools keep open. */
  close(): Promise<void> {
    return this.scope.close();
  }

  #announcement(toolCallId: string): PromiseWithResolvers<void> {
    const known = this.#announced.get(toolCallId) ?? Promise.withResolvers<void>();
    this.#announced.set(toolCallId, known);
    return known;
  }

  /** What a tool can do in a run. Redact before truncating, so partial secrets cannot leak. */
  #facilitiesOf(call: ToolCall, interruptionId: string | undefined): CallFacilities {
    const { redaction, now } = this.#run;
    const { push, citeOf } = this.#targets;
    const { toolCallId } = call;
    const redact = (text: string): string => redaction.text(text);
    return {
      log(text: string, level: LogLevel = 'info'): void {
        const data = { toolCallId, level, text: redact(text).slice(0, 4096).toWellFormed() };
        push({ type: 'data-tool-log', data, transient: true });
      },
      progress: createCallProgress(toolCallId, { redact, now, push }),
      cite: citeOf(toolCallId),
      scope: this.scope,
      delegation: this.#delegation,
      interruptionId,
      interrupt: (interaction: Interaction) => {
        call.interaction = interaction;
        return interactionRequired(call.tool);
      },
      askWhileOpen: (interaction: Interaction) => this.#askWhileOpen(call, interaction),
    };
  }

  /** Opens the interruption of a call, stores what the next call needs, and returns the chunks that ask. */
  async #ask(call: ToolCall, { kind, reason, data, save }: Interaction): Promise<readonly UIMessageChunk[]> {
    const { runId, redaction } = this.#run;
    const { toolCallId } = call;
    const { tool } = call;
    const asked = await this.#interrupt(call, kind, interactionFacts(tool, { reason, data: redaction.data(data) }))
      .catch(tooManyWaiting);
    if (asked instanceof PinnaceError) {
      return outcomeChunks(tool, { ok: false, error: toData(asked) }, { toolCallId, traceId: this.#run.traceId });
    }
    const { id, expiresAt } = asked;
    await save({ id, runId, expiresAt });
    const target = { type: 'tool', id: call.tool.definition.id };
    const payload = { runId, approvalId: id, kind };
    this.#targets.spans.current.emit({ action: 'interruption.request', target, status: 'ok', payload });
    return [
      { type: 'tool-approval-request', approvalId: id, toolCallId, reason },
      { type: 'data-interruption', id, data: redaction.data({ id, kind, toolCallId, expiresAt, ...data }) },
    ];
  }

  async #interrupt(
    call: ToolCall,
    kind: Interruption['kind'],
    facts: WaitingFacts,
  ): Promise<Interruption> {
    const { tool, input, preview, terms, sources, providerApprovalId } = call;
    call.asking();
    const { agent: { id: agentId }, principal, runId, interruptions, goesOn } = this.#run;
    const claim = await claimOn(this.#run, [tool.definition, input, ...sources]);
    const edit = kind === 'approval' ? this.editOf({ tool, input, terms }) : undefined;
    return await interruptions.open({
      ...claim,
      ...askedBy(principal, kind === 'approval' ? terms : {}),
      ...(preview !== undefined && { preview }),
      ...(providerApprovalId !== undefined && { providerApprovalId }),
      ...(goesOn && { goesOn }),
      chatId: this.#run.request.chat.id,
      ...(edit && { edit }),
      kind,
      runId,
      agentId,
      facts,
    });
  }

  /** What the person may change of a call. */
  editOf(call: Pick<ToolCall, 'tool' | 'input' | 'terms'>): Interruption['edit'] {
    return editOf(call, (data) => this.#run.redaction.data(data));
  }

  /** Asks in the stream while the call waits. The answer comes through the storage; no later run can spend it. */
  async #askWhileOpen({ toolCallId, tool }: ToolCall, { kind, reason, data, save }: Interaction): Promise<string> {
    const { agent: { id: agentId }, runId, interruptions, redaction, principal } = this.#run;
    const { tenant, subject } = principal;
    const binding = `${runId} ${toolCallId} open`;
    const facts = interactionFacts(tool, { reason, data: redaction.data(data) });
    const asked = { kind, runId, tenant, subject, ...askedBy(principal), agentId, binding, facts };
    const { id, expiresAt } = await interruptions.open(asked);
    await save({ id, runId, expiresAt });
    const call = this.#calls.get(toolCallId);
    if (call) call.hasAsked = true;
    const shown = redaction.data({ id, kind, toolCallId, expiresAt, isOpen: true, ...data });
    this.#targets.push({ type: 'data-interruption', id, data: shown });
    return id;
  }
}

/** What people are shown of a sign-in, or of the questions of a server: its words are data. */
function interactionFacts(
  { definition: { id } }: Tool,
  { reason, data }: Pick<Interaction, 'reason' | 'data'>,
): WaitingFacts {
  return { title: reason.slice(0, 300).toWellFormed(), toolId: id, ...data };
}

function tooManyWaiting(error: unknown): PinnaceError {
  if (error instanceof PinnaceError && error.code === 'rate_limited') return error;
  throw error;
}

async function errorOf(work: Promise<void>): Promise<ErrorData | undefined> {
  try {
    await work;
    return undefined;
  } catch (error) {
    return toData(error);
  }
}

/** Less often than a person sees, and so often that a flood cannot fill the log of the run. */
const spacingMs = 250;
const maxParts = 200;

/** Returns the function that shows the progress of a call. Redacts before it cuts, so partial secrets cannot leak. */
function createCallProgress(
  toolCallId: string,
  { redact, now, push }: {
    readonly redact: (text: string) => string;
    readonly now: () => number;
    readonly push: (chunk: UIMessageChunk) => void;
  },
): (progress: Progress) => void {
  let shownAt = -Infinity;
  let shown = 0;
  let highest = -Infinity;
  return ({ progress, total, message }) => {
    if (!Number.isFinite(progress) || progress <= highest) return;
    const isLast = progress === total;
    if (shown >= maxParts || (!isLast && now() - shownAt < spacingMs)) return;
    shown++;
    shownAt = now();
    highest = progress;
    const data = {
      toolCallId,
      progress,
      ...(Number.isFinite(total) && { total }),
      ...(message !== undefined && { message: redact(message).slice(0, 200).toWellFormed() }),
    };
    push({ type: 'data-tool-progress', id: toolCallId, data, transient: true });
  };
}

function interactionRequired({ definition: { id } }: Tool): PinnaceError {
  return new PinnaceError('approval_required', `Tool "${id}" waits for a person`, {
    details: { reason: 'interaction_required' },
  });
}

function tooManyCalls(limit: number): PinnaceError {
  return new PinnaceError('budget_exceeded', `Cannot call another tool: this run may make ${limit} calls`, {
    details: { reason: 'tool_calls' },
  });
}

interface ProviderCall {
  readonly span: Span;
  readonly tool: string;
  /** Whether it may change something; known only of tools about which the provider asks. */
  readonly mayHaveActed: boolean;
  readonly audited: Promise<((how: SpanEnd) => Promise<void>) | undefined>;
}

/** The calls of one run that its provider executes: counted, emitted and audited, from what the stream shows of them. */
class ProviderCalls {
  readonly #run: RunOfCalls;
  readonly #targets: Pick<CallTargets, 'usage' | 'spans' | 'find'>;
  readonly #open = new Map<string, ProviderCall>();
  /** The names of calls that are made, or asked about: their next chunk says it. */
  readonly #announced = new Map<string, string>();

  constructor(run: RunOfCalls, targets: Pick<CallTargets, 'usage' | 'spans' | 'find'>) {
    this.#run = run;
    this.#targets = targets;
  }

  observe(chunk: UIMessageChunk): void {
    if (chunk.type === 'tool-input-available') this.#announce(chunk.toolCallId, chunk.toolName);
    else if (chunk.type === 'tool-output-available' && chunk.preliminary !== true) {
      this.#read(chunk.toolCallId);
      this.end(chunk.toolCallId, { status: 'ok' });
    } else if (chunk.type === 'tool-output-error') {
      this.#read(chunk.toolCallId);
      const error = toData(new PinnaceError('unavailable', 'The tool of the provider failed'));
      this.end(chunk.toolCallId, { status: 'error', error });
    }
  }

  /** The model knows what its provider has found; of a call that an earlier run has made, anybody may have said it. */
  #read(toolCallId: string): void {
    const tool = this.#started(toolCallId)?.tool;
    const source = tool === undefined ? '*' : sourceOf({ id: tool, type: 'provider' });
    this.#run.facts?.add(labelOf([source], 'tenant'));
  }

  /** The provider asks about the call before it makes it. */
  wait(toolCallId: string): void {
    this.#announced.delete(toolCallId);
  }

  /** Starts a call that a person has approved. Rejects where the audit cannot have it. */
  async begin({ toolCallId, tool: { definition } }: ToolCall): Promise<void> {
    const audited = this.#start(toolCallId, definition, true);
    await audited;
  }

  mayHaveActed(toolCallId: string): boolean {
    return this.#started(toolCallId)?.mayHaveActed ?? false;
  }

  /** Ends a call; nothing where it is no call of the provider, or has ended. */
  end(toolCallId: string, how: SpanEnd): void {
    const call = this.#started(toolCallId);
    if (!call) return;
    this.#open.delete(toolCallId);
    const { span, tool, audited } = call;
    this.#run.metrics.count('pinnace_tool_calls_total', { tool, status: how.status });
    void audited.then((write) => write?.(how));
    span.end(how);
  }

  #announce(toolCallId: string, toolName: string): void {
    if (this.#open.has(toolCallId)) return; // an approved one
    this.#announced.set(toolCallId, toolName);
    if (this.#targets.find(toolName)?.definition.approval !== 'always') this.#started(toolCallId);
  }

  #started(toolCallId: string): ProviderCall | undefined {
    const toolName = this.#announced.get(toolCallId);
    if (toolName !== undefined) {
      this.#announced.delete(toolCallId);
      const definition = this.#targets.find(toolName)?.definition ?? { id: toolName.slice(0, 64), name: toolName };
      this.#targets.usage.toolCalls += 1;
      void this.#start(toolCallId, definition).catch(() => undefined); // reported; the call is made already
    }
    return this.#open.get(toolCallId);
  }

  #start(
    toolCallId: string,
    definition: Pick<Tool['definition'], 'id' | 'name'> & Partial<Tool['definition']>,
    approved = false,
  ): ReturnType<Recorder['start']> | Promise<undefined> {
    const { agent, principal, recorder, redaction, report } = this.#run;
    const { id: tool, name, approval } = definition;
    const actor = { type: 'agent', id: agent.id } as const;
    const target = { type: 'tool', id: tool } as const;
    const payload = {
      toolCallId: redaction.text(toolCallId.slice(0, 64)),
      executedBy: 'provider',
      ...(approval === 'always' && { called: redaction.text(name.slice(0, 64)) }),
      ...(approved && { approved }),
    };
    const span = this.#targets.spans.current.start({ action: 'tool.call', actor, target, payload });
    const effect: SideEffect = {
      traceId: span.traceId,
      spanId: span.spanId,
      tenant: principal.tenant,
      actor,
      action: 'tool.call',
      target,
      payload: { agent: agent.id, subject: redaction.text(principal.subject), ...payload },
    };
    const isActing = mayAct(definition);
    const writing = isActing ? recorder.start(effect) : Promise.resolve(undefined);
    const audited = writing.catch((error: unknown) => {
      report(error, { kind: 'tool', id: tool });
      return undefined;
    });
    this.#open.set(toolCallId, { span, tool, mayHaveActed: isActing && approval === 'always', audited });
    return writing;
  }
}
