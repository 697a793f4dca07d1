/** The wiring for Deno: state in Deno KV, models over fetch, events as lines on the console, the endpoint as a fetch handler. */

import { PinnaceError } from '../src/base/errors.ts';
import { createAudit } from '../src/events/audit.ts';
import { createRuntime, type CreateRuntimeOptions } from '../src/create-runtime.ts';
import { createEventRing } from '../src/events/event-ring.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { PlanLimits } from '../src/planner/model/plan-limits.ts';
import type { Registry } from '../src/registry/registry.ts';
import type { SecretSource } from '../src/contracts/secret-source.ts';
import type { ClosableStorage, Watchable } from '../src/contracts/storage.ts';
import type { PrivateOrigins } from '../src/base/private-origins.ts';
import type { OnError } from '../src/events/on-error.ts';
import type { CodeAgent } from '../src/runtime/code-agents/agent-code.ts';
import type { Limits } from '../src/runtime/resolve/limits.ts';
import type { HostedRuntime } from '../src/runtime/runtime.ts';
import type { Handlers } from '../src/tools/extension.ts';
import { loadOnce } from '../src/base/load-once.ts';
import { denoEgress, type PinnedEgress } from './egress/deno.ts';
import { modelSource } from './models/source.ts';
import { denoSandbox } from './sandbox/deno.ts';
import { reportTo, sweepOnRequest } from './plan-sweep.ts';
import { consoleSink } from './sinks/console.ts';
import { eventStore, type QueuedEventStore } from './sinks/event-store.ts';
import { lazyOtel } from './sinks/lazy-otel.ts';
import { gaugeSink } from './sinks/queue.ts';
import { denoKvStorage } from './storage/deno-kv.ts';
import { cutSenders } from './transport/http/cut-senders.ts';
import { createHandler, type Handler, type HandlerOptions } from './transport/http.ts';
import {
  budgetsOf,
  catalogOf,
  type CatalogOption,
  checkEndpoint,
  type EndpointMcp,
  type EndpointPeople,
  madeOf,
  mcpOf,
  peopleOf,
  type ToolsOption,
} from './endpoint-parts.ts';
import type { Observability } from './observability.ts';

export type { Observability };
/** @deprecated Use `Observability`. */
export type Seen = Observability;

type EndpointStorage = ClosableStorage & Watchable;

/** The options of an endpoint. */
export interface DenoEndpointOptions extends EndpointPeople {
  /** The catalog; or a function that returns a registry, which is also served under `/v1/agents` and so on. */
  readonly catalog: CatalogOption<EndpointStorage>;
  /** Agents composed in code, by `defineAgent`. */
  readonly agents?: readonly CodeAgent[];
  /** Verifies who calls: receives the storage, and returns `createAuthenticator(…)`, `bearerAuthenticator(…)` or your own. */
  readonly authenticator: (storage: EndpointStorage) => HandlerOptions['authenticator'];
  /** The tools of the agents, and sources of tools; or a function that receives the storage. None when absent. */
  readonly tools?: ToolsOption<EndpointStorage>;
  /** The code that tools of type `function` or `extension` name in `config.handler`; pass it to `createRegistry` as well. */
  readonly handlers?: Handlers;
  /** Where keys are read: `denoEnvSecrets()` or `httpSecrets()`. */
  readonly secrets?: SecretSource;
  /** The grounding for agents with `dataSources`; also served under `/v1/grounding` and `/v1/data-sources/:id/ingest`. */
  readonly grounding?: (storage: EndpointStorage, registry: Registry | undefined) => Grounding;
  /** Serves MCP clients at `/mcp` with the tools of this agent. */
  readonly mcp?: EndpointMcp;
  /** The origins whose pages may call the endpoint. */
  readonly origins?: readonly string[];
  /** How long a body may take to arrive, and how many may arrive at once. */
  readonly bodies?: HandlerOptions['bodies'];
  /** The time without an event after which a stream sends a comment, in milliseconds: 15,000; 4,000 where a platform stops streams that are idle for 5 s. */
  readonly keepAliveMs?: number;
  /** The token of Prometheus for `GET /v1/metrics`, as that of `createHandler`. */
  readonly metricsToken?: string;
  /** The longest that the start of a run may take, in milliseconds, as that of `createHandler`. */
  readonly startObjectiveMs?: number;
  /** How long audit entries are stored; forever when absent. */
  readonly auditRetentionMs?: number;
  /**
   * How long events are stored, so that observers can resume at any instance. Absent, each instance keeps its last
   * events in memory.
   */
  readonly eventRetentionMs?: number;
  /**
   * Model servers on private networks that provider records may name, such as `['http://127.0.0.1:11434']`; `loopback` means
   * every port of this machine. None when absent. Pass the registry the same.
   */
  readonly privateOrigins?: PrivateOrigins;
  /** The Deno KV database; the platform's own when absent. */
  readonly kvPath?: string;
  /** Receives the causes that answers, events and the audit do not contain, as that of `createRuntime`; `consoleErrors()` prints them. */
  readonly onError?: OnError;
  /** The limits of runs, as those of `createRuntime`. */
  readonly limits?: Partial<Limits>;
  /** The budgets of tenants, subjects and agents for a period, as those of `createRuntime`. */
  readonly budgets?: NonNullable<CreateRuntimeOptions['budgets']>;
  /** Other terms of these budgets for one holder, as that of `createRuntime`. */
  readonly budgetFor?: NonNullable<CreateRuntimeOptions['budgetFor']>;
  /** The limits of plans, as those of `createRuntime`. Over HTTP: 200 agents, 2,000 steps and one day when absent. */
  readonly plans?: Partial<PlanLimits>;
  /** How many runs may be in progress at once, as those of `createHandler`. */
  readonly quotas?: HandlerOptions['quotas'];
  /** As that of `createRuntime`: `'inputs'` records what runs are forked and made test cases from. */
  readonly keep?: 'stream' | 'inputs';
  /** As that of `createRuntime`: agents that name `code_run` may write programs. */
  readonly programs?: boolean;
  /** How many programs, and how many code tools, run at once, as that of `createRuntime`. Default: 4. */
  readonly sandboxes?: number;
  /**
   * Whether the process exits after `SIGINT` or `SIGTERM`, within 5 s. A cron job, a server or a timer of the embedder keeps a process
   * alive otherwise: with `false` the embedder ends it. True when absent.
   */
  readonly exitOnStop?: boolean;
}

/** How long runs may continue when the platform stops the instance; Deno Deploy kills it after five seconds. */
const drainMs = 3_000;
/** When the process exits at the latest, whatever is still open. */
const exitMs = 4_500;
/** Time for the last events to reach the sockets of their readers. */
const flushMs = 250;

/**
 * Creates the handler for `Deno.serve`, or for `export default { fetch }` with `deno serve` and Deno Deploy.
 *
 * @throws PinnaceError `invalid_argument` for an option of a wrong kind, `unavailable` (reason `no_deno`) outside Deno.
 */
export function createDenoEndpoint(options: DenoEndpointOptions): Handler {
  requireDeno(options);
  const { secrets, origins = [], kvPath, mcp, privateOrigins, onError, eventRetentionMs: retentionMs } = options;
  const storage = denoKvStorage({ ...(kvPath !== undefined && { path: kvPath }), ...(onError && { onError }) });
  const { authenticator, tools } = madeOf(storage, options);
  const store = retentionMs === undefined ? undefined : eventStore({ storage, retentionMs });
  const observability: Observability = {
    audit: createAudit({ storage, retentionMs: options.auditRetentionMs }),
    ring: createEventRing({ store }),
  };
  const { catalog, registry } = catalogOf(options.catalog, { storage, tools, observability });
  const grounding = options.grounding?.(storage, registry);
  const [egress, sandbox] = [denoEgress({ loopback: options.loopback ?? [] }), denoSandbox()];
  const people = peopleOf(options, egress);
  const otel = isTraced() ? lazyOtel() : undefined;
  const runtime = createRuntime({
    catalog,
    storage,
    models: modelSource({ egress, ...(privateOrigins && { privateOrigins }) }),
    tools,
    egress,
    sandbox,
    ...people.runtime,
    keep: options.keep ?? 'stream',
    programs: options.programs ?? false,
    ...(options.sandboxes !== undefined && { sandboxes: options.sandboxes }),
    sinks: [consoleSink(), ...(otel ? [otel.sink] : [])],
    ...observability,
    ...(options.agents && { agents: options.agents }),
    ...(options.limits && { limits: options.limits }),
    ...(options.plans && { plans: options.plans }),
    ...budgetsOf(options),
    ...(options.handlers && { handlers: options.handlers }),
    ...(secrets && { secrets }),
    ...(onError && { onError }),
    ...(grounding && { grounding }),
  });
  if (otel) runtime.metrics.observe(otel.metrics);
  if (store) gaugeSink(runtime.metrics, 'events', store);
  closeOnSignals(runtime, { storage, store, exits: options.exitOnStop ?? true });
  const { report } = runtime;
  const sweep = sweepOnRequest(runtime.planner, { report });
  // A failed sweep is left to the next: while the endpoint closes, its storage closes before its cron.
  scheduler()?.('pinnace-plans', '* * * * *', async () => void await runtime.planner.sweep().catch(reportTo(report)));
  const handler = cutSenders(createHandler(runtime, {
    authenticator,
    origins,
    capabilities: loadOnce(() => probe({ egress, sandbox })),
    planner: runtime.planner,
    ...people.handler,
    ...servedOptions(options),
    ...(mcp && { mcp: mcpOf(mcp, { runtime, storage, egress, grounding }) }),
    ...(registry && { registry }),
    ...(grounding && { grounding: { grounding, storage } }),
  }));
  return (request, connection) => {
    setTimeout(sweep); // after the answer, which does not wait for the database to open
    return handler(request, connection);
  };
}

/** The options that are those of the handler. */
function servedOptions(options: DenoEndpointOptions): Partial<HandlerOptions> {
  const { bodies, quotas, keepAliveMs, metricsToken, startObjectiveMs } = options;
  return {
    ...(bodies && { bodies }),
    ...(quotas && { quotas }),
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    ...(metricsToken !== undefined && { metricsToken }),
    ...(startObjectiveMs !== undefined && { startObjectiveMs }),
  };
}

function requireDeno(options: DenoEndpointOptions): void {
  if (typeof Deno !== 'undefined') return checkEndpoint(options);
  throw new PinnaceError(
    'unavailable',
    'Cannot create the endpoint: this is not Deno; on Node, use createNodeEndpoint of "pinnace/node"',
    { retryable: false, details: { reason: 'no_deno' } },
  );
}

/** What this platform can do, for `readyz`. */
async function probe({ egress, sandbox }: {
  readonly egress: Pick<PinnedEgress, 'isReady'>;
  readonly sandbox: Pick<ReturnType<typeof denoSandbox>, 'isReady'>;
}): Promise<Record<string, unknown>> {
  return {
    deno: Deno.version.deno,
    kv: typeof Deno.openKv === 'function',
    pinnedEgress: await egress.isReady(),
    sandbox: await sandbox.isReady(),
  };
}

/** Whether Deno itself traces: then it has a provider for OpenTelemetry spans and metrics. */
function isTraced(): boolean {
  const { state } = Deno.permissions.querySync({ name: 'env', variable: 'OTEL_DENO' });
  return state === 'granted' && /^(1|true)$/i.test(Deno.env.get('OTEL_DENO') ?? '');
}

/** Deno Deploy has cron, and Deno with `--unstable-cron`; elsewhere only requests wake plans that sleep. */
function scheduler(): ((name: string, schedule: string, work: () => Promise<void>) => void) | undefined {
  return (Deno as { cron?: ReturnType<typeof scheduler> }).cron;
}

/** On a signal, lets runs end, or ends them with an event that their readers can resume from, before the process exits. */
function closeOnSignals(
  runtime: HostedRuntime,
  { storage, store, exits }: {
    readonly storage: ClosableStorage;
    readonly store: QueuedEventStore | undefined;
    readonly exits: boolean;
  },
): void {
  let isClosing = false;
  const close = async (): Promise<void> => {
    if (isClosing) return;
    isClosing = true;
    if (exits) setTimeout(() => Deno.exit(0), exitMs);
    await runtime.close({ drainMs });
    await store?.close();
    await storage.close();
    if (exits) setTimeout(() => Deno.exit(0), flushMs);
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) Deno.addSignalListener(signal, () => void close());
}
