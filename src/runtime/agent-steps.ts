/** What an agent does outside a run, one step at a time: a model call or a tool call. Plans are made of such steps. */

import type { JSONValue, ModelMessage } from '../contracts/ai-types.ts';
import { fromData, PinnaceError, toData } from '../base/errors.ts';
import type {
  AgentSteps,
  ApprovedEdit,
  CallQuestion,
  StepInput,
  StepOf,
  ThinkRequest,
  Thought,
  ThoughtCall,
} from '../contracts/steps.ts';
import { reportAt, reportedHook, reportHidden } from '../events/report.ts';
import { traceAt } from '../events/span.ts';
import { type CallDescription, describedText } from '../tools/call-approval.ts';
import { editOf, editsOf, withEditLines } from '../tools/edited-calls.ts';
import { codeRunId, createReserves, createRunScope, type Delegation } from '../tools/run-scope.ts';
import { type CallHost, ToolCall } from '../tools/tool-call.ts';
import type { Tool, ToolOutcome } from '../tools/tool.ts';
import type { Agent, ToolDefinition } from '../base/schema.ts';
import { createRunFiles } from './run-files.ts';
import { withInstructions } from './compose-loop.ts';
import { wantsOthers } from './decided-calls.ts';
import { leaveProvider, toPrompt } from './model-prompt.ts';
import { minLimits } from './limits.ts';
import { highestTrust, join, parseLabel, type Trust } from '../permission/label.ts';
import { RunFacts } from '../permission/run-facts.ts';
import type { ResolvedModel } from './provider-model.ts';
import { createModelBudget, type ModelUsage, requirePrice } from './model-budget.ts';
import {
  callModelOnce,
  type ModelCall,
  type ModelTurn,
  readTaskHistory,
  taskModels,
  writeTaskHistory,
} from './model-turn.ts';
import { createPrincipal, requireScope } from '../base/principal.ts';
import { createRunRedaction, redactedContext, redactedEmit } from '../permission/redaction/run-redaction.ts';
import type { RuntimeParts } from './run-context.ts';
import { createStepTools } from './step-tools.ts';
import { requireGuard } from './tool-sets.ts';
import { itemsMessage } from './turn-context.ts';
import { loadedIn, type LoadedTools } from './wrapped-calls.ts';
import { type EgressList, narrowEgress } from '../base/origins.ts';
import { type ContextWindowOptions, type FitPrompt, valueTokens } from './estimate-prompt.ts';
import { createContextWindow } from './context-window.ts';

/** The parts of a runtime that exist before its plans. */
export type StepParts = Omit<RuntimeParts, 'plans'>;

/** Creates the steps of a runtime's agents. */
export function createAgentSteps(parts: StepParts): AgentSteps {
  return {
    async think(request) {
      const last = readTaskHistory(request.history);
      const messages = withOutcomes(last.messages, request.inputs);
      const { tools, ...prepared } = await prepare(parts, request, loadedIn(messages));
      const primitives = new Set(request.primitives.map(({ name }) => name));
      const offered = tools.filter(({ definition }) => !primitives.has(definition.name));
      const { calls, ...thought } = await callStepModel(parts, request, {
        ...prepared,
        tools: offered,
        last,
        messages,
      });
      const read = await Promise.all(calls.map((call) => readCall(call, { ...prepared, primitives })));
      return { ...thought, calls: read };
    },
    async act({ tool: name, input, callId, approved, edited, ...request }) {
      const scope = createRunScope();
      const usage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      const budget = createModelBudget(request.budget ?? {}, usage);
      const delegation: Delegation = {
        callers: [...request.callers ?? [], request.agentId],
        reserve: createReserves(budget),
        used: (more) => budget.addOther(more),
        show: () => undefined,
      };
      try {
        const prepared = await prepare(parts, request);
        const tool = prepared.callable(name) ?? prepared.known(name); // the model had loaded it when it called it
        if (!tool) throw prepared.missing(name);
        const facilities = { log: () => undefined, scope, delegation };
        const { spanContext } = prepared;
        const call = new ToolCall(prepared, { tool, input, toolCallId: callId });
        const asks = edited &&
          await asksOthers(prepared, new ToolCall(prepared, { tool, input, toolCallId: callId }), edited);
        if (asks) return { ok: false, error: toData(changeNeedsApproval(name)), asks, read: prepared.facts.read };
        const outcome = await prepared.files.settled(
          await call.make({ signal: request.signal, approved, spanContext, facilities }),
        );
        const { totalTokens: tokens, cost } = usage;
        const read = join(prepared.facts.read, call.label);
        return { ...outcome, read, ...(tokens > 0 && { tokens, cost }) };
      } catch (error) {
        reportHidden(parts.report, error, { kind: 'plan', planId: planOf(request), traceId: request.traceId });
        return { ok: false, error: toData(error), read: parseLabel(request.read) }; // the tool was not called
      } finally {
        await scope.close();
      }
    },
  };
}

/** The messages of a task, with the outcomes of the calls before. */
interface TaskMessages {
  readonly last: ReturnType<typeof readTaskHistory>;
  readonly messages: ModelMessage[];
}

/** Calls the model of the request's agent, or a fallback, and counts what that uses. */
async function callStepModel(
  { metrics, liveTexts, budgets }: StepParts,
  request: ThinkRequest,
  prepared: Prepared & TaskMessages,
): Promise<Omit<Thought, 'calls'> & Pick<ModelTurn, 'calls'>> {
  const { resolved, agent: given, principal, limits, notes, spanContext, redaction, report, files } = prepared;
  const { tools, callable, last, messages } = prepared;
  const instructionsRequest = { agentId: given.id, context: notes, principal };
  const agent = await withInstructions(given, resolved.code.instructions, instructionsRequest, {
    signal: request.signal,
    report,
  });
  const { isOther, ...models } = await taskModels({ ...last, messages }, { ...resolved, first: resolved, spanContext });
  const onResolved = ({ secret }: ResolvedModel) => secret && redaction.add(secret);
  onResolved(models.first);
  requirePrice(models.first.provider, request.budget?.cost);
  const usage: ModelUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  const instructions = [request.instructions, agent.instructions].filter((part) => part !== '').join('\n\n');
  const offered = [...request.primitives, ...tools.map(({ definition }) => definition)];
  const noted = notes.length > 0 ? [itemsMessage(notes), ...messages] : messages;
  const prompt = toPrompt(instructions, await files.load(noted));
  const { signal } = request;
  const spender = { tenant: principal.tenant, subject: principal.subject, agentId: agent.id };
  const budget = createModelBudget(request.budget ?? {}, usage, budgets && ((need) => budgets.hold(spender, need)));
  const fit = fitOnce({ agentId: agent.id, signal, tools: offered });
  await fit(prompt, models.first.contextTokens);
  const { fallback, message, ...turn } = await callModelOnce({
    agent,
    models: { ...models, onResolved },
    budget,
    spanContext,
    metrics,
    report,
    limits,
    signal,
    onText: (said) => liveTexts.emit(planOf(request), said),
    prompt,
    fit,
    tools: offered,
    callable,
  }).finally(() => {
    budget.close();
    request.onUsage?.({ tokens: usage.totalTokens, cost: usage.cost });
  });
  if (fallback) leaveProvider(messages);
  const model = fallback ?? (isOther ? last.model : undefined);
  const history = writeTaskHistory({ messages: [...messages, message], model });
  return { ...turn, tokens: usage.totalTokens, history };
}

/** The task ids of a plan start with its plan id. */
function planOf({ taskId }: Pick<StepOf, 'taskId'>): string {
  const end = taskId.indexOf(':');
  return end < 0 ? taskId : taskId.slice(0, end);
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

async function prepare(
  parts: StepParts,
  { agentId, owner, taskId, traceId, span, only, above = [], callers = [], signal, read }: StepOf & {
    readonly signal: AbortSignal;
  },
  loaded: LoadedTools = new Map(),
) {
  const { resolver } = parts;
  const principal = createPrincipal({ ...owner, via: 'in-process' });
  requireScope(principal, 'run:create', agentId);
  await resolver.refresh();
  const actor = { type: 'agent', id: agentId } as const;
  const redaction = createRunRedaction();
  const traceOptions = { emit: redactedEmit(parts.emit, redaction), now: parts.now };
  const spanContext = span
    ? redactedContext(span, redaction)
    : traceAt({ traceId, tenant: principal.tenant, actor }, traceOptions);
  const resolved = await resolver.resolve(agentId, principal, spanContext);
  const find = (id: string): Promise<Agent> => resolver.agent(id, principal);
  const agent = await narrowToReach(resolved.agent, { above, callers }, find);
  requireGuard(agent, { tools: [], canRun: false }); // a step of a plan has no programs
  const toolSet = await parts.toolSetOf(agent, resolved.tools, resolved.servers);
  if (resolved.secret) redaction.add(resolved.secret);
  const { discovery } = parts;
  const { contextTokens } = resolved;
  const stepTools = createStepTools({ agent, toolSet, discovery, contextTokens, principal, loaded });
  const isReachable = await reachableBy(above, find);
  const isOffered = ({ definition }: Tool): boolean =>
    (only?.includes(definition.name) ?? true) && isReachable(definition) && definition.id !== codeRunId &&
    definition.type !== 'provider';
  const offered = stepTools.current().filter(isOffered);
  const wrapper = discovery && stepTools.current().includes(discovery.call) && !offered.includes(discovery.call);
  const tools = wrapper ? [...offered, discovery.call] : offered;
  const callable = callableOf(stepTools.callable(), isOffered);
  const known = callableOf((name) => toolSet.tools.find(({ definition }) => definition.name === name), isOffered);
  const limits = minLimits(parts.limits, agent.limits);
  const report = reportAt(parts.report, { planId: planOf({ taskId }), traceId });
  const authorize = reportedHook(parts.authorize, report, 'authorize');
  const observers = { spanContext, redaction, report, authorize };
  const facts = new RunFacts({ read: parseLabel(read) });
  const host = { ...parts, agent, principal, actor, limits, ...observers, facts, resolveSecret: resolver.secret };
  const files = createRunFiles({ ...parts, owner: principal, signal, limits, span: spanContext });
  const missing = (name: string) => stepTools.missing(name);
  return { ...host, resolved, tools, callable, known, files, notes: toolSet.notes, missing };
}

function callableOf(
  find: (name: string) => Tool | undefined,
  isOffered: (tool: Tool) => boolean,
): (name: string) => Tool | undefined {
  return (name) => {
    const tool = find(name);
    return tool && isOffered(tool) && tool.isAvailable?.() !== false ? tool : undefined;
  };
}

interface ReadContext extends CallHost {
  readonly callable: (name: string) => Tool | undefined;
  readonly primitives: ReadonlySet<string>;
  readonly missing: (name: string) => PinnaceError;
}

async function readCall(
  { toolCallId: callId, toolName: name, input, error }: ModelCall,
  context: ReadContext,
): Promise<ThoughtCall> {
  const facts = { callId, name, input };
  const tool = context.callable(name);
  if (error) {
    return { ...facts, kind: 'refused', error: toData(error.code === 'not_found' ? context.missing(name) : error) };
  }
  if (context.primitives.has(name)) return { ...facts, kind: 'primitive' };
  if (!tool) return { ...facts, kind: 'refused', error: toData(context.missing(name)) };
  // `act` prepares it again: the plan may act much later.
  const asked = await questionOf(context, new ToolCall(context, { tool, input, toolCallId: callId }));
  return { ...facts, kind: 'tool', effect: effectOf(tool.definition), ...asked };
}

/** What must be asked anew of a call that a person has changed. */
async function asksOthers(host: CallHost, probe: ToolCall, edited: ApprovedEdit): Promise<CallQuestion | undefined> {
  return await wantsOthers(probe, edited) ? await questionOf(host, probe) : undefined;
}

function changeNeedsApproval(name: string): PinnaceError {
  return new PinnaceError('approval_required', `Cannot call tool "${name}": a person must approve the change`);
}

/** The longest input and schema of a question of a plan, which its journal has, as JSON in UTF-16 code units. */
const longestEdit = 32_768;

async function questionOf({ redaction }: CallHost, call: ToolCall): Promise<CallQuestion> {
  const approval = await call.describe();
  if (!approval) return {};
  const { approvers, fourEyes } = approval;
  const edit = editOf(call, (data) => redaction.data(data));
  return {
    approval: describedText(approval),
    about: aboutOf(call.tool, approval),
    ...(approvers && { approvers }),
    ...(fourEyes && { fourEyes }),
    ...(edit && JSON.stringify(edit).length <= longestEdit && { edit }),
  };
}

function aboutOf({ definition: { id: toolId } }: Tool, { title, quote }: CallDescription) {
  return { title, ...(quote !== undefined && { quote }), toolId };
}

function effectOf({ annotations }: ToolDefinition): 'pure' | 'idempotent' | 'unsafe' {
  if (annotations?.readOnlyHint === true) return 'pure';
  return annotations?.idempotentHint === true ? 'idempotent' : 'unsafe';
}

type Outcome = Extract<StepInput, { readonly type: 'outcome' }>;

/** Every call has an outcome before anything else is said: models refuse a history where one has none. */
function withOutcomes(history: readonly ModelMessage[], inputs: readonly StepInput[]): ModelMessage[] {
  const last = history.at(-1);
  const calls = last?.role === 'assistant' && typeof last.content !== 'string'
    ? last.content.flatMap((part) => part.type === 'tool-call' ? [part] : [])
    : [];
  const outcomes = new Map(inputs.flatMap((one) => one.type === 'outcome' ? [[one.callId, one] as const] : []));
  const results = calls.map(({ toolCallId, toolName, providerOptions }) => {
    const { outcome, edited } = outcomes.get(toolCallId) ?? {};
    const said = outputOf(outcome);
    const output = edited ? withEditLines(said, editsOf(edited.before, edited.after)) : said;
    const result = { type: 'tool-result' as const, toolCallId, toolName, output };
    return providerOptions === undefined ? result : { ...result, providerOptions }; // a result has those of its call
  });
  const texts = inputs.flatMap((one) => one.type === 'text' ? [one.text] : []);
  // No provider has seen the call yet: it is sent as it was made.
  const isEdited = calls.some(({ toolCallId }) => outcomes.get(toolCallId)?.edited);
  const made = last && isEdited ? [...history.slice(0, -1), withEdits(last, outcomes)] : history;
  return [
    ...made,
    ...(results.length > 0 ? [{ role: 'tool' as const, content: results }] : []),
    ...(texts.length > 0 ? [{ role: 'user' as const, content: texts.join('\n\n') }] : []),
  ];
}

/** The message with the inputs of people in place of the model's. */
function withEdits(message: ModelMessage, outcomes: ReadonlyMap<string, Outcome>): ModelMessage {
  if (message.role !== 'assistant' || typeof message.content === 'string') return message;
  const content = message.content.map((part) => {
    const edited = part.type === 'tool-call' ? outcomes.get(part.toolCallId)?.edited : undefined;
    return edited ? { ...part, input: edited.after } : part;
  });
  return { ...message, content };
}

function outputOf(outcome: ToolOutcome | undefined) {
  if (!outcome) return { type: 'text' as const, value: 'Under way' };
  if (!outcome.ok) return { type: 'error-text' as const, value: fromData(outcome.error).message };
  if (typeof outcome.output === 'string') return { type: 'text' as const, value: outcome.output };
  return { type: 'json' as const, value: (outcome.output ?? null) as JSONValue }; // `invokeTool` has made it JSON
}

const narrowed = new WeakMap<Agent, Map<string, Agent>>();

/**
 * Returns the agent with what it and the agents around it may all reach: who makes or calls an agent cannot reach through it what it
 * cannot reach itself. Those that made it (`above`) leave it their common data sources, and those that called it (`callers`) as well
 * their common `egress`; all of them their level, of which the highest counts. A removed or disabled one leaves nothing. The same object for the same reach.
 */
async function narrowToReach(
  agent: Agent,
  { above, callers }: { readonly above: readonly string[]; readonly callers: readonly string[] },
  find: (agentId: string) => Promise<Agent>,
): Promise<Agent> {
  let { dataSources, egress, trust }: Reach = agent;
  for (const agentId of new Set([...above, ...callers])) {
    const theirs = await reachOf(agentId, find);
    egress = narrowEgress(egress, theirs.egress);
    trust = highestTrust(trust, theirs.trust);
    if (above.includes(agentId)) dataSources = dataSources.filter((id) => theirs.dataSources.includes(id));
  }
  const isSame = egress === agent.egress && highestTrust(trust) === highestTrust(agent.trust);
  if (isSame && dataSources.length === agent.dataSources.length) return agent;
  const known = narrowed.get(agent) ?? new Map<string, Agent>();
  narrowed.set(agent, known);
  const key = JSON.stringify([dataSources, egress, trust]);
  const made = known.get(key) ?? { ...agent, dataSources: [...dataSources], egress: egress && [...egress], trust };
  known.set(key, made);
  return made;
}

/** Returns whether a tool reaches no data source that one of these agents does not name. */
async function reachableBy(
  above: readonly string[],
  find: (agentId: string) => Promise<Agent>,
): Promise<(definition: ToolDefinition) => boolean> {
  const theirs = await Promise.all(above.map((agentId) => reachOf(agentId, find)));
  return ({ type, config }) =>
    type !== 'datastore' || theirs.every(({ dataSources }) => dataSources.includes(String(config?.['dataSourceId'])));
}

interface Reach {
  readonly dataSources: readonly string[];
  readonly egress?: EgressList | undefined;
  readonly trust?: Trust | undefined;
}

const nothing: Reach = { dataSources: [], egress: [] };

async function reachOf(agentId: string, find: (agentId: string) => Promise<Agent>): Promise<Reach> {
  try {
    return await find(agentId);
  } catch (error) {
    if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return nothing;
    throw error;
  }
}

/** What a single call is fitted with. */
interface FitOnceOptions extends Pick<ContextWindowOptions, 'agentId' | 'signal'> {
  /** Their definitions take room too. */
  readonly tools: readonly object[];
}

/** Creates the function that fits the prompt of a call. */
function fitOnce({ tools, ...options }: FitOnceOptions): FitPrompt {
  const tokens = valueTokens(tools);
  const facts = { ...options, runId: '', strategy: undefined, toolTokens: () => tokens };
  return (prompt, contextTokens) => createContextWindow({ ...facts, contextTokens }).fitTo(prompt, contextTokens);
}
