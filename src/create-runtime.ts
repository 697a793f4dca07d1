/** Composes a runtime: the one file that knows every room. */

import { answeringStorage, countedStorage } from './log/answering-storage.ts';
import { createRunDiscovery, type Rerank } from './discovery/discovery-tools.ts';
import { checkKnownOptions, optional, type Wanted, wrongArgument } from './base/check-options.ts';
import { PinnaceError } from './base/errors.ts';
import { loadOnce, onUse } from './base/load-once.ts';
import { type Audit, createRecorder } from './events/audit.ts';
import { createEmit, createEventRing, type EventRing } from './events/event-ring.ts';
import { unobserved } from './events/events.ts';
import { createReport, type OnError, type Report, reportedHook, reportedPort } from './events/report.ts';
import { createInputDigests, noInputDigests } from './events/input-digests.ts';
import type { McpServers, McpServersOptions } from './mcp/mcp-servers.ts';
import { createMetrics, type Metrics } from './base/metrics.ts';
import { createAgentGrounding } from './grounding/grounding-tools.ts';
import type { Grounding } from './grounding/create-grounding.ts';
import { createRuntimePlans } from './planner/create-planner.ts';
import type { PlanLimits } from './planner/plan-limits.ts';
import type { Planner } from './planner/planner.ts';
import type { Fallback, SecretRef } from './base/schema.ts';
import type { Trust } from './permission/label.ts';
import type { Authorize } from './contracts/authenticator.ts';
import type { BlobStore } from './contracts/blob-store.ts';
import type { Catalog } from './contracts/catalog.ts';
import type { ContextStrategy } from './contracts/context-strategy.ts';
import type { Egress, SecretSource } from './contracts/egress.ts';
import type { EventSink } from './contracts/event-sink.ts';
import type { McpConnector } from './contracts/mcp/mcp-connector.ts';
import type { McpSignIn } from './contracts/mcp/sign-in.ts';
import type { ModelSource } from './contracts/model-source.ts';
import type { ProgramSandbox, Sandbox } from './contracts/sandbox.ts';
import { pooledSandbox } from './tools/pooled-sandbox.ts';
import type { Storage } from './contracts/storage.ts';
import { cacheKeyOf } from './registry/record-kinds.ts';
import type { StorageBlobsOptions } from './log/blobs.ts';
import { steadyStorage } from './log/commits.ts';
import { Notices, parseReceivers, type Receiver } from './log/notices.ts';
import { type Limits, limitsOf } from './runtime/limits.ts';
import { localPrincipal } from './base/principal.ts';
import type { CodeAgent } from './runtime/code-agent.ts';
import { type BudgetFor, parseBudgets, paysBytes, type PeriodBudgetInput } from './runtime/budget-terms.ts';
import type { Budgets, BudgetsOptions } from './runtime/budgets.ts';
import { createPipeline } from './runtime/pipeline.ts';
import type { HostedRuntime } from './runtime/runtime.ts';
import type { RuntimeObservers } from './runtime/run-context.ts';
import { requireKnownTools } from './tools/availability.ts';
import { problemsOfAgent } from './runtime/check-agents.ts';
import { createBuiltins, givenTools, requireReachableTools, type ToolSource } from './tools/implement.ts';
import { type Handlers, unknownHandler } from './tools/define-tool.ts';
import type { Tool } from './tools/tool.ts';

/** What a runtime is composed of. */
export interface CreateRuntimeOptions {
  /** Where agents, providers and tools are looked up: `staticCatalog`, `httpCatalog` or a registry. */
  readonly catalog: Catalog;
  /** Agents composed in code, which all tenants share; one replaces a shared record of its id. */
  readonly agents?: readonly CodeAgent[];
  /** Returns the language model of a provider: `modelSource()`, or `{ model: () => anyModelOfTheAiSdk }`. */
  readonly models: ModelSource;
  /** Where runs are recorded: what one instance has started, every instance with the same storage can replay. */
  readonly storage: Storage;
  /** Where files of messages and outputs are stored; in `storage` when absent. */
  readonly blobs?: BlobStore;
  /** Where keys of models and tools are read when a run starts. Without it no model and no tool has a key. */
  readonly secrets?: SecretSource;
  /**
   * Tools given as code, one by one or by the source, as those of a tree. Agents use those that their allowlist names. Every runtime
   * has `current_time` and `calculator`; one given here under such an id replaces it.
   */
  readonly tools?: readonly (Tool | ToolSource)[];
  /** The egress of HTTP tools; without one they are left out. */
  readonly egress?: Egress;
  /** Where code tools and programs run; without one they are left out. */
  readonly sandbox?: Sandbox | (Sandbox & ProgramSandbox);
  /**
   * Whether agents whose allowlist names `code_run` may write programs that call their tools. Needs a sandbox for programs, as those of
   * `pinnace/sandbox/deno`, `/node` and `/worker`; without one the tool is left out. Default: false.
   */
  readonly programs?: boolean;
  /**
   * How many programs, and how many code tools, run at once in this runtime; others wait up to 30 s. Each takes a process or a worker:
   * on Deno up to 350 MB. One run has two programs at once. Default: 4.
   */
  readonly sandboxes?: number;
  /** Code for catalog definitions of type `function` and `extension`: their `config.handler` names it. */
  readonly handlers?: Handlers;
  /** Connects to MCP servers; without one their tools are left out. */
  readonly mcp?: McpConnector;
  /** Signs people in to MCP servers with `auth`, as `mcpSignIn` of `pinnace/mcp/sign-in`; needs `sealKey`. */
  readonly mcpSignIn?: McpSignIn;
  /** The secret that seals tokens and answers for MCP servers in `storage`: 32 random bytes as base64url, bound to `code`. */
  readonly sealKey?: SecretRef;
  /** Reorders the results of `tool_find`, for example by embeddings. */
  readonly rerank?: Rerank;
  /** Answers the queries of agents that name `dataSources`; without it they have none. */
  readonly grounding?: Grounding;
  /**
   * The limits of plans. Defaults: 2,000 agents, 100,000 steps and 30 days in process; over HTTP 200 agents, 2,000 steps and one day.
   * There, `limits.steps` and `limits.totalMs` of this runtime bound plans as well, and everywhere those of the agent's record.
   */
  readonly plans?: Partial<PlanLimits>;
  /**
   * What tenants, subjects and agents may use in an hour, a day, a week or a month: tokens, money, runs and written bytes. Exact over all
   * instances with the same storage, which counts them. Default: none.
   *
   * @example
   * const budgets = [{ id: 'day', of: 'subject', every: 'day', timeZone: 'Europe/Berlin', tokens: 500_000 }] as const;
   */
  readonly budgets?: readonly PeriodBudgetInput[];
  /** Other terms of these budgets for one holder, such as those of its plan; `undefined` for the terms as they are. */
  readonly budgetFor?: BudgetFor;
  /**
   * Who is sent signed notices of ended runs, budgets, paused schedules and the inbox, as Standard Webhooks: at least once each, over
   * `egress`, which is needed. Default: nobody.
   *
   * @example
   * const notify = [{ id: 'desk', url: 'https://desk.example/hooks', secret: { id: 'desk-hook' }, events: ['run.ended'] }] as const;
   */
  readonly notify?: readonly Receiver[];
  /** Receive every event, such as `consoleSink()` or `otelSink()`. Defaults to none. */
  readonly sinks?: readonly EventSink[];
  /** Stores the latest events for subscribers. Pass the same ring to the registry. Capacity 0 stores none. Defaults to a new ring. */
  readonly ring?: EventRing;
  /**
   * Records each side effect before and after: calls of tools that do more than read, decisions of people, approvals of MCP servers,
   * plans that are paused, resumed or cancelled. A side effect that cannot be recorded is refused as `unavailable`. Without an audit,
   * nothing is recorded.
   */
  readonly audit?: Audit;
  /**
   * Called before every tool call, retrieval, agent of a plan, decision of a person, approval of an MCP server, and before a plan is
   * paused, resumed or cancelled. The default allows the agent's tool set.
   */
  readonly authorize?: Authorize;
  /** The limits of runs. Each absent one has the value of `defaultLimits`; agents and requests may only lower them. */
  readonly limits?: Partial<Limits>;
  /**
   * What is recorded of a run. `'inputs'` adds the request, the agent's record and a digest of each prompt, so that the run can be
   * forked and made a test case; they expire with the run. Default: `'stream'`, the stream alone.
   */
  readonly keep?: 'stream' | 'inputs';
  /**
   * Whether the runs of an instance that is gone are continued by another one with the same storage. Until its end, each run then has its
   * request, its agent's record and its caller's name in the storage. `false`: they end as `worker_lost`. Default: true.
   */
  readonly recovery?: boolean;
  /**
   * Selects the messages of the chat to send, before each model call. Without one, chats that fill 80 % of the model's context window
   * are shortened and summarized.
   */
  readonly contextStrategy?: ContextStrategy;
  /**
   * Keys the digests of tool inputs in events and audit: 32 to 64 random bytes, the same for all instances. When absent, the first
   * instance creates a key in `storage`.
   */
  readonly inputDigestKey?: Uint8Array;
  /**
   * The lowest level of all agents: `watched` asks a person before a call that may act on what strangers have written, `guarded` keeps
   * their words from the model that plans. A record's `trust` can only raise it. Default: `'open'`.
   */
  readonly trust?: Trust;
  /** The models that take over when an agent's own cannot answer, for agents whose records name no `fallbacks`; at most 4. */
  readonly fallbacks?: readonly Fallback[];
  /**
   * Receives the causes that streams, events and the audit do not contain: what a tool, a hook, a model, a sink or a port threw, with
   * its stack. `consoleErrors()` of `pinnace/console-errors` prints them.
   */
  readonly onError?: OnError;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A runtime whose agents can also work on plans. */
export interface PlanningRuntime extends HostedRuntime {
  readonly planner: Planner;
}

/** What each option must be: the same in `createRuntime` and in the compositions that take its options. */
export const runtimeOptions: Readonly<Record<keyof CreateRuntimeOptions, Wanted>> = {
  catalog: ['.agent', 'a catalog, such as staticCatalog({ agents, providers })'],
  models: ['.model', 'a model source, such as modelSource()', /^model$/],
  storage: ['.commit', 'a storage, such as memoryStorage()'],
  agents: ['array?', 'an array of agents of defineAgent', /^agent$/],
  tools: ['given?', 'an array of tools, such as [add]', /^(tool|toolSet)$/],
  sinks: ['array?', 'an array of functions, such as [consoleSink()]', /^sink$/],
  secrets: ['.resolve?', 'a source of secrets, such as memorySecrets({ … })', /^secret$/],
  egress: ['.fetch?', 'an egress, such as denoEgress()'],
  grounding: ['.retrieve?', 'what createGrounding({ sources }) returns'],
  authorize: ['function?', 'a function, such as createRules([ … ])', /^(authorise|permissions)$/],
  onError: ['function?', 'a function, such as consoleErrors()', /^onerror$/],
  audit: ['.log?', 'what createAudit({ storage }) returns'],
  ...optional('blobs', 'sandbox', 'programs', 'sandboxes', 'handlers', 'mcp', 'mcpSignIn', 'sealKey', 'rerank'),
  ...optional(
    'plans',
    'budgets',
    'budgetFor',
    'notify',
    'ring',
    'limits',
    'keep',
    'recovery',
    'contextStrategy',
    'inputDigestKey',
  ),
  ...optional('fallbacks', 'trust', 'now'),
};

/**
 * Creates a runtime. Holds no connections or timers between runs.
 *
 * @throws PinnaceError `invalid_argument` for an option that is missing, unknown or of a wrong kind (reason `wrong_argument`), when two tools or
 * two agents share an id, when an agent of a catalog that never changes names a tool that does not exist (`unknown_tool`), or
 * `inputDigestKey` has a wrong length.
 * @example
 * const runtime = createRuntime({ catalog: staticCatalog({ agents, providers }), models: modelSource(), storage: memoryStorage(), tools: [add] });
 * const stream = await runtime.run({ agentId: 'helper', chat: { id: 'c1', messages } }, localPrincipal());
 */
export function createRuntime(options: CreateRuntimeOptions): PlanningRuntime {
  checkKnownOptions('compose the runtime', options, runtimeOptions);
  const { now = Date.now } = options;
  const report = createReport(options.onError);
  const metrics = createMetrics();
  const { catalog, models, secrets, storage, blobs } = createPorts(options, { report, metrics });
  const limits = limitsOf(options.limits);
  const { storageGraceMs, attachmentRetentionMs: ttlMs } = limits;
  const steady = steadyStorage(storage, storageGraceMs);
  const hook = options.authorize && reportedHook(options.authorize, report, 'authorize');
  const rerank = options.rerank && reportedHook(options.rerank, report, 'rerank');
  const discovery = createRunDiscovery({ rerank, principal: localPrincipal() });
  const observers = createObservers(options, { storage, now, report, metrics });
  const { emit } = observers;
  const notices = noticesOf(options);
  const budgets = budgetsOf(options, { storage: steady, graceMs: storageGraceMs, emit, metrics, notices, now });
  const dataSources = options.grounding &&
    createAgentGrounding(options.grounding, { authorize: hook, pay: budgets && paysBytes(budgets) });
  const { plans: { planner }, ...runtime } = createPipeline({
    catalog,
    agents: agentsById(options.agents ?? []),
    models,
    storage,
    isSameStorage: (other) => other === options.storage,
    blobs: blobs ?? blobsIn({ storage: steady, ttlMs, now }),
    secrets,
    egress: options.egress,
    sandbox: options.sandbox && pooledSandbox(options.sandbox, { atOnce: sandboxesOf(options) }),
    handlers: options.handlers ?? {},
    discovery,
    dataSources,
    mcp: mcpServersOf(options, { storage: steady, secrets, catalog, emit, now, report }),
    plans: (steps, shared) =>
      createRuntimePlans({
        ...observers,
        storage,
        steps,
        ...shared,
        notices,
        limits: { storageGraceMs, stallAfter: limits.stallAfter, ...options.plans },
        authorize: hook,
        now,
      }),
    tools: toolsOf(options, [...discovery.tools, ...dataSources?.tools ?? []]),
    builtins: createBuiltins({ now, hasPrograms: options.programs === true && 'open' in (options.sandbox ?? {}) }),
    authorize: options.authorize ?? (() => ({ decision: 'allow' })), // reported with the run or request that asks
    limits,
    givenLimits: options.limits,
    budgets,
    ...recordingOf(options),
    contextStrategy: options.contextStrategy,
    fallbacks: options.fallbacks ?? [],
    trust: trustOf(options),
    ...rooms,
    notices,
    ...observers,
    now,
  });
  return { ...runtime, planner };
}

/** What is recorded of runs besides their streams. */
function recordingOf({ keep = 'stream', recovery = true }: CreateRuntimeOptions) {
  if (!['stream', 'inputs'].includes(keep)) {
    throw wrongArgument('compose the runtime', 'keep', '"keep" must be "stream" or "inputs"');
  }
  return { keep, recovery };
}

/** Opens the store of files with the first file: most chats have none. */
function blobsIn(options: StorageBlobsOptions): BlobStore {
  return onUse(async () => (await loadBlobs()).storageBlobs(options), 'get', 'put', 'delete');
}

/* Most agents select no MCP server. */
const loadBlobs = /* @__PURE__ */ loadOnce(() => import('./log/blobs.ts'));
const loadMcp = /* @__PURE__ */ loadOnce(() => import('./mcp/mcp-servers.ts'));

/* The optional rooms: nothing below imports them. */
const rooms = {
  inbox: /* @__PURE__ */ loadOnce(() => import('./inbox/inbox.ts')),
  forks: /* @__PURE__ */ loadOnce(() => import('./forks/start-fork.ts')),
  schedules: /* @__PURE__ */ loadOnce(() => import('./schedules/schedules.ts')),
  programs: /* @__PURE__ */ loadOnce(() => import('./programs/programs.ts')),
  webhooks: /* @__PURE__ */ loadOnce(() => import('./webhooks/webhooks.ts')),
  undo: /* @__PURE__ */ loadOnce(() => import('./undo/take-back.ts')),
};

/** Opens the budgets with their first use; `undefined` where there are none, so that nothing of them is in the way of a run. */
function budgetsOf(
  { budgets = [], budgetFor }: CreateRuntimeOptions,
  parts: Omit<BudgetsOptions, 'budgets' | 'budgetFor'>,
): Budgets | undefined {
  const parsed = parseBudgets(budgets);
  if (parsed.length === 0) return undefined;
  let opened: Budgets | undefined;
  const open = loadOnce(async () =>
    opened = (await import('./runtime/budgets.ts')).createBudgets({ ...parts, budgets: parsed, budgetFor })
  );
  return { ...onUse(open, 'startRun', 'hold', 'write', 'list'), close: async () => await opened?.close() };
}

function noticesOf({ notify = [], egress, secrets }: CreateRuntimeOptions): Notices | undefined {
  const receivers = parseReceivers(notify);
  if (receivers.length === 0) return undefined;
  if (!egress) throw wrongArgument('compose the runtime', 'egress', '"notify" needs an "egress", such as denoEgress()');
  if (!secrets) {
    throw wrongArgument('compose the runtime', 'secrets', '"notify" needs "secrets", such as memorySecrets()');
  }
  return new Notices(receivers);
}

function createObservers(
  { sinks = [], ring = createEventRing(), audit, inputDigestKey }: CreateRuntimeOptions,
  { storage, now, report, metrics }: {
    readonly storage: Storage;
    readonly now: () => number;
    readonly report: Report;
    readonly metrics: Metrics;
  },
): RuntimeObservers {
  const odd = sinks.findIndex((sink: unknown) => typeof sink !== 'function');
  if (odd >= 0) {
    throw wrongArgument('compose the runtime', 'sinks', `"sinks[${odd}]" is no function; pass (event) => …`);
  }
  const emit = createEmit({ sinks, ring, now, report });
  const recorder = createRecorder({ audit, emit, now, report });
  const keyed = createInputDigests({ storage, key: inputDigestKey });
  const digests = emit === unobserved && !audit ? noInputDigests : keyed;
  return { emit, ring, audit, recorder, metrics, digests, report };
}

/** The ports; their failures are reported before caches and retries handle them. */
function createPorts(
  { catalog, models, secrets, storage, blobs }: CreateRuntimeOptions,
  { report, metrics }: { readonly report: Report; readonly metrics: Metrics },
) {
  return {
    catalog: reportedPort(catalog, report, { kind: 'catalog' }),
    models: reportedPort(models, report, { kind: 'model' }),
    secrets: secrets && reportedPort(secrets, report, { kind: 'secret' }),
    blobs: blobs && reportedPort(blobs, report, { kind: 'storage' }),
    storage: countedStorage(
      answeringStorage(reportedPort(storage, report, { kind: 'storage', isRetried: true })),
      metrics,
    ),
  };
}

/** Returns the function that creates the MCP servers, which removes a record from the caches when it is written. */
function mcpServersOf(
  { mcp: connector, mcpSignIn: signIn, sealKey }: CreateRuntimeOptions,
  parts: Omit<McpServersOptions, 'connector' | 'onWritten'>,
): Parameters<typeof createPipeline>[0]['mcp'] {
  return (invalidate) => {
    const onWritten: McpServersOptions['onWritten'] = ({ id, tenant }) =>
      invalidate([cacheKeyOf('mcpServer', id, tenant)]);
    let opened: McpServers | undefined;
    const open = loadOnce(async () =>
      opened = (await loadMcp()).createMcpServers({ ...parts, connector, signIn, sealKey, onWritten })
    );
    return {
      current: (server) => opened?.current(server) ?? server, // no drift is observed before it is loaded
      ...onUse(open, 'toolsOf', 'answer', 'content', 'signIns', 'validate'),
    };
  };
}

function agentsById(agents: readonly CodeAgent[]): ReadonlyMap<string, CodeAgent> {
  const byId = new Map<string, CodeAgent>();
  for (const [at, agent] of agents.entries()) {
    const { record, code } = (agent ?? {}) as Partial<CodeAgent>;
    if (!record || !code) {
      const why = `"agents.${at}" is no agent of defineAgent; records belong into the catalog`;
      throw wrongArgument('compose the runtime', `agents.${at}`, why);
    }
    const { id } = record;
    if (byId.has(id)) {
      throw new PinnaceError('invalid_argument', `Cannot compose the runtime: two agents have the id "${id}"`);
    }
    byId.set(id, agent);
  }
  return byId;
}

/** Returns the tools of the composition, whose ids differ, and checks the tools of agents that never change. */
function toolsOf(
  { tools: given, agents = [], catalog, egress, grounding, limits, handlers = {} }: CreateRuntimeOptions,
  ours: readonly Tool[],
): readonly Tool[] {
  const tools = givenTools(given);
  const ids = new Set(ours.map(({ definition }) => definition.id));
  for (const { definition: { id } } of tools) {
    if (ids.has(id)) {
      throw new PinnaceError('invalid_argument', `Cannot compose the runtime: two tools have the id "${id}"`);
    }
    ids.add(id);
  }
  if (catalog.fixed) {
    const records = [...agents.map(({ record }) => record), ...catalog.fixed.agents];
    requireKnownTools(records, { tools: catalog.fixed.tools, shared: [...ids] });
    const terms = { sources: grounding?.sources.map(({ id }) => id), limits: limitsOf(limits) };
    for (const agent of records) {
      for (const problem of problemsOfAgent(agent, terms, 'compose the runtime')) throw problem;
    }
    const named = new Set(records.flatMap(({ entryTools }) => entryTools));
    for (const definition of catalog.fixed.tools) {
      const isUsed = named.has(definition.id) && !ids.has(definition.id);
      const problem = isUsed && unknownHandler('compose the runtime', definition, handlers);
      if (problem) throw problem;
    }
    if (egress) requireReachableTools(catalog.fixed.tools, egress);
  }
  return tools;
}

function trustOf({ trust = 'open' }: Pick<CreateRuntimeOptions, 'trust'>): Trust {
  if (['open', 'watched', 'guarded'].includes(trust)) return trust;
  throw wrongArgument('compose the runtime', 'trust', '"trust" must be "open", "watched" or "guarded"');
}

function sandboxesOf({ sandboxes = 4 }: { readonly sandboxes?: number }): number {
  if (Number.isInteger(sandboxes) && sandboxes > 0) return sandboxes;
  throw wrongArgument('compose the runtime', 'sandboxes', '"sandboxes" must be a whole number from 1');
}
