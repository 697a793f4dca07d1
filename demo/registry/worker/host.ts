/** The registry of the page's worker: stored in the browser, starting with the samples. */

import type { Agent, RegistryOptions, ToolDefinition } from '../../../src/registry/index.ts';
import {
  type Catalog,
  createRegistry,
  type HostedRuntime,
  PinnaceError,
  type Registry,
  type Storage,
  type Tool,
} from '../../../src/index.ts';
import type { McpServerWriter } from '../../../src/contracts/index.ts';
import type { TrialControl } from '../../builder/worker/control.ts';
import { createVariants, type Variants } from '../../builder/worker/variants.ts';
import { createSamples, type Samples } from '../../samples/register-samples.ts';
import type { RegistryControl, VaultControl } from './control.ts';
import { createRegistryControl } from './registry-control.ts';
import { createToolSwitches } from './tool-switches.ts';

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

/** What the host is made of. */
export interface RegistryHostOptions {
  readonly storage: Storage;
  /** The audit and ring for changes. Registering the samples is not a change. */
  readonly observability?: Pick<RegistryOptions, 'audit' | 'ring'>;
  readonly tools: readonly Tool[];
  readonly samples: Samples;
  /** The samples as they are. */
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
