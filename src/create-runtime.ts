/** Composes a runtime: the one file that knows every room. */

import { answeringStorage } from './log/answering-storage.ts';
import type { Rerank } from './discovery/rerank.ts';
import { createRunDiscovery } from './discovery/run-discovery.ts';
import { PinnaceError } from './base/errors.ts';
import { type Audit, createRecorder } from './events/audit.ts';
import { createEventRing, type EventRing } from './events/event-ring.ts';
import { createEmit, unobserved } from './events/events.ts';
import { createTraceId } from './events/trace-ids.ts';
import { createInputDigests, noInputDigests } from './events/input-digests.ts';
import { createMcpServers } from './mcp/mcp-servers.ts';
import { createMetrics } from './base/metrics.ts';
import { createAgentGrounding } from './grounding/agent-grounding.ts';
import type { Grounding } from './grounding/create-grounding.ts';
import { guardPlanner } from './planner/host/guard-planner.ts';
import { modelAgent } from './planner/host/model-agent.ts';
import type { PlanLimits } from './planner/model/plan-limits.ts';
import type { PlanRequestInput } from './planner/model/plan-request.ts';
import { createPlanner, type CreatePlannerOptions, type Planner } from './planner/planner.ts';
import type { Authorize } from './contracts/authorize.ts';
import type { Catalog } from './contracts/catalog.ts';
import type { Egress } from './contracts/egress.ts';
import type { EventSink } from './contracts/event-sink.ts';
import type { McpConnector } from './contracts/mcp-connector.ts';
import type { ModelSource } from './contracts/model-source.ts';
import type { Sandbox } from './contracts/sandbox.ts';
import type { SecretSource } from './contracts/secret-source.ts';
import type { Storage } from './contracts/storage.ts';
import { cacheKeyOf } from './tools/records/record-kinds.ts';
import { steadyStorage } from './log/outage.ts';
import { decide, type DecideOptions } from './runtime/calls/decide.ts';
import { defaultLimits, type Limits } from './runtime/resolve/limits.ts';
import { createPrincipal, localPrincipal, type Principal, type Scope } from './base/principal.ts';
import { createPipeline } from './runtime/pipeline.ts';
import type { HostedRuntime } from './runtime/runtime.ts';
import { createBuiltins } from './tools/builtin/builtins.ts';
import type { Handlers } from './tools/extension.ts';
import { isToolSource, toolsOf, type ToolSource } from './tools/tool-source.ts';
import type { Tool } from './tools/tool.ts';

/** What a runtime is composed of. */
export interface CreateRuntimeOptions {
  readonly catalog: Catalog;
  readonly models: ModelSource;
  /** Where runs are recorded: what one instance has started, every instance with the same storage can replay. */
  readonly storage: Storage;
  readonly secrets?: SecretSource;
  /**
   * Tools given as code, one by one or by the source, as those of a tree. Agents use those that their allowlist names. Every runtime
   * has `current_time` and `calculator`; one given here under such an id replaces it.
   */
  readonly tools?: readonly (Tool | ToolSource)[];
  /** The way out for HTTP tools; without one they are left out. */
  readonly egress?: Egress;
  /** Where code tools run; without one they are left out. */
  readonly sandbox?: Sandbox;
  /** Code for definitions of type `function` and `extension` that the catalog holds: their `config.handler` names it. */
  readonly handlers?: Handlers;
  /** The way to MCP servers; without one their tools are left out. */
  readonly mcp?: McpConnector;
  /** Puts what `tool_find` has found into another order, as by embeddings. */
  readonly rerank?: Rerank;
  /** What agents ask that name `dataSources`; without it they have none. */
  readonly grounding?: Grounding;
  /** The bounds of plans. */
  readonly plans?: Partial<PlanLimits>;
  readonly sinks?: readonly EventSink[];
  /** Where the last events are kept for those who watch; one of its own when absent. Give the registry the same. One of capacity 0 keeps none. */
  readonly ring?: EventRing;
  /**
   * Is written before anything is changed and after: calls of tools that do more than read, decisions of people, approvals of MCP
   * servers, plans that are paused, resumed or cancelled. What cannot be written down is refused as `unavailable`. Without one,
   * nothing is.
   */
  readonly audit?: Audit;
  /**
   * Is asked before every tool call, retrieval, agent of a plan, decision of a person, approval of an MCP server, and before a plan
   * is paused, resumed or cancelled; the default allows what the agent's tool set holds.
   */
  readonly authorize?: Authorize;
  readonly limits?: Partial<Limits>;
  /**
   * Keys the digests of tool inputs in events and audit: 32 to 64 random bytes, the same for all instances. When absent, the first
   * instance creates a key in `storage`.
   */
  readonly inputDigestKey?: Uint8Array;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A runtime whose agents can also work on plans. */
export interface PlanningRuntime extends HostedRuntime {
  readonly planner: Planner;
}

/**
 * Gives a runtime. It holds no connection and no timer between runs.
 *
 * @throws PinnaceError `invalid_argument` when two tools share an id, or `inputDigestKey` has a wrong length.
 * @example
 * const runtime = createRuntime({ catalog: staticCatalog({ agents, providers }), models: modelSource(), storage: memoryStorage(), tools: [add] });
 * const stream = await runtime.run({ agentId: 'helper', chat: { id: 'c1', messages } }, localPrincipal());
 */
export function createRuntime(options: CreateRuntimeOptions): PlanningRuntime {
  requireStorage(options.storage);
  const { catalog, models, secrets, tools = [], sinks = [], ring = createEventRing(), now = Date.now } = options;
  const storage = answeringStorage(options.storage);
  const limits = { ...defaultLimits, ...options.limits };
  const { storageGraceMs } = limits;
  const discovery = createRunDiscovery({
    storage: steadyStorage(storage, storageGraceMs),
    rerank: options.rerank,
    principal: localPrincipal(),
  });
  const dataSources = options.grounding && createAgentGrounding(options.grounding, { authorize: options.authorize });
  const emit = createEmit({ sinks, ring, now });
  const recorder = createRecorder({ audit: options.audit, emit, now });
  const metrics = createMetrics();
  const keyed = createInputDigests({ storage, key: options.inputDigestKey });
  const digests = emit === unobserved && !options.audit ? noInputDigests : keyed;
  const authorize = options.authorize ?? (() => ({ decision: 'allow' }));
  const mcp = createMcpServers({
    connector: options.mcp,
    catalog,
    emit,
    now,
    onWritten: ({ id, tenant }) => runtime.invalidate([cacheKeyOf('mcpServer', id, tenant)]),
  });
  const unguarded: Planner = createPlanner({
    storage,
    emit,
    metrics,
    now,
    runAgent: (task, context) => modelAgent(runtime.steps)(task, context),
    limits: { storageGraceMs, ...options.plans },
    ...(options.authorize && { authorize: authorizeCreate(options.authorize) }),
  });
  const guards = { authorize: options.authorize, recorder, emit, now };
  const guardedPlanner = guardPlanner(unguarded, { ...guards, storage });
  const planner: Planner = { ...guardedPlanner, reply: decidedReply(unguarded, { ...guards, authorize }) };
  const runtime = createPipeline({
    catalog,
    models,
    storage,
    secrets,
    egress: options.egress,
    sandbox: options.sandbox,
    handlers: options.handlers ?? {},
    discovery,
    dataSources,
    mcp,
    plans: {
      ...planner,
      // The terms come from callers: the planner's schema refuses what is none.
      start: (errand, principal, how) => planner.start(errand as PlanRequestInput, principal, how),
      stop: (planId, principal, how) => unguarded.cancel(planId, asCanceller(principal), how),
    },
    tools: distinct(tools.flatMap((given) => isToolSource(given) ? toolsOf(given) : [given]), [
      ...discovery.tools,
      ...dataSources?.tools ?? [],
    ]),
    builtins: createBuiltins({ now }),
    authorize,
    limits,
    emit,
    ring,
    audit: options.audit,
    recorder,
    metrics,
    digests,
    now,
  });
  return { ...runtime, planner };
}

/** What stops by itself needs nobody's leave. */
function asCanceller(principal: Principal): Principal {
  return createPrincipal({ ...principal, scopes: ['run:cancel'], via: 'in-process' });
}

/** What a person answers to a plan is a decision as that on a call of a run. */
function decidedReply(planner: Planner, options: DecideOptions): Planner['reply'] {
  return async (planId, principal, reply) => {
    const plan = await planner.view(planId, principal).catch(() => undefined); // `reply` says why not
    const { traceId = createTraceId() } = plan ?? {};
    const { askId: id, answer } = reply;
    const deciding = { principal, traceId, id, input: { planId, answer }, payload: { planId: plan && planId } };
    return await decide(deciding, options, () => planner.reply(planId, principal, reply));
  };
}

/** The permission hook, asked about sub-agents: `planner.create`, on the agent that is to do the work. */
function authorizeCreate(authorize: Authorize): NonNullable<CreatePlannerOptions['authorize']> {
  return ({ owner, agentId }, child) => {
    const resource = { type: 'agent', id: child.agentId ?? agentId ?? '' };
    const scopes = owner.scopes as readonly Scope[]; // a principal's, when the plan was started
    const principal = createPrincipal({ ...owner, scopes, via: 'in-process' });
    return authorize('planner.create', principal, resource, {
      input: child,
      ...(agentId !== undefined && { agentId }),
    });
  };
}

/** Types do not reach everyone, and without a storage the first run would fail with something obscure. */
function requireStorage(storage: Storage | undefined): void {
  if (typeof storage?.commit === 'function') return;
  throw new PinnaceError(
    'invalid_argument',
    'Cannot compose the runtime without a storage: pass memoryStorage(), for example',
  );
}

function distinct(tools: readonly Tool[], ours: readonly Tool[]): readonly Tool[] {
  const ids = new Set(ours.map(({ definition }) => definition.id));
  for (const { definition: { id } } of tools) {
    if (ids.has(id)) {
      throw new PinnaceError('invalid_argument', `Cannot compose the runtime: two tools have the id "${id}"`);
    }
    ids.add(id);
  }
  return tools;
}
