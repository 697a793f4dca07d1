/** The tools of an agent without its model: for a person or a program that calls them through a client of its own. */

import { type ErrorData, toData } from '../../base/errors.ts';
import { reportAt } from '../../events/report.ts';
import { reportedHook } from '../../events/reported-port.ts';
import { createTraceId } from '../../events/trace-ids.ts';
import { actorOf, type Span, traceAt } from '../../events/span.ts';
import { codeRunId, unboundDelegation } from '../../tools/run-scope.ts';
import type { Tool, ToolContext, ToolOutcome } from '../../tools/tool.ts';
import { type CallFacilities, ToolCall } from '../../tools/tool-call.ts';
import {
  type ClientCall,
  type ClientRead,
  decideForClient,
  describeForClient,
  readForClient,
} from './client-access.ts';
import { minLimits } from './limits.ts';
import type { Principal } from '../../base/principal.ts';
import { createRunRedaction, redactedEmit } from '../../permission/redaction/run-redaction.ts';
import type { CallerTrace, RuntimeParts } from '../runtime-options.ts';

/** One call of a principal's own client. */
export interface ClientToolCall extends Pick<ToolContext, 'toolCallId' | 'signal' | 'log' | 'progress'> {
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
  const isOpen = ({ definition: { id, visibility } }: Tool): boolean =>
    id !== codeRunId && (principal.via !== 'http' || visibility !== 'internal'); // a program needs a run
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
