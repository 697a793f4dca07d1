/** The registry of the page's worker: kept in the browser, begun with the samples, open to the page. */

import {
  type Catalog,
  createRegistry,
  localPrincipal,
  type Manifest,
  PinnaceError,
  type Registry,
  type Runtime,
  type Storage,
  toData,
  type Tool,
} from '../../src/index.ts';
import { createSamples, type Samples } from '../register-samples.ts';
import type { Answer, RegistryControl } from './control.ts';
import { createToolSwitches, type ToolSwitches } from './tool-switches.ts';

/** The registry, for the runtime and for the page. */
export interface RegistryHost {
  /** Has the samples before it answers. Where the browser gives no storage, it answers with the samples as they are. */
  readonly catalog: Catalog;
  /** The tools with their switches, for the runtime. */
  readonly tools: readonly Tool[];
  readonly control: RegistryControl;
}

/** What the host is made of. */
export interface RegistryHostOptions {
  readonly storage: Storage;
  readonly tools: readonly Tool[];
  readonly samples: Samples;
  /** The samples as they are. */
  readonly fallback: Catalog;
  /** The runtime over the same storage; it is asked when it is there. */
  readonly runtime: () => Pick<Runtime, 'manifest' | 'invalidate'>;
}

/** Gives the host; it reads and writes nothing before it is asked. */
export function createRegistryHost(
  { storage, tools: given, samples, fallback, runtime }: RegistryHostOptions,
): RegistryHost {
  const switches = createToolSwitches(storage);
  const tools = given.map((tool) => switches.wired(tool));
  const registry = createRegistry({ storage, tools: tools.map(({ definition }) => definition) });
  const addSamples = createSamples(registry, samples);
  const ready = async (): Promise<void> => {
    await addSamples();
    await switches.refresh();
  };
  return {
    catalog: createCatalog({ registry, fallback, ready }),
    tools,
    control: createControl({ registry, switches, ready, runtime }),
  };
}

function createCatalog(
  { registry, fallback, ready }: Pick<RegistryHostOptions, 'fallback'> & {
    readonly registry: Registry;
    readonly ready: () => Promise<void>;
  },
): Catalog {
  const from = async <T>(ask: (catalog: Catalog) => Promise<T>): Promise<T> => {
    try {
      await ready();
      return await ask(registry);
    } catch (error) {
      if (error instanceof PinnaceError && error.code === 'unavailable') return await ask(fallback);
      throw error;
    }
  };
  return {
    agent: (id, signal) => from((catalog) => catalog.agent(id, signal)),
    provider: (id, signal) => from((catalog) => catalog.provider(id, signal)),
    tool: (id, signal) => from((catalog) => catalog.tool(id, signal)),
    listTools: (query, signal) => from((catalog) => catalog.listTools(query, signal)),
  };
}

function createControl(
  { registry, switches, ready, runtime }: Pick<RegistryHostOptions, 'runtime'> & {
    readonly registry: Registry;
    readonly switches: ToolSwitches;
    readonly ready: () => Promise<void>;
  },
): RegistryControl {
  const principal = localPrincipal();
  const answer = async <T>(work: () => Promise<T>): Promise<Answer<T>> => {
    try {
      await ready();
      return { ok: true, value: await work() };
    } catch (error) {
      return { ok: false, error: toData(error) };
    }
  };
  return {
    agents: (query) => answer(() => registry.agents.list(query)),
    tools: (query) => answer(() => registry.tools.list(query)),
    agent: (agentId) =>
      answer(async () => {
        const { availableTools: _, ...agent } = await registry.agents.get(agentId);
        const tools = await toolsFor(agentId, runtime());
        return { agent, ...(tools && { tools }) };
      }),
    tool: (toolId) => answer(() => registry.tools.get(toolId)),
    updateAgent: (id, patch, version) => answer(() => registry.agents.update(id, patch, { version, principal })),
    setState: (kind, id, state) =>
      answer(async () => {
        if (kind === 'agent') {
          await registry.agents[state === 'active' ? 'enable' : 'disable'](id, { principal });
          return;
        }
        await registry.tools.get(id);
        await switches.set(id, state);
        await runtime().invalidate(['tools']);
      }),
    history: (agentId, pageToken) => answer(() => registry.agents.history(agentId, { limit: 20, pageToken })),
  };
}

async function toolsFor(
  agentId: string,
  runtime: Pick<Runtime, 'manifest'>,
): Promise<Manifest['tools'] | undefined> {
  try {
    return (await runtime.manifest(agentId, localPrincipal())).tools;
  } catch (error) {
    if (error instanceof PinnaceError && error.code === 'forbidden') return undefined; // it is disabled
    throw error;
  }
}
