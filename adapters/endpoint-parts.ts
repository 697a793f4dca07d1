/** What the endpoints on Deno and on Node share: the catalog of their options, and MCP loaded on demand. */

import { checkOptions } from '../src/base/check-options.ts';
import { PinnaceError } from '../src/base/errors.ts';
import { loadOnce } from '../src/base/load-once.ts';
import type { CreateRuntimeOptions } from '../src/create-runtime.ts';
import type { Catalog } from '../src/contracts/catalog.ts';
import type { Egress } from '../src/contracts/egress.ts';
import type { McpConnector } from '../src/contracts/mcp/mcp-connector.ts';
import type { Storage } from '../src/contracts/storage.ts';
import type { Registry } from '../src/registry/registry.ts';
import type { SecretRef, ToolDefinition } from '../src/base/schema.ts';
import { givenTools, type ToolSource } from '../src/tools/tool-source.ts';
import type { Tool } from '../src/tools/tool.ts';
import type { Grounding } from '../src/grounding/create-grounding.ts';
import type { HostedRuntime } from '../src/runtime/runtime.ts';
import { mcpSignIn, type McpSignInOptions } from './mcp/sign-in.ts';
import type { HandlerOptions } from './transport/http.ts';
import type { McpRouteOptions } from './transport/http/routes/mcp.ts';
import type { Observability } from './observability.ts';

/** What people do for MCP servers: they sign in, and answer questions. */
export interface EndpointPeople {
  /**
   * Signs people in to MCP servers with `auth`, over the endpoint's own egress; needs `sealKey`. The redirect URIs belong to your chat
   * back end. Servers are then reached with `@modelcontextprotocol/client`.
   */
  readonly mcpSignIn?: Omit<McpSignInOptions, 'egress'>;
  /** The secret that seals tokens and answers: 32 random bytes as base64url, bound to `code`. Without it, MCP servers cannot ask. */
  readonly sealKey?: SecretRef;
  /** Origins on this machine that tools, MCP servers and authorization servers may have, as those of `denoEgress`; for development. */
  readonly loopback?: readonly string[];
}

/** What the options make of the runtime and of the handler. */
export interface PeopleParts {
  readonly runtime: Pick<CreateRuntimeOptions, 'mcp' | 'mcpSignIn' | 'sealKey'>;
  readonly handler: Pick<HandlerOptions, 'mcpSignIn'>;
}

/**
 * Returns the connector and the sign-in of an endpoint.
 *
 * @throws PinnaceError `invalid_argument` for `mcpSignIn` without `sealKey`, and as `mcpSignIn` does.
 */
export function peopleOf({ mcpSignIn: options, sealKey, loopback = [] }: EndpointPeople, egress: Egress): PeopleParts {
  if (options && !sealKey) throw noSealKey();
  const signIn = options && { mcpSignIn: mcpSignIn({ loopback, ...options, egress }) };
  const mcp = mcpOnUse(sealKey ? loadModern : loadLegacy, egress);
  return { runtime: { mcp, ...signIn, ...(sealKey && { sealKey }) }, handler: { ...signIn } };
}

/** Loads the library with the first connection: most instances never open one. */
function mcpOnUse(load: () => Promise<ConnectorOver>, egress: Egress): McpConnector {
  const connector = loadOnce(async () => (await load())({ egress }));
  return { connect: async (server, options) => await (await connector()).connect(server, options) };
}

type ConnectorOver = (options: { readonly egress: Egress }) => McpConnector;

const loadLegacy = async (): Promise<ConnectorOver> => (await import('./mcp/client.ts')).mcpConnector;
const loadModern = async (): Promise<ConnectorOver> => (await import('./mcp/client-2026.ts')).mcpConnector2026;

function noSealKey(): PinnaceError {
  return new PinnaceError(
    'invalid_argument',
    'Cannot sign people in to MCP servers without "sealKey": name a secret of 32 random bytes, bound to "code"',
    { details: { reason: 'no_seal_key' } },
  );
}

/** Returns the options of budgets that are given. */
export function budgetsOf(
  { budgets, budgetFor }: Pick<CreateRuntimeOptions, 'budgets' | 'budgetFor'>,
): Pick<CreateRuntimeOptions, 'budgets' | 'budgetFor'> {
  return { ...(budgets && { budgets }), ...(budgetFor && { budgetFor }) };
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
  const registry = catalog(storage, givenTools(tools).map(({ definition }) => definition), observability);
  return { catalog: registry, registry };
}

/** Tools, or a function that makes them of the endpoint's storage. */
export type ToolsOption<S> = readonly (Tool | ToolSource)[] | ((storage: S) => readonly (Tool | ToolSource)[]);

/** What an endpoint makes of its storage. */
export interface StorageOptions<S> {
  readonly catalog: CatalogOption<S>;
  readonly authenticator: (storage: S) => HandlerOptions['authenticator'];
  readonly tools?: ToolsOption<S> | undefined;
}

const action = 'create the endpoint';

/** Checks the options of an endpoint before anything is opened. @throws PinnaceError `invalid_argument`. */
export function checkEndpoint<S>(options: StorageOptions<S>): void {
  checkOptions(action, options, {
    catalog: [
      typeof options?.catalog === 'function' ? 'function' : '.agent',
      'a catalog, such as staticCatalog({ agents, providers }), or a function (storage) => registry',
    ],
    authenticator: ['function', 'a function, such as () => bearerAuthenticator({ tokens })'],
    tools: [
      typeof options?.tools === 'function' ? 'function' : 'array?',
      'an array of tools, or a function (storage) => [add]',
    ],
  });
}

/** Returns the authenticator and the tools. @throws PinnaceError `invalid_argument` where a function returns something else. */
export function madeOf<S>(storage: S, options: StorageOptions<S>): {
  readonly authenticator: HandlerOptions['authenticator'];
  readonly tools: readonly (Tool | ToolSource)[];
} {
  const authenticator = options.authenticator(storage);
  const tools = typeof options.tools === 'function' ? options.tools(storage) : options.tools ?? [];
  checkOptions(`${action} with what "authenticator" and "tools" return`, { authenticator, tools }, {
    authenticator: ['.authenticate', 'an authenticator, such as bearerAuthenticator({ tokens })'],
    tools: ['array', 'an array of tools'],
  });
  return { authenticator, tools };
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
