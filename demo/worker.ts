/** The playground's agent worker: a runtime, its sample agents, and the choice of the model. */

// Before anything that builds a zod schema: zod would else try out `new Function`, which a strict CSP reports.
import './jitless.ts';
import { expose } from 'comlink';
import { createBrowserRuntime } from '../adapters/browser.ts';
import { staticCatalog } from '../adapters/catalog/static.ts';
import { memorySecrets } from '../adapters/secrets/memory.ts';
import { exposeRuntime } from '../adapters/transport/comlink.ts';
import type { Catalog } from '../src/ports.ts';
import { localPrincipal } from '../src/runtime/principal.ts';
import { agentCards, sampleAgents, sampleProviders } from './agents.ts';
import type { Control, Endpoint } from './control.ts';
import { sampleTools } from './tools/index.ts';
import { createTreeHost, type TreeHost } from './tree/host.ts';
import { treeAgentId } from './tree/tools.ts';

const secrets = memorySecrets();
let catalog = staticCatalog({ agents: sampleAgents, providers: sampleProviders });

/** The sample agents' provider becomes the endpoint; its key stays here, as a secret. */
function useEndpoint(endpoint: Endpoint | undefined): void {
  secrets.set('endpoint-key', endpoint?.apiKey);
  const { baseUrl, model, apiKey } = endpoint ?? {};
  const provider = {
    id: 'default',
    kind: 'openai-compatible' as const,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(apiKey !== undefined && { secret: { id: 'endpoint-key' } }),
  };
  catalog = staticCatalog({ agents: sampleAgents, providers: endpoint ? [provider] : sampleProviders });
  void runtime.invalidate(['provider:default', 'secrets']).catch(() => undefined); // without a storage nothing is shared
}

/** Always the catalog of now: the next run sees what was chosen last. */
const current: Catalog = {
  agent: (agentId) => catalog.agent(agentId),
  provider: (providerId) => catalog.provider(providerId),
  tool: (toolId) => catalog.tool(toolId),
  listTools: (query) => catalog.listTools(query),
};

/** The tree stands beside the runtime: the panel and the agents see the same one. */
let tree: TreeHost;

const runtime = createBrowserRuntime({
  name: 'pinnace',
  catalog: current,
  secrets,
  tools: (storage) => {
    tree = createTreeHost({ storage });
    return sampleTools({ storage, callTree: (_tenant, call) => tree.call(treeAgentId, call) });
  },
});

const control: Control = {
  agents: () => agentCards,
  useEndpoint,
  setPaused: (planId, isPaused) =>
    isPaused ? runtime.planner.pause(planId, localPrincipal()) : runtime.planner.resume(planId, localPrincipal()),
  open: (port) => exposeRuntime(runtime, port),
  openTree: (port) => expose(tree.control, port),
};

expose(control);
