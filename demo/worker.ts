/** The playground's agent worker: a runtime, its sample agents, and the choice of the model. */

// Before anything that builds a zod schema: zod would else try out `new Function`, which a strict CSP reports.
import './jitless.ts';
import { expose } from 'comlink';
import { createBrowserRuntime } from '../adapters/browser.ts';
import { staticCatalog } from '../adapters/catalog/static.ts';
import { modelSource } from '../adapters/models/source.ts';
import { memorySecrets } from '../adapters/secrets/memory.ts';
import { exposeRuntime } from '../adapters/transport/comlink.ts';
import type { PlanningRuntime } from '../src/create-runtime.ts';
import type { Catalog, McpServerWriter } from '../src/contracts/catalog.ts';
import { originOf } from '../src/base/secret-origins.ts';
import { localPrincipal } from '../src/base/principal.ts';
import { cardsOf } from './samples/agents.ts';
import { lazyTrials } from './builder/worker/lazy-trials.ts';
import type { Control, Endpoint } from './app/worker/control.ts';
import { createInspectorHost } from './inspector/worker/host.ts';
import { storageFormat } from './storage/formats.ts';
import { openKept } from './storage/open-kept.ts';
import type { KnowledgeHost } from './knowledge/worker/host.ts';
import { lazyKnowledgeHost } from './knowledge/worker/lazy-host.ts';
import { pageSamples } from './samples/page-samples.ts';
import { tellContacts } from './privacy/worker/contacts.ts';
import { createRegistryHost, type RegistryHost } from './registry/worker/host.ts';
import { lazyMcp } from './registry/worker/lazy-mcp.ts';
import { createVaultHost } from './vault/worker/vault-host.ts';
import { sampleTools } from './tools/index.ts';
import { createTreeHost, type TreeHost } from './tree/worker/host.ts';
import { treeAgentId } from './tree/worker/tools.ts';

tellContacts();
const secrets = memorySecrets();
const vault = createVaultHost({
  load: async () => (await import('../adapters/secrets/vault.ts')).vaultSecrets({ name: 'pinnace-vault' }),
  own: new Set(['endpoint-key']),
  ownSecrets: secrets,
  onChanged: () => runtime.invalidate(['secrets']),
});
/** The origin of the model server that a person has entered: it may be one on their own network. */
let chosenOrigins: readonly string[] = [];
/** What a person has connected; it ends with the worker, as its key does. */
let connected: Catalog | undefined;

/** The sample agents' provider becomes the endpoint; its key stays here, as a secret. */
function useEndpoint(endpoint: Endpoint | undefined): void {
  const { baseUrl, model, apiKey } = endpoint ?? {};
  const origin = baseUrl === undefined ? undefined : originOf(baseUrl);
  const origins = origin === undefined ? [] : [origin];
  secrets.set('endpoint-key', apiKey === undefined ? undefined : { value: apiKey, origins });
  chosenOrigins = origins;
  const provider = {
    id: 'default',
    kind: 'openai-compatible' as const,
    ...(baseUrl !== undefined && { baseUrl }),
    ...(model !== undefined && { model }),
    ...(apiKey !== undefined && { secret: { id: 'endpoint-key' } }),
  };
  connected = endpoint && staticCatalog({ agents: [], providers: [provider] });
  void runtime.invalidate(['provider:default', 'secrets']).catch(() => undefined); // without a storage nothing is shared
}

/** The registry, but for what a person has connected: the next run sees what was chosen last. */
const current: Catalog & McpServerWriter = {
  agent: (...asked) => registry.catalog.agent(...asked),
  provider: async (...asked) => await connected?.provider(...asked) ?? await registry.catalog.provider(...asked),
  tool: (...asked) => registry.catalog.tool(...asked),
  listTools: (...asked) => registry.catalog.listTools(...asked),
  mcpServer: async (...asked) => await registry.catalog.mcpServer?.(...asked),
  listMcpServers: async (...asked) => await registry.catalog.listMcpServers?.(...asked) ?? [],
  put: (...asked) => registry.catalog.put(...asked),
};

/** The tree stands beside the runtime: the panel and the agents see the same one. */
let tree: TreeHost;
/** So does the registry: its pages and the runs see the same records. */
let registry: RegistryHost;
/** And the knowledge: what a person adds in the panel, agents find. */
let knowledge: KnowledgeHost;

/** Sees what the runtime does. Its runs are kept apart from what the runtime itself keeps. */
const inspector = createInspectorHost({
  storage: openKept('pinnace-runs'),
  runtime: () => runtime,
});

const runtime: PlanningRuntime = createBrowserRuntime({
  name: 'pinnace',
  format: storageFormat('pinnace'),
  catalog: current,
  secrets: inspector.secrets(vault.secrets),
  models: (egress) =>
    inspector.models({
      model: (provider, secret) =>
        modelSource({ egress, privateOrigins: ['loopback', ...chosenOrigins] }).model(provider, secret),
    }),
  sinks: [inspector.sink],
  mcp: (egress) => lazyMcp({ egress, isLocal: ['127.0.0.1', '[::1]', 'localhost'].includes(location.hostname) }),
  tools: (storage, seen) => {
    tree = createTreeHost({ storage, runtime: () => runtime });
    knowledge = lazyKnowledgeHost({ storage, exclusively });
    registry = createRegistryHost({
      storage,
      seen,
      samples: pageSamples,
      tools: sampleTools({ storage, callTree: (_tenant, call) => tree.call(treeAgentId, call) }),
      fallback: staticCatalog(pageSamples),
      vault: vault.control,
      trials: lazyTrials({ secrets: vault.secrets, storage }),
      runtime: () => runtime,
    });
    return registry.tools;
  },
  grounding: () => knowledge.grounding,
});

const control: Control = {
  agents: async () => cardsOf(registry.tools.map(({ definition }) => definition), await registry.registered()),
  useEndpoint,
  steerPlan: (planId, how) => runtime.planner[how](planId, localPrincipal()),
  open: (port) => exposeRuntime(runtime, port),
  openTree: (port) => expose(tree.control, port),
  openRegistry: (port) => expose(registry.control, port),
  openKnowledge: (port) => expose(knowledge.control, port),
  openInspector: (port) => expose(inspector.control, port),
};

/** One tab at a time indexes; a browser without locks lets each. */
async function exclusively(work: () => Promise<void>): Promise<void> {
  if (navigator.locks) await navigator.locks.request('pinnace-knowledge', work);
  else await work();
}

expose(control);
