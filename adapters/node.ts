/** The wiring for Node: state in PostgreSQL, models over guarded connections, the endpoint as a fetch handler and as a listener. */

import process from 'node:process';
import { createRuntime, type CreateRuntimeOptions, type PlanningRuntime } from '../src/create-runtime.ts';
import { createAudit } from '../src/events/audit.ts';
import { createEventRing } from '../src/events/event-ring.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { PrivateOrigins } from '../src/base/private-origins.ts';
import type { EventSink } from '../src/contracts/event-sink.ts';
import type { ModelSource } from '../src/contracts/model-source.ts';
import type { Sandbox } from '../src/contracts/sandbox.ts';
import type { SecretSource } from '../src/contracts/secret-source.ts';
import type { ClosableStorage, Watchable } from '../src/contracts/storage.ts';
import type { OnError } from '../src/events/on-error.ts';
import type { PlanLimits } from '../src/planner/model/plan-limits.ts';
import type { Registry } from '../src/registry/registry.ts';
import type { Limits } from '../src/runtime/resolve/limits.ts';
import type { CodeAgent } from '../src/runtime/code-agents/agent-code.ts';
import type { Handlers } from '../src/tools/extension.ts';
import { denoEgress } from './egress/deno.ts';
import { modelSource } from './models/source.ts';
import { type NodeListener, type NodeListenerOptions, toNodeListener } from './node/listener.ts';
import { openPostgres } from './node/postgres-default.ts';
import { closeOnSignals } from './node/stop-signals.ts';
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
import { sweepPlans } from './plan-sweep.ts';
import { denoEnvSecrets, type DenoEnvSecretsOptions } from './secrets/deno-env.ts';
import { consoleSink } from './sinks/console.ts';
import { eventStore } from './sinks/event-store.ts';
import { gaugeSink } from './sinks/queue.ts';
import { createHandler, type Handler, type HandlerOptions } from './transport/http.ts';

export { type NodeListener, type NodeListenerOptions, toNodeListener } from './node/listener.ts';

type EndpointStorage = ClosableStorage & Watchable;

/** The options of an endpoint on Node. */
export interface NodeEndpointOptions extends
  EndpointPeople,
  Pick<
    HandlerOptions,
    'origins' | 'bodies' | 'quotas' | 'maxBodyBytes' | 'basePath' | 'keepAliveMs' | 'startObjectiveMs'
  > {
  /** The catalog; or a function that returns a registry, which is also served under `/v1/agents` and so on. */
  readonly catalog: CatalogOption<EndpointStorage>;
  /** Verifies who calls: receives the storage, and returns `createAuthenticator(…)`, `bearerAuthenticator(…)` or your own. */
  readonly authenticator: (storage: EndpointStorage) => HandlerOptions['authenticator'];
  /** The tools of the agents, and sources of tools; or a function that receives the storage. None when absent. */
  readonly tools?: ToolsOption<EndpointStorage>;
  /** Agents composed in code, by `defineAgent`. */
  readonly agents?: readonly CodeAgent[];
  /** The storage; absent, PostgreSQL at `databaseUrl`. */
  readonly storage?: EndpointStorage;
  /** The address of the PostgreSQL database; the variable `DATABASE_URL` when absent. Takes the package `postgres`. */
  readonly databaseUrl?: string;
  /** Secrets; absent, from the environment as `nodeEnvSecrets()`. */
  readonly secrets?: SecretSource;
  /** The limits of runs; the usual ones when absent. */
  readonly limits?: Partial<Limits>;
  /** The budgets of tenants, subjects and agents for a period, as those of `createRuntime`. */
  readonly budgets?: NonNullable<CreateRuntimeOptions['budgets']>;
  /** Other terms of these budgets for one holder, as that of `createRuntime`. */
  readonly budgetFor?: NonNullable<CreateRuntimeOptions['budgetFor']>;
  /** The limits of plans, as those of `createRuntime`. Over HTTP: 200 agents, 2,000 steps and one day when absent. */
  readonly plans?: Partial<PlanLimits>;
  /** Where models come from; absent, from provider records, over the endpoint's egress. */
  readonly models?: ModelSource;
  /** The code that tools of type `function` or `extension` name in `config.handler`; pass it to `createRegistry` as well. */
  readonly handlers?: Handlers;
  /** The grounding for agents with `dataSources`; without it they have none. */
  readonly grounding?: (storage: EndpointStorage, registry: Registry | undefined) => Grounding;
  /** The sandbox for tools of type `code`; without it they are left out. */
  readonly sandbox?: Sandbox;
  /** Serves MCP clients at `/mcp` with the tools of this agent. */
  readonly mcp?: EndpointMcp;
  /** Receive events; lines on the console when absent. */
  readonly sinks?: readonly EventSink[];
  /** How long audit entries are stored, in milliseconds; forever when absent. */
  readonly auditRetentionMs?: number;
  /**
   * How long events are stored, in milliseconds, so that observers can resume at any instance. Absent, each instance keeps its
   * last events in memory.
   */
  readonly eventRetentionMs?: number;
  /** The token of Prometheus for `GET /v1/metrics`, as that of `createHandler`; the variable `PINNACE_METRICS_TOKEN` when absent. */
  readonly metricsToken?: string;
  /** Model servers on private networks that provider records may name; `loopback` means every port of this machine. */
  readonly privateOrigins?: PrivateOrigins;
  /** Receives the causes that answers, events and the audit do not contain, as that of `createRuntime`. */
  readonly onError?: OnError;
  /** Whether `SIGINT` and `SIGTERM` close the endpoint and end the process. True when absent. */
  readonly exitOnStop?: boolean;
}

/** An endpoint on Node. */
export interface NodeEndpoint {
  /** For frameworks that speak Fetch: Hono, Next.js, `@hono/node-server`. */
  readonly handler: Handler;
  /** For `node:http` and Express. */
  readonly listener: (options?: NodeListenerOptions) => NodeListener;
  /** The runtime behind the endpoint, for calls in process. */
  readonly runtime: PlanningRuntime;
  /** Lets runs end for `drainMs` (3,000), then stops them and closes the storage. */
  readonly close: (options?: { readonly drainMs?: number }) => Promise<void>;
}

/** How often plans that sleep are looked after. */
const sweepMs = 30_000;

/**
 * Creates an endpoint.
 *
 * @throws PinnaceError `invalid_argument` for an option of a wrong kind; without a storage: neither `storage`, nor `databaseUrl`, nor `DATABASE_URL`; and without the
 * package `postgres`.
 * @example
 * const endpoint = await createNodeEndpoint({ catalog, tools: [add], authenticator: () => authenticator });
 * createServer(endpoint.listener()).listen(8000);
 */
export async function createNodeEndpoint(options: NodeEndpointOptions): Promise<NodeEndpoint> {
  checkEndpoint(options);
  const { mcp, privateOrigins, exitOnStop = true } = options;
  const { agents, limits, handlers, onError, sandbox, eventRetentionMs: retentionMs } = options;
  const storage = options.storage ?? await openPostgres(options.databaseUrl ?? process.env['DATABASE_URL']);
  const { authenticator, tools } = madeOf(storage, options);
  const store = retentionMs === undefined ? undefined : eventStore({ storage, retentionMs });
  const observability: Observability = {
    audit: createAudit({ storage, retentionMs: options.auditRetentionMs }),
    ring: createEventRing({ store }),
  };
  const { catalog, registry } = catalogOf(options.catalog, { storage, tools, observability });
  const grounding = options.grounding?.(storage, registry);
  const egress = denoEgress({ loopback: options.loopback ?? [] });
  const people = peopleOf(options, egress);
  const runtime = createRuntime({
    catalog,
    storage,
    tools,
    egress,
    models: options.models ?? modelSource({ egress, ...(privateOrigins && { privateOrigins }) }),
    secrets: options.secrets ?? nodeEnvSecrets(),
    ...people.runtime,
    sinks: options.sinks ?? [consoleSink()],
    ...observability,
    ...(agents && { agents }),
    ...(limits && { limits }),
    ...(options.plans && { plans: options.plans }),
    ...budgetsOf(options),
    ...(handlers && { handlers }),
    ...(onError && { onError }),
    ...(sandbox && { sandbox }),
    ...(grounding && { grounding }),
  });
  const stopSweeping = sweepPlans(runtime.planner, { intervalMs: sweepMs });
  if (store) gaugeSink(runtime.metrics, 'events', store);
  const handler = createHandler(runtime, {
    authenticator,
    planner: runtime.planner,
    capabilities: async () => ({ node: process.versions.node, pinnedEgress: await egress.isReady() }),
    ...people.handler,
    ...servedOptions(options),
    ...(mcp && { mcp: mcpOf(mcp, { runtime, storage, egress, grounding }) }),
    ...(registry && { registry }),
    ...(grounding && { grounding: { grounding, storage } }),
  });
  const close: NodeEndpoint['close'] = async ({ drainMs = 3_000 } = {}) => {
    stopSweeping();
    try {
      await runtime.close({ drainMs });
      await store?.close();
      await storage.close();
    } finally {
      leaveSignals?.();
    }
  };
  const leaveSignals = exitOnStop ? closeOnSignals(close) : undefined;
  return { handler, runtime, close, listener: (given) => toNodeListener(handler, given) };
}

/** The options that are those of the handler. */
function servedOptions(options: NodeEndpointOptions): Partial<HandlerOptions> {
  const { origins, bodies, quotas, maxBodyBytes, basePath, keepAliveMs, startObjectiveMs } = options;
  const metricsToken = options.metricsToken ?? process.env['PINNACE_METRICS_TOKEN'];
  return {
    ...(origins && { origins }),
    ...(bodies && { bodies }),
    ...(quotas && { quotas }),
    ...(maxBodyBytes !== undefined && { maxBodyBytes }),
    ...(basePath !== undefined && { basePath }),
    ...(keepAliveMs !== undefined && { keepAliveMs }),
    ...(startObjectiveMs !== undefined && { startObjectiveMs }),
    ...(metricsToken !== undefined && { metricsToken }),
  };
}

/**
 * Creates a source of secrets that reads `openai-key` from the variable `PINNACE_SECRET_OPENAI_KEY`. As `denoEnvSecrets`, over
 * `process.env`.
 *
 * @example
 * const secrets = nodeEnvSecrets({ origins: { 'openai-key': ['https://api.openai.com'] } });
 */
export function nodeEnvSecrets(options: Omit<DenoEnvSecretsOptions, 'env'> = {}): SecretSource {
  return denoEnvSecrets({
    ...options,
    env: { get: (name) => process.env[name], delete: (name) => void delete process.env[name] },
  });
}
