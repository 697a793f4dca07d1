/** The registry of the page's worker: stored in the browser, starting with the samples. */

import { loadOnce } from '../../../src/base/load-once.ts';
import type { McpServerWriter } from '../../../src/contracts/index.ts';
import {
  type Catalog,
  createRegistry,
  type HostedRuntime,
  localPrincipal,
  type Manifest,
  PinnaceError,
  type Principal,
  type Registry,
  type Storage,
  type Tool,
} from '../../../src/index.ts';
import type {
  Agent,
  Collection,
  RecordKind,
  Registration,
  RegistryOptions,
  ToolDefinition,
} from '../../../src/registry/index.ts';
import { readRecord } from '../../../src/registry/record-kinds.ts';
import { type Answer, answer } from '../../control/answer.ts';
import type { AnyRecord, RegistryControl, SignInControl, VaultControl } from '../../control/registry-control.ts';
import type { TrialControl } from '../../control/trial-control.ts';
import { createSamples, type Samples } from './register-samples.ts';

/** The registry, for the runtime and for the page. */
export interface RegistryHost {
  /** Registers the samples before it answers. Without browser storage it serves the samples themselves. */
  readonly catalog: Catalog & McpServerWriter;
  /** The tools with their switches, for the runtime. */
  readonly tools: readonly Tool[];
  readonly control: RegistryControl;
  /** The registered records; `undefined` without browser storage. */
  readonly registered: () => Promise<Registered | undefined>;
}

/** The records of the registry. */
export interface Registered {
  readonly agents: readonly Agent[];
  readonly tools: readonly ToolDefinition[];
}

export interface RegistryHostOptions {
  readonly storage: Storage;
  /** The audit and ring for changes. Registering the samples is not a change. */
  readonly observability?: Pick<RegistryOptions, 'audit' | 'ring'>;
  readonly tools: readonly Tool[];
  readonly samples: Samples;
  readonly fallback: Catalog;
  readonly vault: VaultControl;
  /** Fetches what tries tools. */
  readonly trials: () => Promise<TrialControl>;
  /** The runtime over the same storage. Called lazily. */
  readonly runtime: () => Pick<HostedRuntime, 'manifest' | 'invalidate' | 'validateMcpServer' | 'mcpSignIns'>;
}

/** Creates the host. Reads and writes nothing before the first call. */
export function createRegistryHost(
  { storage, observability, tools: given, samples, fallback, vault, trials, runtime }: RegistryHostOptions,
): RegistryHost {
  const switches = createToolSwitches(storage);
  const tools = given.map((tool) => switches.wired(tool));
  const definitions = tools.map(({ definition }) => definition);
  // A person's own model server, as Ollama, is on their machine.
  const parts = { storage, tools: definitions, privateOrigins: ['loopback'] };
  const registry = createRegistry({ ...parts, ...observability });
  const addSamples = createSamples(createRegistry(parts), samples);
  const ready = async (): Promise<boolean> => {
    const isStarted = await addSamples();
    await switches.refresh();
    return isStarted;
  };
  const variants = createVariants();
  const givenTools = new Set(tools.map(({ definition }) => definition.id));
  return {
    catalog: createCatalog({ registry, fallback, ready, variants }),
    tools,
    control: createRegistryControl({ registry, switches, givenTools, ready, runtime, vault, trials, variants }),
    async registered() {
      try {
        await ready();
        const [{ items }, known] = await Promise.all([
          registry.agents.list({ limit: 200 }),
          registry.listTools({ limit: 200 }),
        ]);
        return { agents: items, tools: known };
      } catch {
        return undefined;
      }
    },
  };
}

function createCatalog(
  { registry, fallback, ready, variants }: Pick<RegistryHostOptions, 'fallback'> & {
    readonly variants: Variants;
    readonly registry: Registry;
    readonly ready: () => Promise<boolean>;
  },
): Catalog & McpServerWriter {
  const from = async <T>(read: (catalog: Catalog) => Promise<T>): Promise<T | undefined> => {
    try {
      const isStarted = await ready();
      // Where there was no room for the samples, they are there all the same.
      return await read(registry) ?? (isStarted ? undefined : await read(fallback));
    } catch (error) {
      if (error instanceof PinnaceError && error.code === 'unavailable') return await read(fallback);
      throw error;
    }
  };
  return {
    agent: async (id, signal) => variants.find(id) ?? await from((catalog) => catalog.agent(id, signal)),
    provider: (id, signal) => from((catalog) => catalog.provider(id, signal)),
    tool: (id, signal) => from((catalog) => catalog.tool(id, signal)),
    mcpServer: (id, signal) => from(async (catalog) => await catalog.mcpServer?.(id, signal)),
    listTools: async (query, signal) => await from((catalog) => catalog.listTools(query, signal)) ?? [],
    listMcpServers: (query, signal) =>
      from(async (catalog) => await catalog.listMcpServers?.(query, signal)).then((found) => found ?? []),
    put: (kind, record, options) => registry.put(kind, record, options),
  };
}

interface RegistryControlOptions extends Pick<RegistryHostOptions, 'runtime' | 'vault' | 'trials'> {
  readonly registry: Registry;
  readonly switches: ToolSwitches;
  readonly variants: Variants;
  /** The ids of the tools that are given as code. */
  readonly givenTools: ReadonlySet<string>;
  readonly ready: () => Promise<unknown>;
}

/** Creates the control. It acts as the local principal. */
function createRegistryControl(
  { registry, switches, givenTools, ready, runtime, vault, trials, variants }: RegistryControlOptions,
): RegistryControl {
  const principal = localPrincipal();
  const answering = <T>(work: () => T | Promise<T>): Promise<Answer<T>> =>
    answer(async () => {
      await ready();
      return await work();
    });
  const isGiven = (kind: RecordKind, id: string): boolean => kind === 'tool' && givenTools.has(id);
  return {
    list: (kind, query) => answering(() => collectionOf(registry, kind).list(query)),
    get: (kind, id) =>
      answering(async () => {
        const { availableTools: _, ...record } = await collectionOf(registry, kind).get(id) as Found; // an agent has them
        const tools = kind === 'agent' ? await toolsFor(id, runtime()) : undefined;
        const agents = await agentsNaming(registry, kind, id);
        return { record, isGiven: isGiven(kind, id), agents, ...(tools && { tools }) };
      }),
    create: (kind, record) =>
      answering(() => collectionOf(registry, kind).register(record as Registration<RecordKind>, { principal })), // it is parsed there
    replace: (kind, record, version) =>
      answering(() => collectionOf(registry, kind).replace(record.id, unbound(record), { version, principal })),
    setState: (kind, id, state) =>
      answering(async () => {
        if (!isGiven(kind, id)) {
          await collectionOf(registry, kind)[state === 'active' ? 'enable' : 'disable'](id, { principal });
          return;
        }
        await switches.set(id, state);
        await runtime().invalidate(['tools']);
      }),
    remove: (kind, id) => answering(() => collectionOf(registry, kind).remove(id, { principal })),
    history: (kind, id, pageToken) =>
      answering(() =>
        isGiven(kind, id) ? { items: [] } : collectionOf(registry, kind).history(id, { limit: 20, pageToken })
      ),
    validate: (serverId, request) => answering(() => runtime().validateMcpServer(serverId, request, principal)),
    ...signInsOf({ registry, runtime, answering, principal }),
    exportAll: () => answering(() => registry.export()),
    importAll: (data, dryRun) => answering(() => registry.import(data, { dryRun, principal })),
    ...vault,
    previewTool: async (...of) => await (await trials()).previewTool(...of),
    draftAgent: (record) => answering(() => variants.add(readRecord.agent({ ...record, id: 'preview' }, 'the agent'))),
    reviewDocument: async (data) => await (await trials()).reviewDocument(data),
    callTool: async (...of) => await (await trials()).callTool(...of),
  };
}

function signInsOf(
  { registry, runtime, answering, principal }: Pick<RegistryControlOptions, 'registry' | 'runtime'> & {
    readonly answering: <T>(work: () => T | Promise<T>) => Promise<Answer<T>>;
    readonly principal: Principal;
  },
): SignInControl {
  return {
    signIns: () =>
      answering(async () => {
        const { items } = await registry.mcpServers.list({ limit: 200 });
        return items.length === 0 ? [] : await (await loadSignInRows()).signInRows(items, runtime());
      }),
    grant: (serverId) => answering(() => runtime().mcpSignIns.grant(serverId, principal)),
    startSignIn: (serverId, redirectUri) =>
      answering(() => runtime().mcpSignIns.start(serverId, { redirectUri }, principal)),
    finishSignIn: (callback) => answering(() => runtime().mcpSignIns.finish(callback, principal)),
    signOut: (serverId) => answering(() => runtime().mcpSignIns.revoke(serverId, principal)),
  };
}

const loadSignInRows = /* @__PURE__ */ loadOnce(() => import('../../mcp/worker/sign-in-rows.ts'));

type Found = AnyRecord & { readonly availableTools?: unknown };

/** Returns the collection of a kind, typed for all kinds. */
function collectionOf(registry: Registry, kind: RecordKind): Collection<RecordKind> {
  const collections: { readonly [Kind in RecordKind]: Collection<Kind> } = {
    agent: registry.agents,
    tool: registry.tools,
    mcpServer: registry.mcpServers,
    provider: registry.providers,
    dataSource: registry.dataSources,
  };
  return collections[kind]; // what is written is parsed as the kind's
}

/** The agents of a tool are stored with the agents and stay unchanged. */
function unbound(record: object): Registration<RecordKind> {
  const { boundAgents: _, ...rest } = record as { readonly boundAgents?: unknown };
  return rest as Registration<RecordKind>; // what is written is parsed as the kind's
}

async function agentsNaming(registry: Registry, kind: RecordKind, id: string): Promise<readonly string[]> {
  if (kind === 'agent') return [];
  if (kind === 'tool') return (await registry.tools.get(id)).boundAgents ?? [];
  const found: string[] = [];
  let pageToken: string | undefined;
  do {
    const page = await registry.agents.list({ limit: 200, ...(pageToken !== undefined && { pageToken }) });
    found.push(...page.items.filter((agent) => names(agent, kind, id)).map((agent) => agent.id));
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return found;
}

function names({ providerId, mcp, dataSources }: Agent, kind: RecordKind, id: string): boolean {
  if (kind === 'provider') return providerId === id;
  return kind === 'mcpServer' ? Object.hasOwn(mcp, id) : dataSources.includes(id);
}

async function toolsFor(
  agentId: string,
  runtime: ReturnType<RegistryHostOptions['runtime']>,
): Promise<Manifest['tools'] | undefined> {
  try {
    return (await runtime.manifest(agentId, localPrincipal())).tools;
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'forbidden') return undefined; // it is disabled
    throw error;
  }
}

interface Variants {
  find(agentId: string): Agent | undefined;
  /** Returns the agent with an id of its own. The latest 50 are stored. */
  add(agent: Agent): Agent;
}

const mostVariants = 50;

/** Creates the variants, at first none. Each has an id of its own: what is cached of one says nothing of another. */
function createVariants(): Variants {
  const known = new Map<string, Agent>();
  return {
    find: (agentId) => known.get(agentId),
    add(agent) {
      const variant: Agent = { ...agent, id: `variant-${crypto.randomUUID()}`, revision: 1 };
      known.set(variant.id, variant);
      const [oldest] = known.keys();
      if (known.size > mostVariants && oldest !== undefined) known.delete(oldest);
      return variant;
    },
  };
}

interface ToolSwitches {
  /** Returns the tool with its switch: its definition has the current state. */
  readonly wired: (tool: Tool) => Tool;
  /** Reads the switches again: another tab may have changed one. */
  readonly refresh: () => Promise<void>;
  readonly set: (toolId: string, state: ToolDefinition['state']) => Promise<void>;
}

const prefix = ['tool-switches'];
/** More tools than the samples have. */
const mostSwitches = 1000;

/** Creates the switches, all on until `refresh` reads them. */
function createToolSwitches(storage: Storage): ToolSwitches {
  let off: ReadonlySet<string> = new Set();
  return {
    wired(tool) {
      const { id, state } = tool.definition;
      const isOn = (): boolean => !off.has(id);
      const definition: ToolDefinition = {
        ...tool.definition,
        get state() {
          return isOn() ? state : 'disabled';
        },
      };
      return { ...tool, definition, isAvailable: () => isOn() && (tool.isAvailable?.() ?? true) };
    },
    async refresh() {
      const entries = await storage.list({ prefix, limit: mostSwitches });
      off = new Set(entries.map(({ key }) => String(key.at(-1))));
    },
    async set(toolId, state) {
      const key = [...prefix, toolId];
      await storage.commit([state === 'disabled' ? { key, value: true } : { key }]);
      await this.refresh();
    },
  };
}
