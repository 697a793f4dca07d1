/**
 * The composition under the endpoints on Node and Deno and under the runtime of a page. What must hold:
 * - It takes every option of `createRuntime`. The names come from the table of `createRuntime`; none is forwarded by hand.
 * - The options are checked before anything is opened, so a rejected composition leaves no connection.
 * - Audit, ring and storage are made once and shared by the registry, the grounding, the runtime and the routes.
 * - The default of a platform is used only where an option is absent.
 */

import type { SecretRef, ToolDefinition } from '../src/base/schema.ts';
import type { PrivateOrigins } from '../src/base/origins.ts';
import type { Catalog } from '../src/contracts/catalog.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { ModelSource } from '../src/contracts/model-source.ts';
import type { ClosableStorage, Watchable } from '../src/contracts/storage.ts';
import {
  createRuntime,
  type CreateRuntimeOptions,
  type PlanningRuntime,
  runtimeOptions,
} from '../src/create-runtime.ts';
import { type Audit, createAudit } from '../src/events/audit.ts';
import { createEventRing, type EventRing } from '../src/events/event-ring.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { Registry } from '../src/registry/registry.ts';
import { givenTools, type ToolSource } from '../src/tools/implement.ts';
import type { Tool } from '../src/tools/tool.ts';
import { modelSource } from './models/source.ts';

/** Where changes are audited and events are buffered for observers: what a registry and other parts share with a runtime. */
export interface Observability {
  readonly audit: Audit;
  readonly ring: EventRing;
}

/** What a registry shares with its runtime. */
export type RegistryParts = Observability & { readonly privateOrigins: PrivateOrigins };

export type CompositionStorage = ClosableStorage & Watchable;

/** The options that a composition makes into those of the runtime: from its storage, or over its egress. */
interface MadeOptions {
  /**
   * Where agents, providers and tools are looked up: `staticCatalog`, or a function that returns a registry, which an endpoint also
   * serves under `/v1/agents` and so on.
   */
  readonly catalog:
    | Catalog
    | ((storage: CompositionStorage, tools: readonly ToolDefinition[], observability: RegistryParts) => Registry);
  /** The storage; absent, that of the platform: PostgreSQL on Node, Deno KV on Deno, IndexedDB in a page. */
  readonly storage?: CompositionStorage;
  /** The tools of the agents, and sources of tools; or a function that receives the storage. None when absent. */
  readonly tools?:
    | readonly (Tool | ToolSource)[]
    | ((storage: CompositionStorage, observability: Observability) => readonly (Tool | ToolSource)[]);
  /** The grounding for agents with `dataSources`; without it they have none. */
  readonly grounding?: Grounding | ((storage: CompositionStorage, registry: Registry | undefined) => Grounding);
  /** Where models come from; absent, from provider records, over the egress of the composition. */
  readonly models?: ModelSource | ((egress: Egress) => ModelSource);
}

/** What a composition adds to the options of `createRuntime`. */
export interface CompositionOptions
  extends MadeOptions, Omit<CreateRuntimeOptions, keyof MadeOptions | 'mcp' | 'mcpSignIn'> {
  /** The secret that seals tokens and answers: 32 random bytes as base64url, bound to `code`. Without it, MCP servers cannot ask. */
  readonly sealKey?: SecretRef;
  /**
   * The origins on private networks, or over plain http, that models, HTTP tools, MCP servers, sign-in, data sources and sinks may
   * have, such as `['http://127.0.0.1:11434', 'https://stock.internal']`, each exactly; `loopback` means every port of this machine. A
   * record or a model opens none by itself. None when absent. With an `egress` of your own, pass it the same.
   */
  readonly privateOrigins?: PrivateOrigins;
  /** How long audit entries are stored, in milliseconds; absent: forever at an endpoint, 30 days in a page. */
  readonly auditRetentionMs?: number;
}

export interface Platform {
  readonly storage: CompositionStorage;
  readonly egress: Egress;
  /** Connects to MCP servers, and signs people in to them. */
  readonly mcp: Partial<Pick<CreateRuntimeOptions, 'mcp' | 'mcpSignIn'>>;
  readonly ring?: EventRing | undefined;
  /** The options that apply where the developer gives none. */
  readonly defaults: Partial<Omit<CreateRuntimeOptions, 'mcp' | 'mcpSignIn'>>;
}

export interface Composition {
  readonly runtime: PlanningRuntime;
  /** The registry, where `catalog` is a function. */
  readonly registry: Registry | undefined;
  readonly grounding: Grounding | undefined;
}

/** What the functions of the options are made with before they are passed on. */
const madeHere: ReadonlySet<string> = new Set([
  'catalog',
  'storage',
  'tools',
  'grounding',
  'models',
  'mcp',
  'mcpSignIn',
]);
const passedOn = Object.keys(runtimeOptions).filter((name) => !madeHere.has(name)) as Exclude<
  keyof CreateRuntimeOptions,
  keyof MadeOptions | 'mcp' | 'mcpSignIn'
>[]; // safe: the table has a row for each option

/** Creates a runtime from the options of a composition and the parts of its platform. @throws PinnaceError as `createRuntime`. */
export function composeRuntime(options: CompositionOptions, platform: Platform): Composition {
  const { storage, egress, defaults } = platform;
  const { auditRetentionMs: retentionMs, privateOrigins = [], models = modelSource({ egress, privateOrigins }) } =
    options;
  const observability: Observability = {
    audit: options.audit ?? createAudit({ storage, retentionMs }),
    ring: options.ring ?? platform.ring ?? createEventRing(),
  };
  const tools = made(options.tools ?? [], storage, observability);
  const definitions = () => givenTools(tools).map(({ definition }) => definition);
  const registry = typeof options.catalog === 'function'
    ? options.catalog(storage, definitions(), { ...observability, privateOrigins })
    : undefined;
  const grounding = options.grounding && made(options.grounding, storage, registry);
  const runtime = createRuntime({
    ...defaults,
    ...pick(options, passedOn),
    ...platform.mcp,
    ...observability,
    ...defined({ grounding }),
    catalog: registry ?? options.catalog as Catalog, // safe: a function was called above
    storage,
    tools,
    egress,
    models: made(models, egress),
  });
  return { runtime, registry, grounding };
}

/** Returns the value, or what the function returns for the parts that it is made of. */
export function made<T extends object, A extends readonly unknown[]>(option: T | ((...parts: A) => T), ...parts: A): T {
  return typeof option === 'function' ? option(...parts) : option;
}

type Defined<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Returns the options without those that are `undefined`. */
export function defined<T extends object>(options: T): Defined<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>; // safe: filtered
}

export function pick<T extends object, K extends keyof T>(options: T, names: readonly K[]): Defined<Pick<T, K>> {
  return defined(Object.fromEntries(names.map((name) => [name, options[name]])) as Pick<T, K>); // safe: the names are its keys
}
