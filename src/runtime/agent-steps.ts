/** What an agent does outside a run, one step at a time: a model call or a tool call. Plans are made of such steps. */

import type { JSONValue } from '../contracts/ai-types.ts';
import { fromData, type PinnaceError, toData } from '../base/errors.ts';
import type { AgentSteps, StepInput, StepOf, ThoughtCall } from '../contracts/steps.ts';
import { traceAt } from '../events/span.ts';
import { describedText } from '../tools/approval.ts';
import { prepareCall } from '../tools/prepare-call.ts';
import { createRunScope } from '../tools/run-scope.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { ToolDefinition } from '../base/schema.ts';
import { createRunFiles } from './attachments/run-files.ts';
import { describeApproval } from './calls/approvals.ts';
import { type CallOptions, callTool } from './calls/call-tool.ts';
import { type ModelMessage, withContext } from './messages/model-messages.ts';
import { narrowToSources, reachableBy } from './resolve/data-sources.ts';
import { unboundDelegation } from '../tools/delegation.ts';
import { minLimits } from './resolve/limits.ts';
import { callModelOnce, type ModelCall } from './model/model-turn.ts';
import { createPrincipal, requireScope } from '../base/principal.ts';
import { createRunRedaction, redactedContext, redactedEmit } from './calls/run-redaction.ts';
import type { RuntimeParts } from './runtime-options.ts';
import { createStepTools } from './loop/step-tools.ts';

/** The parts of a runtime that exist before its plans. */
type StepParts = Omit<RuntimeParts, 'plans'>;

/** Creates the steps of a runtime's agents. */
export function createAgentSteps(parts: StepParts): AgentSteps {
  return {
    async think(request) {
      const { model, tools, ...rest } = await prepare(parts, request);
      const { agent, limits, notes, place, files } = rest;
      const primitives = new Set(request.primitives.map(({ name }) => name));
      const offered = tools.filter(({ definition }) => !primitives.has(definition.name));
      const messages = [...withOutcomes(request.history as readonly ModelMessage[] ?? [], request.inputs)]; // ours of the last step
      const { text, calls, tokens, message } = await callModelOnce({
        agent,
        model,
        place,
        metrics: parts.metrics,
        limits,
        signal: request.signal,
        instructions: [request.instructions, agent.instructions].filter((part) => part !== '').join('\n\n'),
        onText: (said) => parts.liveTexts.emit(planOf(request), said),
        messages: await files.load(withContext(messages, notes)),
        tools: [...request.primitives, ...offered.map(({ definition }) => definition)],
      });
      const read = await Promise.all(calls.map((call) => readCall(call, { ...rest, tools: offered, primitives })));
      return { text, calls: read, tokens, history: [...messages, message] };
    },
    async act({ tool: name, input, callId, approved, ...request }) {
      const scope = createRunScope();
      let tokens = 0;
      const delegation = {
        ...unboundDelegation([...request.callers ?? [], request.agentId]),
        used: (more: number): void => void (tokens += more),
      };
      try {
        const prepared = await prepare(parts, request);
        const tool = prepared.tools.find(({ definition }) => definition.name === name);
        if (!tool) throw prepared.missing(name);
        const call = { toolCallId: callId, log: () => undefined, scope, signal: request.signal, approved, delegation };
        const outcome = await prepared.files.settled(await callTool(tool, input, { call, options: prepared }));
        return tokens > 0 ? { ...outcome, tokens } : outcome;
      } catch (error) {
        return { ok: false, error: toData(error) };
      } finally {
        await scope.close();
      }
    },
  };
}

/** The task ids of a plan start with its plan id. */
function planOf({ taskId }: StepOf): string {
  const end = taskId.indexOf(':');
  return end < 0 ? taskId : taskId.slice(0, end);
}

async function prepare(
  parts: StepParts,
  { agentId, owner, taskId, traceId, span, only, above = [], signal }: StepOf & { readonly signal: AbortSignal },
) {
  const { resolver } = parts;
  const principal = createPrincipal({ ...owner, via: 'in-process' });
  requireScope(principal, 'run:create', agentId);
  await resolver.refresh();
  const actor = { type: 'agent', id: agentId } as const;
  const redaction = createRunRedaction();
  const telling = { emit: redactedEmit(parts.emit, redaction), now: parts.now };
  const place = span
    ? redactedContext(span, redaction)
    : traceAt({ traceId, tenant: principal.tenant, actor }, telling);
  const resolved = await resolver.resolve(agentId, principal, place);
  const { model, secret } = resolved;
  const agent = await narrowToSources(resolved.agent, above, (id) => resolver.agent(id, principal));
  const toolSet = await parts.toolSetOf(agent, resolved.tools, resolved.servers);
  if (secret) redaction.add(secret);
  const stepTools = createStepTools({ agent, toolSet, discovery: parts.discovery, principal, chatId: taskId });
  await stepTools.restore();
  const isReachable = await reachableBy(above, (id) => resolver.agent(id, principal));
  const tools = stepTools.current().filter((tool) =>
    (only?.includes(tool.definition.name) ?? true) && isReachable(tool.definition)
  );
  const limits = minLimits(parts.limits, agent.limits);
  const facts = { agent, principal, actor, limits, place, redaction, resolveSecret: resolver.secret };
  const call: CallOptions = { ...parts, ...facts };
  const files = createRunFiles({ ...parts, tenant: principal.tenant, signal, limits, span: place });
  return { ...call, model, tools, files, notes: toolSet.notes, missing: (name: string) => stepTools.missing(name) };
}

interface ReadContext extends Pick<CallOptions, 'authorize' | 'principal' | 'agent' | 'redaction'> {
  readonly tools: readonly Tool[];
  readonly primitives: ReadonlySet<string>;
  readonly missing: (name: string) => PinnaceError;
}

async function readCall(
  { toolCallId: callId, toolName: name, input, error }: ModelCall,
  context: ReadContext,
): Promise<ThoughtCall> {
  const facts = { callId, name, input };
  const tool = context.tools.find(({ definition }) => definition.name === name);
  if (error) {
    return { ...facts, kind: 'refused', error: toData(error.code === 'not_found' ? context.missing(name) : error) };
  }
  if (context.primitives.has(name)) return { ...facts, kind: 'primitive' };
  if (!tool) return { ...facts, kind: 'refused', error: toData(context.missing(name)) };
  const { agent, principal, authorize, redaction } = context;
  const caller = { toolCallId: callId, agentId: agent.id, principal, authorize };
  const prepared = await prepareCall(tool, input, caller); // `act` prepares it again: the plan may act much later
  const approval = await describeApproval(tool, input, { prepared, redaction });
  return {
    ...facts,
    kind: 'tool',
    effect: effectOf(tool.definition),
    ...(approval && { approval: describedText(approval) }),
  };
}

function effectOf({ annotations }: ToolDefinition): 'pure' | 'idempotent' | 'unsafe' {
  if (annotations?.readOnlyHint === true) return 'pure';
  return annotations?.idempotentHint === true ? 'idempotent' : 'unsafe';
}

/** Every call has an outcome before anything else is said: models refuse a history where one has none. */
function withOutcomes(history: readonly ModelMessage[], inputs: readonly StepInput[]): readonly ModelMessage[] {
  const last = history.at(-1);
  const asked = last?.role === 'assistant' && typeof last.content !== 'string'
    ? last.content.flatMap((part) => part.type === 'tool-call' ? [part] : [])
    : [];
  const outcomes = new Map(inputs.flatMap((one) => one.type === 'outcome' ? [[one.callId, one.outcome] as const] : []));
  const results = asked.map(({ toolCallId, toolName, providerOptions }) => {
    const result = { type: 'tool-result' as const, toolCallId, toolName, output: outputOf(outcomes.get(toolCallId)) };
    return providerOptions === undefined ? result : { ...result, providerOptions }; // a result has those of its call
  });
  const texts = inputs.flatMap((one) => one.type === 'text' ? [one.text] : []);
  return [
    ...history,
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(texts.length > 0 ? [{ role: 'user' as const, content: texts.join('\n\n') }] : []),
  ];
}

function outputOf(outcome: ToolOutcome | undefined) {
  if (!outcome) return { type: 'text' as const, value: 'Under way' };
  if (!outcome.ok) return { type: 'error-text' as const, value: fromData(outcome.error).message };
  if (typeof outcome.output === 'string') return { type: 'text' as const, value: outcome.output };
  return { type: 'json' as const, value: (outcome.output ?? null) as JSONValue }; // `invokeTool` has made it JSON
}
