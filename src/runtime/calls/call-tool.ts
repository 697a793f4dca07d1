/** One tool call of an agent: its slot, its secrets, `invokeTool`, redaction, events and audit. */

import type { Recorder } from '../../events/audit.ts';
import { type Report, reportAt, reportHidden } from '../../events/report.ts';
import { withTenant } from '../../log/cache-key.ts';
import { egressDenied, isWithinEgress } from '../../base/egress-list.ts';
import { type ErrorData, isErrorCode, PinnaceError, toData } from '../../base/errors.ts';
import type { ObservedEvent } from '../../contracts/event-sink.ts';
import type { InputDigests } from '../../events/input-digests.ts';
import type { Metrics } from '../../base/metrics.ts';
import type { Authorize } from '../../contracts/authorize.ts';
import type { SecretScope } from '../../contracts/secret-source.ts';
import type { Storage } from '../../contracts/storage.ts';
import { takeToken } from '../../log/rate-limit.ts';
import type { Agent, SecretRef } from '../../base/schema.ts';
import type { Secret } from '../../base/secret.ts';
import { type Span, type SpanContext, type SpanEnd, statusOfError } from '../../events/span.ts';
import { failureOf, toolError } from '../../tools/failure.ts';
import { type InputSummary, inputSummary } from '../../tools/input-summary.ts';
import { invokeTool, type ToolCall } from '../../tools/invoke-tool.ts';
import { prepareCall, type PreparedCall } from '../../tools/prepare-call.ts';
import { codeRunId } from '../../tools/program-host.ts';
import type { Slots } from '../../tools/slots.ts';
import type { Tool, ToolOutcome } from '../../tools/tool.ts';
import { createCallAudit } from './call-audit.ts';
import type { Limits } from '../resolve/limits.ts';
import type { Principal } from '../../base/principal.ts';
import type { RunRedaction } from '../../permission/redaction/run-redaction.ts';

/** In whose name and under which rules tools are called. */
export interface CallOptions {
  /** Whose tools they are: its allowlist, its limits, its secrets. */
  readonly agent: Agent;
  readonly principal: Principal;
  /** Who decides on the calls: the agent's model, or a person's own client. */
  readonly actor: ObservedEvent['actor'];
  /** What the calls are within. */
  readonly spanContext: SpanContext;
  readonly limits: Limits;
  readonly storage: Storage;
  readonly slots: Slots;
  readonly authorize: Authorize;
  readonly resolveSecret: (ref: SecretRef, scope: SecretScope, spanContext: SpanContext) => Promise<Secret>;
  readonly redaction: RunRedaction;
  readonly recorder: Recorder;
  readonly metrics: Metrics;
  readonly digests: InputDigests;
  readonly report: Report;
  readonly now: () => number;
}

/** One call. */
export interface CallFacts
  extends
    Pick<ToolCall, 'toolCallId' | 'log' | 'progress' | 'cite' | 'scope' | 'signal' | 'onStart' | 'delegation'>,
    Pick<ToolCall, 'interrupt' | 'interruptionId' | 'askWhileOpen'> {
  /** A person has approved this very call; `by_caller`: the caller itself, who decides at once. */
  readonly approved?: boolean | 'by_caller';
  /** The call as it was prepared before; prepared here when absent. */
  readonly prepared?: PreparedCall | undefined;
  /** Receives what ends the call's events at once, for a run that cannot wait for the call. */
  readonly onSpan?: ((fail: (error: ErrorData) => void) => void) | undefined;
}

/** Calls a tool; never throws. */
export async function callTool(
  tool: Tool,
  input: unknown,
  { call, options }: { readonly call: CallFacts; readonly options: CallOptions },
): Promise<ToolOutcome> {
  const digestOf = options.digests.current ?? await options.digests.load(call.signal);
  const schema = tool.definition.paramsSchema;
  let summary: InputSummary | undefined; // made once, and only for a reader
  const summaryOf = (): InputSummary =>
    summary ??= inputSummary(input, { schema, tenant: options.principal.tenant, digestOf });
  const span = options.spanContext.start({
    action: 'tool.call',
    actor: options.actor,
    target: { type: 'tool', id: tool.definition.id },
    payload: () => ({ toolCallId: call.toolCallId.slice(0, 64), ...summaryOf() }),
  });
  call.onSpan?.((error) => emitEnd(span, tool, { status: statusOfError(error), error }));
  const { toolCallId, approved } = call;
  const { actor, agent, principal, recorder, redaction } = options;
  const what = { span, toolCallId, approved: approved && true, input: summaryOf };
  const audit = createCallAudit(tool, { ...what, actor, agent, principal, recorder, redaction });
  const outcome = await callInTurn(tool, options, call.signal, async () => {
    requireEgress(tool, options);
    const secrets = await toolSecrets(tool, options, span);
    const who = { toolCallId, agentId: agent.id, principal, authorize: options.authorize, approved };
    const prepared = call.prepared ?? prepareCall(tool, input, who);
    const made = { span, start: audit.start, prepared, secrets };
    return redacted(await invokeTool(tool, input, toolCallOf(tool, { call, options, made })), options);
  });
  const error = failureOf(tool, outcome);
  const how = { status: error ? statusOfError(error) : 'ok', error } as const;
  countCall(options.metrics, tool.definition.id, how);
  await audit.end(how);
  emitEnd(span, tool, how);
  return outcome;
}

type MadeFor = Pick<ToolCall, 'start' | 'prepared' | 'secrets'> & { readonly span: Span };

/** Written out, because copying fields takes several times as long. */
function toolCallOf(
  tool: Tool,
  { call, options, made }: { readonly call: CallFacts; readonly options: CallOptions; readonly made: MadeFor },
): { readonly [Field in keyof Required<ToolCall>]: ToolCall[Field] } {
  const { toolCallId, log, progress, cite, scope, signal, onStart, delegation } = call;
  const { interrupt, interruptionId, askWhileOpen } = call;
  const { agent: { id: agentId, egress: origins }, principal, redaction, report } = options;
  const { timeoutMs, maxOutputLength, maxFileBytes } = callLimits(options, tool);
  const { span, start, prepared, secrets } = made;
  return {
    toolCallId,
    agentId,
    principal,
    prepared,
    secrets,
    log,
    redact: (text) => redaction.text(text),
    progress,
    cite,
    scope,
    start,
    onStart,
    span,
    delegation,
    origins,
    protect: (secret) => redaction.add(secret),
    interrupt,
    interruptionId,
    askWhileOpen,
    report: reportAt(report, { traceId: span.traceId }),
    signal,
    timeoutMs,
    maxOutputLength,
    maxFileBytes,
  };
}

/** Takes a slot of the tool and a token of the agent's rate limit. Without either, nothing is called. */
async function callInTurn(
  { definition: { id, tenant: owner, limits } }: Tool,
  { slots, storage, now, agent, principal, report, limits: { callsPerMinute: perMinute } }: CallOptions,
  signal: AbortSignal,
  work: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  let free: (() => void) | undefined;
  try {
    if (limits?.parallel !== undefined) free = await slots.take(withTenant(id, owner), limits.parallel, signal);
    if (perMinute !== undefined) {
      await takeToken({ key: ['rate', principal.tenant, agent.id], perMinute }, { storage, now });
    }
    return await work();
  } catch (error) {
    reportHidden(report, error, { kind: 'tool', id });
    return { ok: false, error: toData(error) };
  } finally {
    free?.();
  }
}

/** Before anything else: no person is to approve what is refused. A tool that chooses the origin by its input checks it itself. */
function requireEgress({ definition: { id }, secretOrigin = '' }: Tool, { agent }: CallOptions): void {
  if (secretOrigin === '' || isWithinEgress(new URL(secretOrigin), agent.egress)) return;
  throw egressDenied(`Cannot call tool "${id}"`, secretOrigin, `the "egress" of agent "${agent.id}"`);
}

/** The secrets that the definition lists and the agent allows, each for the one origin that the tool sends it to. */
async function toolSecrets(
  { definition: { id: toolId, secrets }, secretOrigin: origin }: Tool,
  { agent, principal: { tenant }, resolveSecret, redaction }: CallOptions,
  span: Span,
): Promise<Readonly<Record<string, Secret>>> {
  const refused = secrets.find((ref) => !isAllowed(agent, ref));
  if (refused) throw notAllowed(refused.id, toolId, agent.id);
  const scope = { tenant, agentId: agent.id, toolId, ...(origin !== undefined && { origin }) };
  const entries = await Promise.all(
    secrets.map(async (ref) => [ref.id, await resolveSecret(ref, scope, span)] as const),
  );
  for (const [, secret] of entries) redaction.add(secret);
  return Object.fromEntries(entries);
}

/** An agent without a list leaves it to its tools; a version that the agent names is the only one. */
function isAllowed({ secrets: allowed }: Agent, { id, version }: SecretRef): boolean {
  return allowed === undefined ||
    allowed.some((one) => one.id === id && (one.version === undefined || one.version === version));
}

function notAllowed(secret: string, tool: string, agent: string): PinnaceError {
  const advice = 'add it to the "secrets" of the agent, or remove that list';
  return new PinnaceError(
    'forbidden',
    `Cannot call tool "${tool}": agent "${agent}" does not allow its secret "${secret}"; ${advice}`,
    {
      details: { reason: 'secret_not_allowed', secret, tool, agent },
    },
  );
}

/** Redact outcomes: a tool may return a secret. */
function redacted(outcome: ToolOutcome, { redaction }: CallOptions): ToolOutcome {
  if (outcome.ok) return { ok: true, output: redaction.data(outcome.output) };
  return { ok: false, error: redaction.data(outcome.error) };
}

function callLimits(
  { limits }: CallOptions,
  { definition }: Tool,
): Pick<ToolCall, 'timeoutMs' | 'maxOutputLength' | 'maxFileBytes'> {
  return {
    maxFileBytes: limits.attachmentLength,
    // An agent works in steps, and a program makes calls: each has the time of a step of its caller, not that of one tool.
    timeoutMs: Math.min(
      definition.type === 'agent' || definition.id === codeRunId ? limits.stepMs : limits.toolMs,
      definition.limits?.timeoutMs ?? Infinity,
    ),
    maxOutputLength: Math.min(limits.toolOutputLength, definition.limits?.outputLength ?? Infinity),
  };
}

type CallEnd = Required<Omit<SpanEnd, 'payload'>>;

function countCall(metrics: Metrics, tool: string, { status, error }: CallEnd): void {
  metrics.count('pinnace_tool_calls_total', { tool, status });
  if (!error) return;
  const isKnown = isErrorCode(error.code) || error.code === toolError.code; // a tool may make codes of its own
  metrics.count('pinnace_tool_failures_total', { tool, code: isKnown ? error.code : 'other' });
}

/** Emits a failed call also as an error event, for those who handle errors. */
function emitEnd(span: Span, { definition: { id } }: Tool, { status, error }: CallEnd): void {
  if (status === 'error') span.emit({ action: 'error', target: { type: 'tool', id }, status, error });
  span.end({ status, error });
}
