/** The playground's agent worker: composes a runtime, the sample agents, and what the page's panels show. */

// Before anything that builds a zod schema: zod would else try out `new Function`, which a strict CSP reports.
import './jitless.ts';
import { expose } from 'comlink';
import { exposeControl } from './app/worker/expose-control.ts';
import { consoleErrors } from '../adapters/console-errors.ts';
import { createBrowserRuntime } from '../adapters/browser.ts';
import { staticCatalog } from '../adapters/catalog/static.ts';
import { rehearsal } from '../adapters/models/rehearsal.ts';
import { modelSource } from '../adapters/models/source.ts';
import { memorySecrets } from '../adapters/secrets/memory.ts';
import { exposeRuntime } from '../adapters/transport/comlink.ts';
import { localPrincipal } from '../src/base/principal.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { ModelSource } from '../src/contracts/model-source.ts';
import type { PlanningRuntime } from '../src/create-runtime.ts';
import { createAudit } from '../src/events/audit.ts';
import { createEventRing } from '../src/events/event-ring.ts';
import type { Control } from './control/page-control.ts';
import { lazyTrials } from './agents/worker/lazy-trials.ts';
import { createPageSandbox } from './app/worker/page-cells.ts';
import { lazyEvals } from './evals/worker/lazy-host.ts';
import { createInspectorHost } from './runs/worker/host.ts';
import { exclusively } from './knowledge/worker/exclusively.ts';
import { lazyKnowledgeHost } from './knowledge/worker/lazy-host.ts';
import { reportContacts } from './privacy/worker/contacts.ts';
import { createRegistryHost } from './agents/worker/host.ts';
import { lazyMcp, lazySignIn } from './mcp/worker/lazy-mcp.ts';
import { sealSecret } from './mcp/seal-secret.ts';
import { cardsOf } from './samples/agents.ts';
import { pageSamples } from './samples/page-samples.ts';
import { createModelChoice, keySecret } from './settings/worker/model-choice.ts';
import { openStorage } from './storage/open-storage.ts';
import { sampleTools } from './tools/index.ts';
import { lazyTreeHost } from './tree/worker/lazy-host.ts';
import { treeAgentId } from './tree/worker/tools.ts';
import { createVaultHost } from './vault/worker/vault-host.ts';
import { lazyWebmcp } from './webmcp/worker/lazy-webmcp.ts';

reportContacts();
const isLocal = ['127.0.0.1', '[::1]', 'localhost'].includes(location.hostname);
const pageFolder = new URL(/\/assets\/[^/]*$/.test(location.pathname) ? '../' : './', location.href); // a build has this script there
const storage = openStorage('pinnace');
const observability = { audit: createAudit({ storage, retentionMs: 30 * 86_400_000 }), ring: createEventRing() };
const ownSecrets = memorySecrets();
const choice = createModelChoice({
  secrets: ownSecrets,
  onChanged: () => void runtime.invalidate(['provider:default', 'secrets']).catch(() => undefined), // without a storage nothing is shared
});
const { secrets, control: vault } = createVaultHost({
  load: async () => (await import('../adapters/secrets/vault.ts')).vaultSecrets({ name: 'pinnace-vault' }),
  own: new Set([keySecret]),
  ownSecrets,
  onChanged: () => runtime.invalidate(['secrets']),
});
const cells = createPageSandbox();
const webmcp = lazyWebmcp({ runtime: () => runtime });
const inspector = createInspectorHost({ storage: openStorage('pinnace-runs'), runtime: () => runtime });
const tree = lazyTreeHost({ storage, runtime: () => runtime });
const knowledge = lazyKnowledgeHost({ storage, exclusively });
const registry = createRegistryHost({
  storage,
  observability,
  samples: pageSamples,
  tools: sampleTools({ storage, callTree: (_tenant, call) => tree.call(treeAgentId, call) }),
  fallback: staticCatalog(pageSamples),
  vault,
  trials: lazyTrials({ secrets, storage, sandbox: cells.sandbox }),
  runtime: () => runtime,
});

const catalog = choice.over(registry.catalog);
const models = (egress: Egress): ModelSource => ({
  model(provider, secret) {
    if (provider.kind === 'rehearsal') return rehearsal(); // most visits call it: it comes with this worker, in one request
    const privateOrigins = ['loopback', ...choice.origins()] as const;
    return modelSource({ egress, privateOrigins, custom: choice.custom() }).model(provider, secret);
  },
});
/** What runs and test cases are composed of alike. */
const parts = { secrets, sandbox: cells.sandbox, keep: 'inputs', programs: true } as const;
const evals = lazyEvals({
  storage,
  runtime: () => runtime,
  catalog,
  models,
  parts: () => ({ ...parts, tools: registry.tools, grounding: knowledge.grounding }),
});

const runtime: PlanningRuntime = createBrowserRuntime({
  ...parts,
  name: 'pinnace',
  storage,
  observability,
  catalog,
  secrets: inspector.secrets(secrets),
  models: (egress) => inspector.models(models(egress)),
  sinks: [inspector.sink],
  ...(import.meta.env.DEV && { onError: consoleErrors() }), // `npm start`; a built page prints nothing
  mcp: (egress) => webmcp.over(lazyMcp({ egress, isLocal })),
  mcpSignIn: (egress) => lazySignIn({ egress, isLocal, redirectUri: new URL('oauth/callback.html', pageFolder).href }),
  sealKey: { id: sealSecret },
  tools: () => registry.tools,
  grounding: () => knowledge.grounding,
});

const control: Control = {
  agents: async () => cardsOf(registry.tools.map(({ definition }) => definition), await registry.registered()),
  useEndpoint: (endpoint) => choice.use(endpoint),
  useModel: (model) => choice.useModel(model),
  askServer: async ({ baseUrl, model, keyless }) => {
    const { askWithKey } = await import('./settings/worker/ask-with-key.ts');
    const access = keyless ? { baseUrl } : choice.accessTo(baseUrl);
    return await askWithKey(access, { model, secrets });
  },
  connectedEndpoint: () => choice.endpoint(),
  useBrowserModel: (port) => choice.useBrowser(port),
  steerPlan: (planId, how) => runtime.planner[how](planId, localPrincipal()),
  close: () => globalThis.close(),
  openCells: (port) => cells.connect(port),
  openPageTools: (port) => webmcp.connectPage(port),
  offerAgentTools: (agentId, port) => webmcp.offer(agentId, port),
  open: (port) => exposeRuntime(runtime, port),
  openTree: (port) => expose(tree.control, port),
  openRegistry: (port) => expose(registry.control, port),
  openKnowledge: (port) => expose(knowledge.control, port),
  openInspector: (port) => expose(inspector.control, port),
  openEvals: (port) => expose(evals, port),
};

exposeControl(control);
