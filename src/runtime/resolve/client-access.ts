/** What a principal's own client may do besides calling tools: read what is no tool, and decide on its own calls. */

import { PinnaceError, toData } from '../../base/errors.ts';
import { type Principal, requireScope } from '../../base/principal.ts';
import { reportAt, reportHidden } from '../../events/report.ts';
import { actorOf, type Span, type SpanContext, statusOfError } from '../../events/span.ts';
import { takeToken } from '../../log/rate-limit.ts';
import { type ApprovalTerms, requestPermission, requirePermission } from '../../permission/authorize.ts';
import { decide } from '../../permission/decide.ts';
import { requireDecider } from '../../permission/ownership.ts';
import { describeCall, describedText } from '../../tools/call-approval.ts';
import type { Tool } from '../../tools/tool.ts';
import type { CallHost } from '../../tools/tool-call.ts';
import type { CallerTrace, RuntimeParts } from '../runtime-options.ts';

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
export interface ClientCall {
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
    await requirePermission(authorize, { action, principal, resource: target, context }, attempt);
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
export async function describeForClient(
  { tool, input, error }: ClientCall,
  { agent, principal, authorize }: Pick<ReadOptions, 'agent' | 'principal' | 'authorize'>,
): Promise<string | undefined> {
  if (!mayDecide(principal, agent.id, error.details)) return undefined;
  const resource = { type: 'approval', id: tool.definition.id, subject: principal.subject };
  const context = { input: { tool: tool.definition.id, approved: true, input }, agentId: agent.id };
  const ruling = await requestPermission(authorize, { action: 'approval.decide', principal, resource, context });
  if (ruling.decision !== 'allow') return undefined;
  const rule = error.details?.['reason'] === 'not_authorized' ? error.message : undefined;
  return describedText(await describeCall(tool, input, rule));
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
export async function decideForClient(
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
