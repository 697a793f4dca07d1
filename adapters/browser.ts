/** The wiring for a Web Worker: state in IndexedDB, models over fetch, the runtime on a port. */

import { checkOptions } from '../src/base/check-options.ts';
import { createAudit } from '../src/events/audit.ts';
import { createRuntime, type CreateRuntimeOptions, type PlanningRuntime } from '../src/create-runtime.ts';
import type { OnError } from '../src/events/on-error.ts';
import { createEventRing } from '../src/events/event-ring.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { Catalog } from '../src/contracts/catalog.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { EventSink } from '../src/contracts/event-sink.ts';
import type { McpConnector } from '../src/contracts/mcp/mcp-connector.ts';
import type { McpSignIn } from '../src/contracts/mcp/sign-in.ts';
import type { SecretRef } from '../src/base/schema.ts';
import type { ModelSource } from '../src/contracts/model-source.ts';
import type { SecretSource } from '../src/contracts/secret-source.ts';
import type { ClosableStorage, Watchable } from '../src/contracts/storage.ts';
import type { PrivateOrigins } from '../src/base/private-origins.ts';
import type { CodeAgent } from '../src/runtime/code-agents/agent-code.ts';
import type { Tool } from '../src/tools/tool.ts';
import type { ToolSource } from '../src/tools/tool-source.ts';
import { browserEgress } from './egress/browser.ts';
import { modelSource } from './models/source.ts';
import { sweepPlans } from './plan-sweep.ts';
import { workerSandbox } from './sandbox/worker.ts';
import type { Sandbox } from '../src/contracts/sandbox.ts';
import { indexedDbStorage, type StorageFormat } from './storage/indexeddb.ts';
import type { Observability } from './observability.ts';

export type { Observability };
/** @deprecated Use `Observability`. */
export type Seen = Observability;

/** The options of a page's runtime. */
export interface BrowserRuntimeOptions {
  /** Names the IndexedDB database. */
  readonly name: string;
  /** The storage format of the database; the first when absent. */
  readonly format?: StorageFormat;
  /** An open storage to use instead of the database of `name`, where the page shares it with more than the runtime. */
  readonly storage?: ClosableStorage & Watchable;
  /** The audit and the event ring over `storage`; created when absent. */
  readonly observability?: Observability;
  /** Where agents, providers and tools are looked up: `staticCatalog`, or a registry. */
  readonly catalog: Catalog;
  /** Agents composed in code, by `defineAgent`. */
  readonly agents?: readonly CodeAgent[];
  /** Where keys are read: `memorySecrets()`, or a vault. Everyone who opens the page can read what it contains. */
  readonly secrets: SecretSource;
  /** The tools of the agents, and sources of tools; or a function that receives the storage. None when absent. */
  readonly tools?:
    | readonly (Tool | ToolSource)[]
    | ((storage: ClosableStorage & Watchable, observability: Observability) => readonly (Tool | ToolSource)[]);
  /** The grounding for agents with `dataSources`; without it they have none. */
  readonly grounding?: (storage: ClosableStorage & Watchable) => Grounding;
  /** How long audit entries are stored; 30 days when absent. */
  readonly auditRetentionMs?: number;
  /** Where models come from; `modelSource` over the page's guarded egress when absent. */
  readonly models?: ModelSource | ((egress: Egress) => ModelSource);
  /**
   * Model servers on private networks that provider records may name, for the `models` of this wiring; `loopback` means every
   * port of the user's own machine. None when absent.
   */
  readonly privateOrigins?: PrivateOrigins;
  /** Receive every event; none when absent. */
  readonly sinks?: readonly EventSink[];
  /** Receives the causes that answers, events and the audit do not contain, as that of `createRuntime`; `consoleErrors()` prints them. */
  readonly onError?: OnError;
  /** The connector to MCP servers, such as `(egress) => mcpConnector({ egress })`; without it their tools are left out. */
  readonly mcp?: (egress: Egress) => McpConnector;
  /** As that of `createRuntime`: `'inputs'` records what runs are forked and made test cases from. */
  readonly keep?: 'stream' | 'inputs';
  /** As that of `createRuntime`: agents that name `code_run` may write programs. */
  readonly programs?: boolean;
  /** How many programs, and how many code tools, run at once, as that of `createRuntime`. Default: 4. */
  readonly sandboxes?: number;
  /** The limits of plans, as those of `createRuntime`. */
  readonly plans?: NonNullable<CreateRuntimeOptions['plans']>;
  /** The budgets of tenants, subjects and agents for a period, as those of `createRuntime`. */
  readonly budgets?: NonNullable<CreateRuntimeOptions['budgets']>;
  /** Signs the user in to MCP servers, such as `(egress) => mcpSignIn({ egress, redirectUris })`; needs `sealKey`. */
  readonly mcpSignIn?: (egress: Egress) => McpSignIn;
  /** The secret that seals tokens and answers for MCP servers in the database, as that of `createRuntime`. */
  readonly sealKey?: SecretRef;
  /** Runs code tools; default: `workerSandbox()`. A shared worker cannot start workers and needs one whose code runs in its page. */
  readonly sandbox?: Sandbox;
}

/** How long a plan stays with a worker that has ended. Short, because after a reload a person waits for it. */
const planLeaseMs = 9000;

/**
 * Creates a runtime for a worker; pass it to `exposeRuntime`.
 *
 * @throws PinnaceError `invalid_argument` for an option of a wrong kind, and as `createRuntime`.
 */
export function createBrowserRuntime(options: BrowserRuntimeOptions): PlanningRuntime {
  checkOptions('create the runtime of the page', options, {
    name: [options?.storage ? 'given?' : 'text', 'a name for the database'],
    catalog: ['.agent', 'a catalog, such as staticCatalog({ agents, providers })'],
    tools: [
      typeof options?.tools === 'function' ? 'function' : 'array?',
      'an array of tools, or a function (storage) => [add]',
    ],
  });
  const {
    name,
    format,
    catalog,
    agents = [],
    secrets,
    tools = [],
    privateOrigins = [],
    models = (egress) => modelSource({ egress, privateOrigins }),
    sinks = [],
    onError,
    grounding,
    mcp,
    keep = 'stream',
    programs = false,
    sandboxes,
    plans,
    budgets,
    mcpSignIn,
    sealKey,
    sandbox = workerSandbox(),
    auditRetentionMs = 30 * 86_400_000,
    storage = indexedDbStorage({ name, ...(format && { format }) }),
    observability = { audit: createAudit({ storage, retentionMs: auditRetentionMs }), ring: createEventRing() },
  } = options;
  const egress = browserEgress();
  const runtime = createRuntime({
    catalog,
    agents,
    secrets,
    storage,
    models: typeof models === 'function' ? models(egress) : models,
    sinks,
    tools: typeof tools === 'function' ? tools(storage, observability) : tools,
    egress,
    sandbox,
    keep,
    programs,
    ...(sandboxes !== undefined && { sandboxes }),
    plans: { leaseMs: planLeaseMs, ...plans },
    ...(budgets && { budgets }),
    ...observability,
    ...(onError && { onError }),
    ...(grounding && { grounding: grounding(storage) }),
    ...(mcp && { mcp: mcp(egress) }),
    ...(mcpSignIn && { mcpSignIn: mcpSignIn(egress) }),
    ...(sealKey && { sealKey }),
  });
  sweepPlans(runtime.planner, { intervalMs: planLeaseMs / 3, report: runtime.report }); // resumes plans after a reload; ends with the worker
  return runtime;
}
