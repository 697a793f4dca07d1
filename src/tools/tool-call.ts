/**
 * One tool call of an agent: in a run, in a step of a plan, or by a person's own client. `ToolCall` is made once per call and holds
 * what happens to it. What its caller lends (`CallHost`) is one object for all its calls, and is never copied.
 *
 * What must hold:
 *
 * 1. The order of `make`: span, slot of the tool, rate limit, egress, secrets, check and permission, audit of the start, tool,
 *    redaction, metrics, audit of the end, end of the span. Without a slot or a token of the rate limit, nothing is resolved or asked.
 * 2. Egress and secrets come before permission: no person is asked about a call that is refused anyway.
 * 3. The hook decides once on a call: `prepare` is done once, and `make` uses its permit, which is good for this call alone.
 * 4. A call that may act is in the audit before it acts. Where that cannot be written, the tool does not run.
 * 5. Every started span and audit entry gets exactly one end, also when the tool outlasts its time.
 * 6. Secrets are known to the redaction before the tool gets them; outcomes are redacted before anyone sees them.
 * 7. A tool gets the `ToolContext` that `make` writes out, never this object: what a host lends is not for tools.
 *
 * A new facility for tools is a field of `ToolContext` (`tool.ts`) and a line here, or in `run-calls.ts` where only runs have it.
 */

import { egressDenied, isWithinEgress } from '../base/origins.ts';
import { type ErrorData, isErrorCode, PinnaceError, toData } from '../base/errors.ts';
import type { Metrics } from '../base/metrics.ts';
import type { Principal } from '../base/principal.ts';
import type { Agent, SecretRef } from '../base/schema.ts';
import type { Secret } from '../base/secret.ts';
import { loadOnce } from '../base/load-once.ts';
import type { Authorize, CallContextFacts } from '../contracts/authenticator.ts';
import type { ObservedEvent, SummaryValue } from '../contracts/event-sink.ts';
import type { Interaction } from '../contracts/mcp/answers.ts';
import type { SecretScope } from '../contracts/egress.ts';
import type { Storage } from '../contracts/storage.ts';
import type { Recorder, SideEffect } from '../events/audit.ts';
import type { InputDigests } from '../events/input-digests.ts';
import { type Report, reportAt, reportHidden } from '../events/report.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../events/span.ts';
import { withTenant } from '../log/cache-key.ts';
import { takeToken } from '../log/rate-limit.ts';
import type { ApprovalTerms } from '../permission/authorize.ts';
import {
  type CallFacts,
  highestTrust,
  isUntrusted,
  join,
  type Label,
  trusted,
  unlabelled,
} from '../permission/label.ts';
import { contextFacts, inputLabel, JudgedCall, noteOfFacts, outputLabel, RunFacts } from '../permission/run-facts.ts';
import type { RunRedaction } from '../permission/redaction/run-redaction.ts';
import { type CallDescription, describeCall, sourcesOf } from './call-approval.ts';
import { previewCall, type TakenPreview } from './call-preview.ts';
import { failureOf, leavesDoubt, mayAct, toolError } from './call-ends.ts';
import { declaredPlaces, type InputSummary, inputSummary } from './input-fields.ts';
import { executeCall, type LentContext, prepareCall, type PreparedCall, withOrigin } from './invoke-tool.ts';
import { codeRunId, type Slots } from './run-scope.ts';
import type { Tool, ToolOutcome } from './tool.ts';

/** Most agents are open: they need no rules of a level. */
const loadGuard = /* @__PURE__ */ loadOnce(() => import('../permission/guard-rules.ts'));

/** Of a call whose run nobody has followed: anybody may have said anything. */
const unknownFacts = new RunFacts({ read: unlabelled });

/** What a run, a step of a plan or a client lends to its calls: in whose name and under which rules tools are called. */
export interface CallHost {
  /** Whose calls they are: its egress, its secrets, its rate limit. */
  readonly agent: Agent;
  readonly principal: Principal;
  /** Who decides on the calls, such as a person's own client. Absent: the agent's model. */
  readonly actor?: ObservedEvent['actor'] | undefined;
  /** What is done, for events and audit, where it is no call: `tool.undo`. */
  readonly action?: string | undefined;
  readonly limits: CallLimits;
  readonly storage: Storage;
  readonly slots: Slots;
  readonly authorize: Authorize;
  readonly resolveSecret: (ref: SecretRef, scope: SecretScope, spanContext: SpanContext) => Promise<Secret>;
  readonly redaction: Pick<RunRedaction, 'add' | 'text' | 'data'>;
  readonly recorder: Recorder;
  readonly metrics: Metrics;
  readonly digests: InputDigests;
  readonly report: Report;
  readonly now: () => number;
  /** What its run has read; absent where nothing is known of it. */
  readonly facts?: RunFacts | undefined;
}

/** The limits of a host that bound each of its calls. */
export interface CallLimits {
  /** The time of a call; a program or another agent has that of a step. */
  readonly toolMs: number;
  readonly stepMs: number;
  readonly toolOutputLength: number;
  /** The largest file of an output, in bytes. */
  readonly attachmentLength: number;
  readonly callsPerMinute?: number | undefined;
}

export interface CallTerms {
  /** Ends the call, with the run. */
  readonly signal: AbortSignal;
  /** What the call is within. */
  readonly spanContext: SpanContext;
  /** Receives causes; the host's when absent. */
  readonly report?: Report | undefined;
  /** A person has approved this very call; `by_caller`: the caller itself, who decides at once. */
  readonly approved?: boolean | 'by_caller' | undefined;
  /** Whether the outcome goes to a program that cannot look into it: then the run has not read it. */
  readonly isHidden?: boolean | undefined;
  /** What the tool can do here. The rest of its context is the call's own. */
  readonly facilities: CallFacilities;
}

/** The part of a tool's context that depends on where it is called. */
export type CallFacilities = Omit<
  LentContext,
  | 'toolCallId'
  | 'principal'
  | 'secrets'
  | 'redact'
  | 'protect'
  | 'span'
  | 'origins'
  | 'label'
  | 'inputLabel'
>;

/** What is called, and what is known of its arguments. */
type CallRequest =
  & Pick<ToolCall, 'tool' | 'input' | 'toolCallId'>
  & Partial<Pick<ToolCall, 'facts' | 'providerApprovalId'>>;

/** One call, from its preparation to its outcome. */
export class ToolCall {
  readonly tool: Tool;
  /** As the caller gave it: the permit is bound to this value. */
  readonly input: unknown;
  readonly toolCallId: string;
  /** Where its arguments are from. Absent: the model has written them, after all that its run has read. */
  readonly facts: CallFacts | undefined;
  /** What its provider has called its question, for a call that it makes itself. */
  readonly providerApprovalId: string | undefined;
  /** Who has said the outcome, once there is one. */
  label: Label = trusted;
  /** The outcome, once the call has ended with one. */
  outcome: ToolOutcome | undefined;
  /** The digest of what the person is shown, once the call is described. */
  preview: string | undefined;
  /** Who decides and until when, once the call is described. */
  terms: ApprovalTerms = {};
  /** What the tool needs of a person before it can go on. */
  interaction: Interaction | undefined;
  /** Whether it has asked a person while it was open. */
  hasAsked = false;
  /** Whether it is a program that waits for people. */
  isSuspended = false;
  /** Whether it may have changed something that nothing undoes or repeats. */
  mayHaveActed = false;

  readonly #host: CallHost;
  /** What the run has read before the model wrote the call. */
  readonly #read: Label;
  /** Whether the tool has worked: what it throws then is its own. */
  #isStarted = false;
  #judged: JudgedCall | undefined;
  #contextFacts: CallContextFacts | undefined;
  #prepared: Promise<PreparedCall> | undefined;
  #approved: CallTerms['approved'];
  #span: Span | undefined;
  #summary: (() => InputSummary) | undefined;
  /** Its facts, for the event of its end. */
  #note: Readonly<Record<string, SummaryValue>> | undefined;
  #auditStart: ReturnType<Recorder['start']> | undefined;
  #auditEnd: Awaited<ReturnType<Recorder['start']>> | undefined;

  constructor(host: CallHost, { tool, input, toolCallId, facts, providerApprovalId }: CallRequest) {
    this.#host = host;
    this.tool = tool;
    this.input = input;
    this.toolCallId = toolCallId;
    this.facts = facts;
    this.providerApprovalId = providerApprovalId;
    this.#read = (host.facts ?? unknownFacts).readBefore(toolCallId);
  }

  /** Whether a person has approved it. */
  get isApproved(): boolean {
    return this.#approved === true;
  }

  /** Checks the input and asks the permission hook, once. Never rejects. */
  prepare(): Promise<PreparedCall> {
    return this.#prepared ??= this.#prepare();
  }

  async #prepare(): Promise<PreparedCall> {
    const { agent: { id: agentId, trust = 'open' }, principal, authorize } = this.#host;
    const { tool, input, toolCallId, facts: labels } = this;
    const by = labels && !isUntrusted(this.#read) ? 'program' : 'model'; // a program of a model that has read is no plan
    const isFree = trust === 'guarded' && by === 'program' && !this.#judge().isForGuard;
    const hook = trust === 'open' || isFree ? undefined : (await loadGuard()).guardHook(trust, by);
    const guard = { hook, facts: () => this.contextFacts() };
    const caller = { toolCallId, agentId, principal, authorize, labels, guard, trust, approved: this.#approved };
    return await prepareCall(tool, input, caller);
  }

  /** What a decision on the call is bound to besides tool and input; nothing in an open agent. */
  get sources(): readonly unknown[] {
    return sourcesOf(this.#host.agent, this.#read);
  }

  /** Lets the run remember that a person is asked. */
  asking(): void {
    if (this.sources.length > 0 && !this.facts) this.#host.facts?.ask(this.toolCallId, this.#read);
  }

  /** Where the values of the call are from, and where they go. */
  contextFacts(): CallContextFacts {
    return this.#contextFacts ??= contextFacts(this.#judge());
  }

  #judge(): JudgedCall {
    const { tool: { definition }, input, facts } = this;
    const call = { definition, input, facts, run: this.#host.facts ?? unknownFacts, read: this.#read };
    return this.#judged ??= new JudgedCall(call);
  }

  /** The facts as events have them, so that rules can be tried on them later; nothing where nobody else has said anything. */
  factsNote(): Readonly<Record<string, SummaryValue>> | undefined {
    if (!this.#host.facts || (this.#read === trusted && !this.facts)) return undefined;
    return noteOfFacts(this.#judge(), declaredPlaces(this.tool.definition.paramsSchema));
  }

  /** Describes the call to the person who must approve it; returns `undefined` where no approval is needed. */
  async describe(): Promise<CallDescription | undefined> {
    const prepared = await this.prepare();
    if (prepared.ok || !prepared.approval) return undefined;
    const { redaction } = this.#host;
    const { reason, approvers, fourEyes } = this.terms = prepared.approval;
    // Redact before truncating, so partial secrets cannot leak.
    const rule = reason === undefined ? undefined : redaction.text(reason);
    const preview = await this.#preview();
    this.preview = preview?.digest;
    const isOpen = highestTrust(this.#host.agent.trust) === 'open';
    const origins = isOpen ? undefined : { facts: this.contextFacts(), by: this.facts ? 'program' : 'model' } as const;
    const given = { rule, preview: preview?.shown, origins };
    const description = await describeCall(this.tool, redaction.data(this.input), given);
    return { ...description, ...(approvers && { approvers }), ...(fourEyes && { fourEyes }) };
  }

  /** Whether the tool shows of the call what it showed to the person who approved it. */
  async isAsShown(preview: string): Promise<boolean> {
    return preview === (await this.#preview())?.digest;
  }

  #preview(): Promise<TakenPreview | undefined> {
    const { principal, redaction } = this.#host;
    return previewCall(this.tool, this.input, { principal, redact: (data) => redaction.data(data) });
  }

  /** Makes the call and returns its outcome, redacted; never rejects. A call is made once. */
  async make(terms: CallTerms): Promise<ToolOutcome> {
    const { tool, input, toolCallId } = this;
    const { digests, principal: { tenant }, metrics, actor = this.#agentActor() } = this.#host;
    const digestOf = digests.current ?? await digests.load(terms.signal);
    const schema = tool.definition.paramsSchema;
    let summary: InputSummary | undefined; // made once, and only for a reader
    const summaryOf = (): InputSummary => summary ??= inputSummary(input, { schema, tenant, digestOf });
    this.#summary = summaryOf;
    this.#approved = terms.approved;
    this.#span = terms.spanContext.start({
      action: this.#host.action ?? 'tool.call',
      actor,
      target: { type: 'tool', id: tool.definition.id },
      payload: () => {
        const start = { toolCallId: toolCallId.slice(0, 64), ...summaryOf() };
        this.#note = this.factsNote(); // now: the tool may change its input
        return start;
      },
    });
    this.#host.facts?.count(tool.definition.id);
    const outcome = await this.#inTurn(terms, this.#span);
    this.#addLabel();
    if (!terms.isHidden) this.#host.facts?.add(this.label);
    const error = failureOf(tool, outcome);
    const how = { status: error ? statusOfError(error) : 'ok', error } as const;
    countCall(metrics, tool.definition.id, how);
    await this.#endAudit(this.#span, how);
    this.#emitEnd(this.#span, how);
    return outcome;
  }

  /** The code of an error is ours; what a tool says with it is the tool's. What a call has sent is no news to its run. */
  #addLabel(): void {
    if (!this.#isStarted) return;
    const { tool: { definition }, facts, label: said } = this;
    const sent = inputLabel({ facts, read: this.#read });
    const { trust } = this.#host.agent;
    this.label = join(outputLabel(definition, sent, trust ?? 'open'), said);
  }

  /** Ends the events of a call at once, for a run that cannot wait for it. */
  fail(error: ErrorData): void {
    if (this.#span) this.#emitEnd(this.#span, { status: statusOfError(error), error });
  }

  /** Takes a slot of the tool and a token of the agent's rate limit. Without either, nothing is called. */
  async #inTurn(terms: CallTerms, span: Span): Promise<ToolOutcome> {
    const { id, tenant: owner, limits } = this.tool.definition;
    const { slots, storage, now, agent, principal, report, limits: { callsPerMinute: perMinute } } = this.#host;
    let free: (() => void) | undefined;
    try {
      if (limits?.parallel !== undefined) {
        free = await slots.take(withTenant(id, owner), limits.parallel, terms.signal);
      }
      if (perMinute !== undefined) {
        await takeToken({ key: ['rate', principal.tenant, agent.id], perMinute }, { storage, now });
      }
      return await this.#execute(terms, span);
    } catch (error) {
      reportHidden(terms.report ?? report, error, { kind: 'tool', id });
      return { ok: false, error: toData(error) };
    } finally {
      free?.();
    }
  }

  async #execute({ signal, report, facilities }: CallTerms, span: Span): Promise<ToolOutcome> {
    const { tool, input, toolCallId } = this;
    const { agent, principal, redaction, limits, report: ofHost } = this.#host;
    requireEgress(tool, agent);
    const secrets = await this.#secrets(span);
    const context = {
      ...facilities, // first: copying all fields of one object is cheap
      toolCallId,
      principal,
      secrets,
      redact: (text: string) => redaction.text(text),
      protect: (secret: Secret) => redaction.add(secret),
      span,
      origins: agent.egress,
      label: (label: Label) => void (this.label = join(this.label, label)),
      inputLabel: inputLabel({ facts: this.facts, read: this.#read }),
    };
    const bounds = {
      prepared: this.prepare(), // not awaited here: its time counts as the call's
      start: mayAct(tool.definition) ? () => this.#startAudit(span) : undefined,
      onStart: () => {
        this.#isStarted = true;
        this.mayHaveActed = leavesDoubt(tool.definition, input);
      },
      report: reportAt(report ?? ofHost, { traceId: span.traceId }),
      signal,
      timeoutMs: timeoutOf(tool, limits),
      maxOutputLength: Math.min(limits.toolOutputLength, tool.definition.limits?.outputLength ?? Infinity),
      maxFileBytes: limits.attachmentLength,
    };
    const call = { tool, input, toolCallId, agentId: agent.id, principal, labels: this.facts };
    const outcome = await executeCall(call, { bounds, context });
    const shown = withOrigin(tool, outcome, this.label);
    if (shown.ok) return { ok: true, output: redaction.data(shown.output) }; // a tool may return a secret
    return { ok: false, error: redaction.data(shown.error) };
  }

  /** The secrets that the definition lists and the agent allows, each for the one origin that the tool sends it to. */
  async #secrets(span: Span): Promise<Readonly<Record<string, Secret>>> {
    const { definition: { id: toolId, secrets }, secretOrigin: origin } = this.tool;
    const { agent, principal: { tenant }, resolveSecret, redaction } = this.#host;
    const refused = secrets.find((ref) => !isAllowed(agent, ref));
    if (refused) throw secretNotAllowed(refused.id, toolId, agent.id);
    const scope = { tenant, agentId: agent.id, toolId, ...(origin !== undefined && { origin }) };
    const entries = await Promise.all(
      secrets.map(async (ref) => [ref.id, await resolveSecret(ref, scope, span)] as const),
    );
    for (const [, secret] of entries) redaction.add(secret);
    return Object.fromEntries(entries);
  }

  async #startAudit(span: Span): Promise<void> {
    this.#auditStart = this.#host.recorder.start(this.#sideEffect(span));
    this.#auditEnd = await this.#auditStart;
  }

  /** Writes the end of a call that has started, and the refusal of one that was denied. Never rejects. */
  async #endAudit(span: Span, how: SpanEnd): Promise<void> {
    if (this.#auditEnd) await this.#auditEnd(how);
    // The call timed out while its start was being written: its end follows that write, and no caller waits.
    else if (this.#auditStart) void this.#auditStart.then((write) => write(how), () => undefined);
    else if (how.status === 'denied') await this.#host.recorder.refuse(this.#sideEffect(span), how);
  }

  /** What the audit writes: a summary of the input, and no secret of the run. */
  #sideEffect({ traceId, spanId }: Span): SideEffect {
    const { principal, agent, redaction, actor = this.#agentActor() } = this.#host;
    return {
      traceId,
      spanId,
      tenant: principal.tenant,
      actor,
      action: this.#host.action ?? 'tool.call',
      target: { type: 'tool', id: this.tool.definition.id },
      payload: {
        agent: agent.id,
        subject: redaction.text(principal.subject),
        toolCallId: redaction.text(this.toolCallId.slice(0, 64)),
        approved: this.#approved && true,
        ...this.#summary?.(),
      },
    };
  }

  /** Emits a failed call also as an error event, for those who handle errors. */
  #emitEnd(span: Span, { status, error }: CallEnd): void {
    const { definition: { id } } = this.tool;
    if (status === 'error') span.emit({ action: 'error', target: { type: 'tool', id }, status, error });
    span.end({ status, error, ...(this.#note && { payload: this.#note }) });
  }

  #agentActor(): ObservedEvent['actor'] {
    return { type: 'agent', id: this.#host.agent.id };
  }
}

/** A tool that chooses the origin by its input checks it itself. */
function requireEgress({ definition: { id }, secretOrigin = '' }: Tool, { id: agentId, egress }: Agent): void {
  if (secretOrigin === '' || isWithinEgress(new URL(secretOrigin), egress)) return;
  throw egressDenied(`Cannot call tool "${id}"`, secretOrigin, `the "egress" of agent "${agentId}"`);
}

/** An agent without a list leaves it to its tools; a version that the agent names is the only one. */
function isAllowed({ secrets: allowed }: Agent, { id, version }: SecretRef): boolean {
  return allowed === undefined ||
    allowed.some((one) => one.id === id && (one.version === undefined || one.version === version));
}

function secretNotAllowed(secret: string, tool: string, agent: string): PinnaceError {
  const advice = 'add it to the "secrets" of the agent, or remove that list';
  return new PinnaceError(
    'forbidden',
    `Cannot call tool "${tool}": agent "${agent}" does not allow its secret "${secret}"; ${advice}`,
    { details: { reason: 'secret_not_allowed', secret, tool, agent } },
  );
}

/** An agent works in steps, and a program makes calls: each has the time of a step of its caller, not that of one tool. */
function timeoutOf({ definition: { id, type, limits } }: Tool, { stepMs, toolMs }: CallLimits): number {
  return Math.min(type === 'agent' || id === codeRunId ? stepMs : toolMs, limits?.timeoutMs ?? Infinity);
}

type CallEnd = Required<Omit<SpanEnd, 'payload'>>;

function countCall(metrics: Metrics, tool: string, { status, error }: CallEnd): void {
  metrics.count('pinnace_tool_calls_total', { tool, status });
  if (!error) return;
  const isKnown = isErrorCode(error.code) || error.code === toolError.code; // a tool may make codes of its own
  metrics.count('pinnace_tool_failures_total', { tool, code: isKnown ? error.code : 'other' });
}
