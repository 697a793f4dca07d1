import { checkKnownOptions, wrongArgument } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import { isRecord } from '../../src/base/is-record.ts';
import { parse } from '../../src/base/parse.ts';
import type { Catalog } from '../../src/contracts/catalog.ts';
import {
  Agent,
  type AgentInput,
  McpServer,
  type McpServerInput,
  Provider,
  type ProviderInput,
  ToolDefinition,
  withEntryTools,
} from '../../src/base/schema.ts';
import { requireDestinations } from '../../src/tools/input-fields.ts';
import { compileJsonSchema, requireOutputSchema } from '../../src/tools/json-schema/json-schema.ts';

export type { Catalog } from '../../src/contracts/catalog.ts';

/** What a static catalog holds. */
export interface StaticCatalogOptions {
  /** Agents that need no code; `createRuntime({ agents })` takes those of `defineAgent`. */
  readonly agents: readonly AgentInput[];
  /** The providers that agents name as `providerId`. */
  readonly providers: readonly ProviderInput[];
  /** Definitions of tools whose code is elsewhere. */
  readonly tools?: readonly unknown[];
  /** MCP servers, with what was approved of them in `pinned`. */
  readonly mcpServers?: readonly McpServerInput[];
}

const action = 'create the catalog';
/** What an exported catalog has besides: it can be passed as it is. Its data sources are those of `grounding`. */
const ofDocument = { format: ['given?', ''], formatVersion: ['given?', ''], dataSources: ['given?', ''] } as const;

/**
 * Creates a catalog of definitions in code or in a file. They are parsed here, once. A record with a `tenant` is that tenant's own;
 * all others are shared.
 *
 * @throws PinnaceError `invalid_argument` for a definition that breaks its schema, a `paramsSchema` or `output.schema` that is not a JSON
 * Schema, for an agent whose provider is not among `providers`, a provider that needs a `baseUrl` and has none, and for two of a kind
 * and an owner with one id.
 */
export function staticCatalog(options: StaticCatalogOptions): Catalog {
  checkKnownOptions(action, options, {
    agents: ['array', 'an array of records'],
    providers: ['array', 'an array of records'],
    tools: ['array?', 'an array of records'],
    mcpServers: ['array?', 'an array of records'],
    ...ofDocument,
  });
  const { agents, providers, tools = [], mcpServers = [] } = options;
  refuseCode('agents', agents, 'code');
  refuseCode('tools', tools, 'execute');
  const parsed: Parsed = {
    agents: agents.map((agent, i) => parse(Agent, withEntryTools(agent), { what: `agent ${i}` })),
    providers: providers.map((provider, i) => parse(Provider, provider, { what: `provider ${i}` })),
    mcpServers: mcpServers.map((server, i) => parse(McpServer, server, { what: `MCP server ${i}` })),
    tools: tools.map((tool, i) => requireDestinations(parse(ToolDefinition, tool, { what: `tool ${i}` }))),
  };
  for (const { paramsSchema } of parsed.tools) compileJsonSchema(paramsSchema);
  for (const { output } of parsed.agents) if (output) requireOutputSchema(output.schema);
  requireProviders(parsed);
  const tenants = new Set(Object.values(parsed).flat().flatMap((record: Owned) => record.tenant ?? []));
  const own = new Map([...tenants].map((tenant) => [tenant, catalogOf(parsed, tenant)]));
  const none = catalogOf({ agents: [], providers: [], mcpServers: [], tools: [] }, undefined);
  return {
    ...catalogOf(parsed, undefined),
    fixed: { agents: parsed.agents, tools: parsed.tools },
    forTenant: (tenant) => own.get(tenant) ?? none,
  };
}

/** What `defineAgent` and `defineTool` return is code, and no record. */
function refuseCode(name: 'agents' | 'tools', records: readonly unknown[], code: string): void {
  const at = records.findIndex((record) =>
    isRecord(record) && isRecord(record[name === 'agents' ? 'record' : 'definition']) && code in record
  );
  if (at >= 0) {
    throw wrongArgument(action, `${name}.${at}`, `"${name}.${at}" is code; pass it to createRuntime({ ${name} })`);
  }
}

/** A static catalog does not change: an agent whose provider is missing could never run. */
function requireProviders({ agents, providers }: Parsed): void {
  const ids = new Set(providers.map(({ id }) => id));
  for (const { id, providerId, fallbacks = [] } of agents) {
    const missing = [providerId, ...fallbacks.map((fallback) => fallback.providerId)].find((named) => !ids.has(named));
    if (missing === undefined) continue;
    const known = [...ids].slice(0, 20).join(', ') || 'none';
    throw wrongArgument(
      action,
      'providerId',
      `agent "${id}" names the provider "${missing}"; the providers are: ${known}`,
    );
  }
  const unreachable = providers.find(({ kind, baseUrl }) => kind === 'openai-compatible' && baseUrl === undefined);
  if (!unreachable) return;
  const why = `provider "${unreachable.id}" has no "baseUrl"; pass one, such as "https://api.example.com/v1"`;
  throw wrongArgument(action, 'baseUrl', why);
}

interface Owned {
  readonly id: string;
  readonly tenant?: string | undefined;
}

interface Parsed {
  readonly agents: readonly Agent[];
  readonly providers: readonly Provider[];
  readonly mcpServers: readonly McpServer[];
  readonly tools: readonly ToolDefinition[];
}

/** The catalog of one tenant's records; without a tenant, of the shared ones. */
function catalogOf(parsed: Parsed, owner: string | undefined): Catalog {
  const of = <T extends Owned>(records: readonly T[]): readonly T[] => records.filter(({ tenant }) => tenant === owner);
  const agentsById = byId('agent', of(parsed.agents));
  const providersById = byId('provider', of(parsed.providers));
  const serversById = byId('MCP server', of(parsed.mcpServers));
  const toolsById = byId('tool', of(parsed.tools).toSorted((a, b) => (a.id < b.id ? -1 : 1)));
  return {
    agent: async (agentId) => agentsById.get(agentId),
    provider: async (providerId) => providersById.get(providerId),
    tool: async (toolId) => toolsById.get(toolId),
    mcpServer: async (serverId) => serversById.get(serverId),
    listTools: async (query) => pageOf([...toolsById.values()], query),
    listMcpServers: async (query) =>
      pageOf([...serversById.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1)), query),
  };
}

function pageOf<T extends { readonly id: string }>(
  all: readonly T[],
  { after, limit }: { readonly after?: string; readonly limit: number },
): T[] {
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id > after);
  return start < 0 ? [] : all.slice(start, start + limit);
}

function byId<T extends { readonly id: string }>(kind: string, items: readonly T[]): ReadonlyMap<string, T> {
  const map = new Map<string, T>();
  for (const item of items) {
    if (map.has(item.id)) {
      throw new PinnaceError('invalid_argument', `Cannot make the catalog: two definitions of ${kind} "${item.id}"`);
    }
    map.set(item.id, item);
  }
  return map;
}
