/** The port to agents, providers, tools and MCP servers. */

import type { Agent, McpServer, Provider, ToolDefinition } from '../base/schema.ts';

/**
 * Where definitions come from. Each record carries its `revision`. Methods return `undefined` on a miss and reject with `unavailable`
 * when the source does not answer. Records are already parsed: a definition that fails its schema is rejected with `invalid_argument`
 * before it is stored. `source` names the origin of the records; the shared cache layer stores records of a catalog with a `source`
 * under that name.
 *
 * The catalog itself returns the records that the deployment shares, which have no `tenant`. `forTenant` returns a catalog of one
 * tenant's own records, each with that `tenant`; a tenant's own record takes precedence over a shared one with the same id. Without
 * `forTenant`, all records are shared. A record of another tenant is rejected with the reason `catalog_invalid`.
 *
 * `fixed` holds all agents and tools, of all owners, of a catalog that never changes: `createRuntime` checks that the tools exist which
 * the agents name.
 */
export interface Catalog {
  readonly source?: string;
  readonly fixed?: { readonly agents: readonly Agent[]; readonly tools: readonly ToolDefinition[] };
  forTenant?(tenant: string): Catalog;
  agent(agentId: string, signal?: AbortSignal): Promise<Agent | undefined>;
  provider(providerId: string, signal?: AbortSignal): Promise<Provider | undefined>;
  tool(toolId: string, signal?: AbortSignal): Promise<ToolDefinition | undefined>;
  /** A catalog without MCP servers may leave it out. */
  mcpServer?(serverId: string, signal?: AbortSignal): Promise<McpServer | undefined>;
  listTools(
    query: { readonly after?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<ToolDefinition[]>;
  /** In the order of ids. Optional: without it, servers are not checked against each other. */
  listMcpServers?(
    query: { readonly after?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<McpServer[]>;
}

/**
 * A catalog that stores MCP server records: the check of a server writes the approved record. Rejects with `conflict` when the stored
 * revision is not `ifRevision`. Returns the record with its next revision.
 */
export interface McpServerWriter {
  put(kind: 'mcpServer', record: McpServer, options: { readonly ifRevision: number }): Promise<McpServer>;
}
