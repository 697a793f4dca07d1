/** The sample endpoint, for `deno serve` on 127.0.0.1: signed requests, and a token for trying it with curl. */

import { createDenoEndpoint } from '../adapters/deno.ts';
import { consoleSink } from '../adapters/sinks/console.ts';
import { createAuthenticator } from '../adapters/transport/authenticator.ts';
import { authenticateByScheme } from '../adapters/transport/by-scheme.ts';
import { developmentAuthenticator } from '../adapters/transport/development-authenticator.ts';
import type { ConnectionInfo } from '../adapters/transport/http.ts';
import { groundingResources } from '../adapters/transport/mcp-content.ts';
import type { Issuer } from '../adapters/transport/signed/roots.ts';
import { loadOnce } from '../src/base/load-once.ts';
import { createRegistry, type EventSink, type Storage } from '../src/index.ts';
import { type ExtensionModule, loadExtension } from '../src/tools/index.ts';
import { sampleAgents, sampleDataSources, sampleProviders } from './samples/agents.ts';
import { createKnowledge } from './knowledge/worker/knowledge.ts';
import { createSamples } from './agents/worker/register-samples.ts';
import { tokenProblem } from './development/token-problem.ts';
import { sampleTools } from './tools/index.ts';
import { type CallTree, treeAgentId } from './tree/worker/tools.ts';

const given = Deno.env.get('PINNACE_TOKEN');
const token = given ?? crypto.randomUUID();
const problem = tokenProblem(token);
if (problem !== undefined) {
  console.error(problem);
  Deno.exit(2);
}
if (given === undefined) console.log(`The token of this endpoint is ${token}`);
const kvPath = Deno.env.get('PINNACE_KV');
/** Whom to trust, as JSON: `npm start` names the development issuer. */
const issuers = JSON.parse(Deno.env.get('PINNACE_ISSUERS') ?? '[]') as Issuer[]; // checked by the authenticator
/** With which Prometheus reads the metrics, 32 characters or more. */
const metricsToken = Deno.env.get('PINNACE_METRICS_TOKEN');
const authorities = listOf('PINNACE_AUTHORITIES');
const audience = Deno.env.get('PINNACE_AUDIENCE') ?? 'pinnace:development';
/** A module of tools beside the samples, as a path from the root of the project; MCP clients see them without loading. */
const extensionPath = Deno.env.get('PINNACE_EXTENSION');
const extension = extensionPath === undefined ? [] : await loadExtension(await importModule(extensionPath));

/** Shows what people and services change; that the samples are registered at the start is no news. */
const show = consoleSink({ format: 'text' });
const showChanges: EventSink = (event) => event.actor.type === 'system' ? undefined : show(event);

/** Where model servers may be on private networks, such as http://127.0.0.1:11434, or `loopback`. */
const privateOrigins = listOf('PINNACE_PRIVATE_ORIGINS');

/** The agent whose tools MCP clients find: all there are. */
const mcpAgent = { id: 'mcp', name: 'MCP', providerId: 'default', entryTools: ['*'] };

let addSamples = async (): Promise<unknown> => undefined;
const endpoint = createDenoEndpoint({
  catalog(storage, tools, observability) {
    const registry = createRegistry({ storage, tools, sinks: [showChanges], ...observability });
    addSamples = createSamples(registry, {
      agents: [...sampleAgents, mcpAgent],
      providers: sampleProviders,
      dataSources: sampleDataSources,
    });
    return registry;
  },
  authenticator: (storage) =>
    authenticateByScheme({
      'GC-Session': createAuthenticator({ issuers, audience, authorities, storage }),
      'Bearer': developmentAuthenticator({ token }),
    }),
  tools: (storage) => [...sampleTools({ storage, callTree: treesOnUse(storage) }), ...extension],
  grounding: (storage, registry) => createKnowledge(storage, registry),
  mcp: {
    agentId: mcpAgent.id,
    listed: extension.map(({ definition }) => definition.name),
    resources: ({ grounding }) => grounding ? [groundingResources(grounding)] : [],
    sessions: {},
    ...(authorities.length > 0 && { hosts: authorities.map((authority) => new URL(`http://${authority}`).hostname) }),
  },
  origins: listOf('PINNACE_ORIGINS'),
  privateOrigins,
  eventRetentionMs: 86_400_000,
  keep: 'inputs',
  programs: true,
  ...(metricsToken !== undefined && { metricsToken }),
  ...(kvPath !== undefined && { kvPath }),
});

/** Stores the samples before the first answer that may show them. A health check shows none, and does not wait. */
async function fetch(request: Request, connection?: ConnectionInfo): Promise<Response> {
  const isHealthCheck = new URL(request.url).pathname === '/v1/healthz';
  if (!isHealthCheck) await addSamples();
  const response = await endpoint(request, connection);
  if (isHealthCheck) setTimeout(() => void addSamples());
  return response;
}

export default { fetch } satisfies Deno.ServeDefaultExport;

/** The tree of each tenant, whose code loads with the first call of its tools. */
function treesOnUse(storage: Storage): CallTree {
  const trees = loadOnce(async () => (await import('./tree/worker/stored-trees.ts')).storedTrees(storage, treeAgentId));
  return async (tenant, call) => await (await trees())(tenant, call);
}

function listOf(name: string): string[] {
  return (Deno.env.get(name) ?? '').split(',').filter((item) => item !== '');
}

async function importModule(path: string): Promise<ExtensionModule> {
  const module: unknown = await import(/* @vite-ignore */ new URL(`../${path}`, import.meta.url).href);
  return module as ExtensionModule; // `loadExtension` looks whether it is one
}
