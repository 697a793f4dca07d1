/** What the endpoints on Deno and on Node share: the catalog of their options, and MCP loaded on demand. */

import type { Catalog } from '../src/contracts/catalog.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { McpConnector } from '../src/contracts/mcp/mcp-connector.ts';
import type { Storage } from '../src/contracts/storage.ts';
import type { Registry } from '../src/registry/registry.ts';
import type { ToolDefinition } from '../src/base/schema.ts';
import { isToolSource, toolsOf, type ToolSource } from '../src/tools/tool-source.ts';
import type { Tool } from '../src/tools/tool.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { HostedRuntime } from '../src/runtime/runtime.ts';
import type { McpRouteOptions } from './transport/http/routes/mcp.ts';
import type { Observability } from './observability.ts';

/** Loads the library with the first connection: most instances never open one. */
export function mcpOnUse(egress: Egress): McpConnector {
  const connector = async (): Promise<McpConnector> => (await import('./mcp/client.ts')).mcpConnector({ egress });
  return { connect: async (server, options) => await (await connector()).connect(server, options) };
}

/** A catalog, or a function that creates a registry over the endpoint's storage and tools. */
export type CatalogOption<S> =
  | Catalog
  | ((storage: S, tools: readonly ToolDefinition[], observability: Observability) => Registry);

/** Returns the catalog, which is the registry where the options create one. */
export function catalogOf<S>(
  catalog: CatalogOption<S>,
  { storage, tools, observability }: {
    readonly storage: S;
    readonly tools: readonly (Tool | ToolSource)[];
    readonly observability: Observability;
  },
): { readonly catalog: Catalog; readonly registry?: Registry } {
  if (typeof catalog !== 'function') return { catalog };
  const composed = tools.flatMap((given) => isToolSource(given) ? toolsOf(given) : [given]);
  const registry = catalog(storage, composed.map(({ definition }) => definition), observability);
  return { catalog: registry, registry };
}

/** What an endpoint serves to MCP clients: the tools of an agent. Keys of `auth` are loaded by the endpoint's own egress. */
export type EndpointMcp = Omit<McpRouteOptions, 'tools' | 'storage' | 'resources'> & {
  readonly agentId: string;
  /** What clients may list and read; as a function where it is made of the endpoint's storage or grounding. */
  readonly resources?:
    | McpRouteOptions['resources']
    | ((parts: EndpointData) => NonNullable<McpRouteOptions['resources']>);
};

/** What resources of an endpoint may be made of. */
export interface EndpointData {
  readonly storage: Storage;
  readonly grounding: Grounding | undefined;
}

/** Returns the options of `/mcp`. */
export function mcpOf(
  { agentId, auth, resources, ...options }: EndpointMcp,
  { runtime, storage, egress, grounding }: {
    readonly runtime: Pick<HostedRuntime, 'tools'>;
    readonly storage: Storage;
    readonly egress: Egress;
    readonly grounding: Grounding | undefined;
  },
): McpRouteOptions {
  const tools: McpRouteOptions['tools'] = (principal) => runtime.tools(agentId, principal);
  const served = typeof resources === 'function' ? resources({ storage, grounding }) : resources;
  return {
    ...options,
    ...(served && { resources: served }),
    ...(auth && { auth: { egress, ...auth } }),
    storage,
    tools,
  };
}
