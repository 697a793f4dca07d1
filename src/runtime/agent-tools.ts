/** The tools of an agent without its model: for a person or a program that calls them through a client of its own. */

import { type ErrorData, PinnaceError, toData } from '../base/errors.ts';
import { reportAt, reportedHook, reportHidden } from '../events/report.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { actorOf, type CallerTrace, type Span, type SpanContext, statusOfError, traceAt } from '../events/span.ts';
import { codeRunId, followId, unboundDelegation } from '../tools/run-scope.ts';
import type { Tool, ToolContext, ToolOutcome } from '../tools/tool.ts';
import { type CallFacilities, type CallHost, ToolCall } from '../tools/tool-call.ts';
import { minLimits } from './limits.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { createRunRedaction, redactedEmit } from '../permission/redaction/run-redaction.ts';
import type { RuntimeParts } from './run-context.ts';
import { takeToken } from '../log/rate-limit.ts';
import { type ApprovalTerms, requestPermission, requirePermission } from '../permission/authorize.ts';
import { decide } from '../permission/decide.ts';
import { requireDecider } from '../permission/ownership.ts';
import { describeCall, describedText } from '../tools/call-approval.ts';
import { previewCall } from '../tools/call-preview.ts';

/** One call of a principal's own client. */
interface ClientToolCall extends Pick<ToolContext, 'toolCallId' | 'signal' | 'log' | 'progress'> {
  readonly trace?: CallerTrace;
  /**
   * The decision of the person behind the client. Takes the scope `tool:approve`, is checked by `authorize` (`approval.decide`), and
   * audited. Absent: a call that a person must approve is refused as `approval_required`.
   */
  readonly approved?: boolean;
}

/** What an agent may use, and the way to call it. */
export interface AgentTools {
  /** The agent's tool set. The same array for as long as nothing has changed. */
  readonly tools: readonly Tool[];
  /**
   * Calls a tool in the agent's name: with its limits and secrets, checked by `authorize`, redacted and observed. Never throws. A
   * call that a person must approve is refused as `approval_required`, for there is no run that could wait.
   */
  readonly call: (tool: Tool, input: unknown, call: ClientToolCall) => Promise<ToolOutcome>;
  /**
   * Describes a call that was refused as `approval_required` to the person who may decide on it; `undefined` where the principal may
   * not decide on it itself.
   */
  readonly describe: (refused: ClientCall) => Promise<string | undefined>;
  /**
   * Reads for the principal what is no tool, such as a resource of an MCP server: checked by `authorize`, within the rate limit of the
   * agent, observed, a refusal audited. Rejects as the work does.
   */
  readonly read: <T>(what: ClientRead, work: (span: Span) => Promise<T>) => Promise<T>;
  /** Aborts when the runtime closes: what a client holds open ends then. */
  readonly closing: AbortSignal;
}

/** Opens the tools of an agent for a principal who may run it. */
export async function openAgentTools(parts: RuntimeParts, agentId: string, principal: Principal): Promise<AgentTools> {
  const { resolver, toolSetOf, closing } = parts;
  await resolver.refresh();
  const { agent, tools, servers } = await resolver.equip(agentId, principal);
  const toolSet = await toolSetOf(agent, tools, servers);
  // An internal tool is the agent's, not that of a caller who calls tools past it.
  const isOpen = ({ definition: { id, type, visibility } }: Tool): boolean =>
    id !== codeRunId && !(id === followId && type === 'builtin') && // both need a run
    (principal.via !== 'http' || visibility !== 'internal');
  const redaction = createRunRedaction();
  const options = {
    ...parts,
    agent,
    principal,
    actor: actorOf(principal),
    limits: minLimits(parts.limits, agent.limits),
    resolveSecret: resolver.secret,
    redaction,
  } as const;
  return {
    tools: toolSet.tools.filter(isOpen),
    closing,
    describe: (refused) => describeForClient(refused, options),
    read: (what, work) => {
      const { traceId = createTraceId(), parentSpanId } = what.trace ?? {};
      const { actor, emit, now } = options;
      const spanContext = traceAt({ traceId, parentSpanId, tenant: principal.tenant, actor }, { emit, now });
      const authorize = reportedHook(options.authorize, reportAt(options.report, { traceId }), 'authorize');
      return readForClient(what, { spanContext, options: { ...options, authorize } }, work);
    },
    async call(tool, input, { signal, log, progress, toolCallId, trace, approved }) {
      const facilities: CallFacilities = {
        delegation: unboundDelegation([agentId]),
        log: (text, level) => log(redaction.text(text), level),
        progress: progress && ((step) => progress(redaction.data(step))),
      };
      const { traceId = createTraceId(), parentSpanId } = trace ?? {};
      const { actor, emit, now } = options;
      const report = reportAt(options.report, { traceId });
      const observers = { report, authorize: reportedHook(options.authorize, report, 'authorize') };
      const traceOptions = { emit: redactedEmit(emit, redaction), now };
      const spanContext = traceAt({ traceId, parentSpanId, tenant: principal.tenant, actor }, traceOptions);
      if (approved !== undefined) {
        const decision = { tool, toolCallId, approved, traceId };
        const refused = await refusalOf(decideForClient(decision, { agentId, principal, parts }));
        if (refused) return { ok: false, error: refused };
      }
      return await new ToolCall({ ...options, ...observers }, { tool, input, toolCallId }).make({
        signal: AbortSignal.any([signal, closing]),
        spanContext,
        approved: approved && 'by_caller',
        facilities,
      });
    },
  };
}

async function refusalOf(decision: Promise<void>): Promise<ErrorData | undefined> {
  try {
    await decision;
    return undefined;
  } catch (thrown) {
    return toData(thrown);
  }
}

/** What a client reads, for the permission hook and for events. */
export interface ClientRead {
  /** `mcp.resource.read`, `mcp.prompt.get`, … */
  readonly action: string;
  /** Events contain it: it must not contain what a person has typed. */
  readonly target: { readonly type: string; readonly id: string };
  /** The start of a refusal's text: `Cannot read the resource`. */
  readonly attempt: string;
  /** Further facts for the hook. */
  readonly input?: unknown;
  readonly trace?: CallerTrace;
}

/** The call that a client wants to decide on. */
interface ClientCall {
  readonly tool: Tool;
  readonly input: unknown;
  /** The error of the call without an approval: it contains the reason of the hook that wants a person. */
  readonly error: { readonly message: string; readonly details?: Readonly<Record<string, unknown>> };
}

type ReadOptions = Omit<CallHost, 'actor' | 'redaction' | 'resolveSecret'>;

/**
 * Runs the work after the permission hook allowed it, in a span. A refusal is audited. Rejects as the work does.
 *
 * @throws PinnaceError `forbidden` or `approval_required` as the hook decides, `rate_limited` as for a tool call.
 */
export async function readForClient<T>(
  { action, target, attempt, input }: ClientRead,
  { spanContext, options }: { readonly spanContext: SpanContext; readonly options: ReadOptions },
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const { agent, principal, authorize, recorder, report, storage, now, limits: { callsPerMinute: perMinute } } =
    options;
  const span = spanContext.start({ action, target });
  try {
    if (perMinute !== undefined) {
      await takeToken({ key: ['rate', principal.tenant, agent.id], perMinute }, { storage, now });
    }
    const context = { input, agentId: agent.id };
    await requirePermission(authorize, { action, principal, resource: target, context }, { attempt });
    const result = await work(span);
    span.end({ status: 'ok' });
    return result;
  } catch (thrown) {
    reportHidden(reportAt(report, { traceId: span.traceId }), thrown, { kind: 'mcp', id: action });
    const error = toData(thrown);
    const how = { status: statusOfError(error), error };
    span.end(how);
    const actor = actorOf(principal);
    const { traceId, spanId } = span;
    const effect = { traceId, spanId, tenant: principal.tenant, actor, action, target, payload: { agent: agent.id } };
    if (how.status === 'denied') await recorder.refuse(effect, how);
    throw thrown;
  }
}

/** Describes a call to the person behind the client; `undefined` where the client may not decide on it. */
async function describeForClient(
  { tool, input, error }: ClientCall,
  { agent, principal, authorize }: Pick<ReadOptions, 'agent' | 'principal' | 'authorize'>,
): Promise<string | undefined> {
  if (!mayDecide(principal, agent.id, error.details)) return undefined;
  const resource = { type: 'approval', id: tool.definition.id, subject: principal.subject };
  const context = { input: { tool: tool.definition.id, approved: true, input }, agentId: agent.id };
  const ruling = await requestPermission(authorize, { action: 'approval.decide', principal, resource, context });
  if (ruling.decision !== 'allow') return undefined;
  const rule = error.details?.['reason'] === 'not_authorized' ? error.message : undefined;
  const preview = await previewCall(tool, input, { principal, redact: (data) => data }); // it has resolved no secret
  return describedText(await describeCall(tool, input, { rule, preview: preview?.shown }));
}

/** Whether the caller may decide on its own call: not where a rule names others, or wants another person. */
function mayDecide(principal: Principal, agentId: string, terms: ClientCall['error']['details'] = {}): boolean {
  const { tenant, subject, actor } = principal;
  const { approvers, fourEyes } = terms as ApprovalTerms; // `refusal` writes them
  try {
    requireScope(principal, 'tool:approve', agentId);
    return requireDecider(principal, { tenant, subject, actor, agentId, approvers, fourEyes });
  } catch {
    return false;
  }
}

/**
 * Records the decision of the person behind the client.
 *
 * @throws PinnaceError `forbidden` without the scope `tool:approve`, as the hook decides, and for a denial (`approval_denied`).
 */
async function decideForClient(
  { tool, toolCallId, approved, traceId }: {
    readonly tool: Tool;
    readonly toolCallId: string;
    readonly approved: boolean;
    readonly traceId: string;
  },
  { agentId, principal, parts }: {
    readonly agentId: string;
    readonly principal: Principal;
    readonly parts: RuntimeParts;
  },
): Promise<void> {
  requireScope(principal, 'tool:approve', agentId);
  const { id } = tool.definition;
  const facts = { input: { tool: id, approved }, payload: { tool: id, approved } };
  const { subject } = principal;
  await decide({ principal, traceId, agentId, subject, id: toolCallId, ...facts }, parts, () => Promise.resolve());
  if (approved) return;
  throw new PinnaceError('forbidden', `Cannot call tool "${id}": a person has denied the call`, {
    details: { reason: 'approval_denied' },
  });
}
