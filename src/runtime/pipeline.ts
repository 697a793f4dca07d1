/**
 * Composes the runtime over its ports. What must hold:
 *
 * 1. Whatever a principal calls checks its scope before anything is looked up.
 * 2. Closing refuses new work, lets runs drain, releases the plans, and then aborts what is left. Runs end before the last entries of
 *    the audit are awaited, and budgets give back their reserves after that: each still writes.
 * 3. Runs, plans and agents that are called as tools need each other. `parts` is made once, and what needs it earlier gets a function.
 * 4. What a first run does not need is loaded on use. A loader here is never awaited while the runtime is created.
 */

import { createRecentPrompts } from './prompt-chain.ts';
import { type Guard, guarded, guardRead } from '../permission/guarded.ts';
import { PinnaceError } from '../base/errors.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import { waitAtMost } from '../base/until-aborted.ts';
import type { Plans } from '../contracts/plans.ts';
import type { AgentSteps } from '../contracts/steps.ts';
import { reportedHook, reportHidden } from '../events/report.ts';
import { steadyStorage } from '../log/commits.ts';
import { DueIndex, type Wake } from '../log/due.ts';
import type { Instances, Take } from '../log/instances.ts';
import { createInterruptions } from '../permission/interruption.ts';
import { createSlots } from '../tools/run-scope.ts';
import { createChats } from './chats.ts';
import { createLiveTexts } from '../tools/agent-tool.ts';
import { createRuns, type RunningAgent, type Runs, type RunsOptions } from './runs.ts';
import { AgentProblems, flowsOf, problemOf } from './check-agents.ts';
import { createReadiness } from './readiness.ts';
import {
  type ApprovedUndos,
  createRequestRefusals,
  createRunMethods,
  type InboxServices,
  type LoadForks,
  type LoadInbox,
} from './run-methods.ts';
import { createResolver, type Resolver } from './resolver.ts';
import { createToolSets, type McpSource, permittedSet } from './tool-sets.ts';
import type { RuntimeContent, RuntimeObservers, RuntimeOptions, RuntimeParts } from './run-context.ts';
import { paysBytes } from './budget-terms.ts';
import type { HostedRuntime, ScheduleAccess } from './runtime.ts';
import type { Schedules } from './schedule.ts';
import type { RunUndo } from './undo-types.ts';
import { createStartGate } from './start-gate.ts';
import { loadOnce, onUse } from '../base/load-once.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { keysOfTenant } from '../log/cache-key.ts';
import { ownerOfRun } from './run-record.ts';
import type { EventBlocks } from '../events/event-query.ts';
import { type EventFeed, ringFeed } from '../events/event-feed.ts';

/** Plans that the instances of a storage own, and take over. */
type Owned = Plans & { readonly take: Take };

/** What a runtime is created with. The parts that need the runtime are functions of what they need. */
export interface PipelineOptions<P extends Owned> extends Omit<RuntimeOptions, 'mcp' | 'plans'> {
  /** Creates the MCP servers. `invalidate` removes records from the caches. */
  readonly mcp: (invalidate: Resolver['invalidate']) => McpSource;
  /** Creates the plans, whose agents work by these steps. `arm` has what is due at a time woken then. */
  readonly plans: (
    steps: AgentSteps,
    shared: { readonly arm: (at: number) => void; readonly instances: Instances },
  ) => P;
  /** Loads the room of forks. */
  readonly forks: LoadForks;
  /** Loads the room of webhooks. */
  readonly webhooks: () => Promise<{
    readonly deliverNotice: (parts: RuntimeParts, id: string, at: number) => Promise<boolean>;
  }>;
  /** Loads the room of schedules. */
  readonly schedules: () => Promise<{
    readonly openSchedules: (parts: RuntimeParts, access: ScheduleAccess) => Schedules & { readonly wake: Wake };
  }>;
  /** Loads the inbox. */
  readonly inbox: LoadInbox;
  /** Loads the room that takes back what runs have done. */
  readonly undo: () => Promise<
    ApprovedUndos & { readonly createUndo: (parts: RuntimeParts, access: { readonly guard: Guard }) => RunUndo }
  >;
}

/** Creates the runtime over its ports. */
export function createPipeline<P extends Owned>(options: PipelineOptions<P>): HostedRuntime & { readonly plans: P } {
  const { metrics, report } = options;
  const authorize = reportedHook(options.authorize, report, 'authorize');
  const closing = new AbortController();
  let isClosed = false;
  const access = createGuard({ ...options, authorize });
  const made: ReturnType<typeof createParts<P>> = createParts(options, {
    closing: closing.signal,
    guard: access.guard,
    requireOpen() {
      if (isClosed) throw closed();
    },
    wake: {
      sch: async (id, at): Promise<boolean> => await rooms.schedules.wake(id, at),
      apr: async (id, at): Promise<boolean> => await (await options.inbox()).wakeQuestion(parts, services, { id, at }),
      dlv: async (id, at): Promise<boolean> => await (await options.webhooks()).deliverNotice(parts, id, at),
    },
  });
  const { parts, steps, plans } = made;
  options.notices?.connect(parts.due);
  const methods = createRunMethods(parts, { ...access, forks: options.forks });
  const services = { ...access, start: methods.start, undo: options.undo };
  const rooms = openRooms(parts, options, services);
  metrics.gauge('pinnace_open_runs', () => parts.runs.open);
  return {
    ...methods,
    ...rooms,
    ...createOperations(parts, access),
    ...createWatching(options, closing.signal),
    ...access,
    ...parts.content,
    chats: createChats(parts, access),
    ...createHoldings(parts),
    runs: parts.runs,
    steps,
    plans,
    async sweep() {
      parts.runs.instances.glance();
      return await parts.due.sweep();
    },
    metrics,
    authorize,
    report,
    refused: createRequestRefusals(options),
    ...createReadiness({ ...options, isClosed: () => isClosed }),
    problems(principal) {
      if (principal) requireScope(principal, 'admin');
      return parts.problems.list(principal?.deployment === true ? undefined : principal?.tenant);
    },
    async close({ drainMs = 0, handOver = false } = {}) {
      isClosed = true;
      parts.due.close();
      if (drainMs > 0) await waitAtMost(drainMs, parts.runs.drained());
      await plans.close({ handOver });
      if (handOver) await parts.runs.handOver();
      closing.abort('runtime_closed');
      await closeParts(parts);
    },
  };
}

/** The rooms that are loaded on use. */
function openRooms(
  parts: RuntimeParts,
  options: Pick<PipelineOptions<Owned>, 'schedules' | 'inbox' | 'undo'>,
  services: InboxServices & ScheduleAccess,
): Pick<HostedRuntime, 'inbox' | 'mcpSignIns' | 'blobs' | 'undo'> & {
  readonly schedules: Schedules & { readonly wake: Wake };
} {
  const schedules = loadOnce(async () => (await options.schedules()).openSchedules(parts, services));
  const inbox = loadOnce(async () => (await options.inbox()).openInbox(parts, services));
  const undo = loadOnce(async () => (await options.undo()).createUndo(parts, services));
  const signIns = loadOnce(async () => (await loadSignIns()).createRuntimeSignIns(parts, services));
  const blobs = loadOnce(async () => (await loadStoredFiles()).createStoredFiles(parts, services));
  return {
    mcpSignIns: onUse(signIns, 'start', 'finish', 'grant', 'answer', 'revoke'),
    blobs: onUse(blobs, 'put', 'get', 'delete'),
    schedules: onUse(schedules, ...scheduleMethods),
    inbox: onUse(inbox, 'list', 'get', 'decide', 'watch'),
    undo: onUse(undo, 'preview', 'run'),
  };
}

function createParts<P extends Owned>(
  options: PipelineOptions<P>,
  { guard, wake, ...lifecycle }: Pick<RuntimeParts, 'closing' | 'requireOpen'> & {
    readonly guard: Guard;
    /** What wakes due things, by the prefix of their ids. */
    readonly wake: Readonly<Record<string, Wake>>;
  },
): { readonly parts: RuntimeParts; readonly steps: AgentSteps; readonly plans: P } {
  const { storage, limits: { retentionMs, commitSpacingMs, storageGraceMs, totalMs, approvalMs }, now } = options;
  // Twice the retention: for half of it the run is expired, and its record still says that there was one.
  const ttlMs = totalMs + 2 * retentionMs;
  const kept = { retentionMs, commitSpacingMs, storageGraceMs, ttlMs };
  const runs = createRuns({
    ...options,
    ...kept,
    readAs: readRunAs(guard),
    recover: options.recovery
      ? async (runId, left, stored) => await (await loadRecovery()).recoverRun(parts, { runId, left, stored }, guard)
      : undefined,
    takePlan: (planId, left) => plans.take(planId, left),
  });
  const resolver: Resolver = createResolver({ ...options, onAgentsChanged: (agentIds) => dismiss(agentIds) });
  const dismiss = createDismissal(runs, (agentId, tenant) => resolver.agent(agentId, { tenant, via: 'in-process' }));
  const liveTexts = createLiveTexts();
  const problems = new AgentProblems(options.report);
  const mcp = options.mcp((keys) => resolver.invalidate(keys));
  const shared = {
    ...options,
    ...lifecycle,
    mcp,
    storage: steadyStorage(storage, storageGraceMs),
    runs,
    resolver,
    interruptions: createInterruptions({ ...options, validMs: approvalMs, graceMs: storageGraceMs }),
    slots: createSlots(),
    // An agent that is called as a tool works by a plan, whose agents may call agents: the one place where both meet.
    toolSetOf: createToolSets({ ...options, mcp, liveTexts, problems, plans: () => plans }),
    problems,
    content: contentOnUse((): RuntimeParts => parts),
    liveTexts,
    startGate: createStartGate(now),
    dismiss,
    ttlMs,
    answers: new Set<Promise<void>>(),
    recentPrompts: createRecentPrompts(),
    due: new DueIndex({
      storage: steadyStorage(storage, storageGraceMs),
      // The rooms, by the prefix of their ids.
      rooms: { plan: (planId) => plans.wake(planId), ...wake },
      onError: (error, id) => reportHidden(options.report, error, { kind: 'due', id: id || 'sweep' }),
      now,
    }),
  };
  const openSteps = loadOnce(async () => (await loadSteps()).createAgentSteps(shared));
  const steps = onUse(openSteps, 'think', 'act');
  const plans = options.plans(steps, { arm: (at) => shared.due.arm(at), instances: runs.instances });
  const parts: RuntimeParts & { readonly plans: P } = { ...shared, plans };
  return { parts, steps, plans };
}

const scheduleMethods = [
  'create',
  'list',
  'get',
  'update',
  'delete',
  'pause',
  'resume',
  'run',
  'fires',
  'receive',
  'has',
  'erase',
  'wake',
] as const;

function createHoldings({ budgets }: RuntimeParts): Pick<HostedRuntime, 'budgets' | 'pay'> {
  return {
    async budgets(principal) {
      requireScope(principal, 'run:read');
      return await budgets?.list(principal) ?? [];
    },
    pay: budgets && paysBytes(budgets),
  };
}

/** The last ends of an audit are awaited for this long: longer than one commit takes in a storage that answers at all. */
const auditMs = 15_000;

async function closeParts({ runs, resolver, recorder, answers, budgets }: RuntimeParts): Promise<void> {
  await runs.drained();
  await Promise.all(answers);
  await waitAtMost(auditMs, recorder.drained());
  await budgets?.close();
  runs.close();
  resolver.close();
}

function closed(): PinnaceError {
  return new PinnaceError('unavailable', 'Cannot go on: the runtime is closed', {
    details: { reason: 'runtime_closed' },
  });
}

/** Loaded with the first client that calls tools without a model. */
const agentTools = /* @__PURE__ */ loadOnce(() => import('./agent-tools.ts'));

const loadPrewarm = /* @__PURE__ */ loadOnce(() => import('./mcp-operations.ts'));
const loadValidation = /* @__PURE__ */ loadOnce(() => import('./mcp-operations.ts'));

type Operations = Pick<HostedRuntime, 'manifest' | 'tools' | 'invalidate' | 'prewarm' | 'validateMcpServer'>;

/** Creates the methods. */
function createOperations(parts: RuntimeParts, { guard }: { readonly guard: Guard }): Operations {
  const { resolver, toolSetOf, problems, dataSources, requireOpen } = parts;
  return {
    async manifest(agentId, principal) {
      requireScope(principal, 'registry:read', agentId);
      requireOpen();
      await resolver.refresh();
      const { agent, tools, servers } = await resolver.equip(agentId, principal);
      const caller = { agentId: agent.id, principal, authorize: parts.authorize };
      const { digest, entries, tools: included } = await permittedSet(await toolSetOf(agent, tools, servers), caller);
      const { egress } = agent;
      const empty = await dataSources?.emptyFor(agent, principal) ?? [];
      const all = [...problems.of(agent), ...empty.map((error) => problemOf(agent, error))];
      return {
        agentId: agent.id,
        digest,
        tools: entries,
        trust: agent.trust ?? 'open',
        flows: flowsOf(agent, included),
        ...(egress && { egress }),
        ...(all.length > 0 && { problems: all.map(({ reason, message }) => ({ reason, message })) }),
      };
    },
    async tools(agentId, principal) {
      requireScope(principal, 'run:create', agentId);
      requireOpen();
      const { openAgentTools } = await agentTools();
      return await openAgentTools(parts, agentId, principal);
    },
    async invalidate(keys, principal) {
      if (principal) requireScope(principal, 'registry:write');
      const isOfTenant = principal !== undefined && principal.deployment !== true;
      await resolver.invalidate(isOfTenant ? keysOfTenant(keys, principal.tenant) : keys);
    },
    async prewarm(agentIds, principal) {
      requireScope(principal, 'registry:read');
      const { prewarm } = await loadPrewarm();
      return await prewarm(resolver, agentIds, principal);
    },
    async validateMcpServer(...given) {
      requireScope(given[2], 'registry:write');
      requireOpen();
      const { validateMcpServer } = await loadValidation();
      return await validateMcpServer(parts, guard, given);
    },
  };
}

/** Creates the span context and the guard of a principal's side effects outside runs. */
function createGuard(
  options: Pick<RuntimeOptions, 'authorize' | 'now'> & Pick<RuntimeObservers, 'recorder' | 'emit'>,
): Pick<HostedRuntime, 'place' | 'guard'> {
  const place: HostedRuntime['place'] = (principal, trace) => {
    const { traceId, parentSpanId } = trace ?? { traceId: createTraceId() };
    return traceAt({ traceId, parentSpanId, tenant: principal.tenant, actor: actorOf(principal) }, options);
  };
  return {
    place,
    guard({ principal, trace, ...effect }, work) {
      const spanContext = place(principal, trace);
      return guarded(
        { ...effect, principal, actor: actorOf(principal), spanContext },
        options,
        () => work(spanContext),
      );
    },
  };
}

/** Lets an administrator read the run of another: asks the hook for `run.read`, and audits it. */
function readRunAs(guard: Guard): RunsOptions['readAs'] {
  return async (runId, principal, state) => {
    const { agentId, traceId } = state;
    const facts = { action: 'run.read', target: { type: 'run', id: runId } };
    const read = { ...facts, subject: ownerOfRun(state).subject, principal, trace: { traceId }, context: { agentId } };
    await guardRead(guard, { ...read, attempt: 'Cannot read the run' });
  };
}

const loadStoreFeed = /* @__PURE__ */ loadOnce(() => import('../events/store-feed.ts'));

/** Creates the methods; `closing` ends all subscriptions. */
function createWatching(
  { ring, audit }: Pick<RuntimeObservers, 'ring' | 'audit'>,
  closing: AbortSignal,
): Pick<HostedRuntime, 'events' | 'feed' | 'audit'> {
  const instance = crypto.randomUUID().slice(0, 8);
  const feedOf = (principal: Principal): EventFeed =>
    ring.store
      ? storeFeed(ring.store.log(principal.tenant))
      : ringFeed(ring, { origin: instance, isVisible: visibleTo(principal) });
  return {
    events(principal, { signal, ...wanted } = {}) {
      requireScope(principal, 'admin');
      return ring.watch(visibleTo(principal), {
        ...wanted,
        signal: signal ? AbortSignal.any([signal, closing]) : closing,
      });
    },
    feed(principal) {
      requireScope(principal, 'admin');
      const feed = feedOf(principal);
      return {
        origin: feed.origin,
        follow: (how) => feed.follow({ ...how, signal: AbortSignal.any([how.signal, closing]) }),
      };
    },
    audit(principal) {
      requireScope(principal, 'admin');
      return audit?.log(principal.tenant);
    },
  };
}

/** A feed of the events in a tenant's log. Instances share the log, and so the origin of all numbers. */
function storeFeed(log: EventBlocks): EventFeed {
  return {
    origin: 'log',
    async *follow(options) {
      const { followLog } = await loadStoreFeed();
      yield* followLog(log, options);
    },
  };
}

/** In-process principals also receive events of no tenant. */
function visibleTo({ tenant, via }: Principal): (of: string | undefined) => boolean {
  return (of) => of === tenant || (of === undefined && via === 'in-process');
}

/**
 * Creates the function that stops the runs of those of the agents (all when absent) that `find` refuses as disabled or unknown for
 * the tenant of the run. A catalog that does not answer stops nothing.
 */
function createDismissal(
  runs: Pick<Runs, 'agents' | 'stop'>,
  find: (agentId: string, tenant: string) => Promise<unknown>,
): (agentIds?: readonly string[]) => void {
  const check = async ({ agentId, tenant }: RunningAgent): Promise<void> => {
    try {
      await find(agentId, tenant);
    } catch (error) {
      if (isDismissed(error)) runs.stop({ agentId, tenant }, error);
    }
  };
  return (agentIds) => {
    for (const running of runs.agents()) if (agentIds?.includes(running.agentId) ?? true) void check(running);
  };
}

function isDismissed(error: unknown): error is PinnaceError {
  return error instanceof PinnaceError && (error.code === 'forbidden' || error.code === 'not_found');
}

const loadContent = /* @__PURE__ */ loadOnce(() => import('./mcp-content.ts'));

function contentOnUse(parts: () => RuntimeParts): RuntimeContent {
  const made = loadOnce(async () => (await loadContent()).createRuntimeContent(parts()));
  return {
    prompts: onUse(async () => (await made()).prompts, 'list', 'get', 'complete'),
    resources: onUse(async () => (await made()).resources, 'list', 'read'),
    apps: onUse(async () => (await made()).apps, 'read', 'call'),
    ...onUse(made, 'readInRun'),
  };
}

const loadSignIns = /* @__PURE__ */ loadOnce(() => import('./mcp-operations.ts'));
const loadStoredFiles = /* @__PURE__ */ loadOnce(() => import('./stored-files.ts'));
const loadRecovery = /* @__PURE__ */ loadOnce(() => import('./recover-run.ts'));
const loadSteps = /* @__PURE__ */ loadOnce(() => import('./agent-steps.ts'));
