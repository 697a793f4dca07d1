/** The port to agents, providers, tools and MCP servers. */

import type { Agent, McpServer, Provider, ToolDefinition } from '../base/schema.ts';

/**
 * Where definitions come from. Each record carries its `revision`. A miss is `undefined`; a source that does not answer is
 * `unavailable`. Records are already parsed: a definition that breaks its schema is `invalid_argument` when it enters. `source`
 * names where the records come from; records of a catalog with one are cached in the shared layer, under that name.
 *
 * The catalog itself returns the records that the deployment shares, which have no `tenant`. `forTenant` returns a catalog of one
 * tenant's own records, each with that `tenant`; a tenant's own record goes before a shared one with the same id. Without
 * `forTenant`, all records are shared. A record of another tenant is never used: it is refused as `catalog_invalid`.
 */
export interface Catalog {
  readonly source?: string;
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
  /** By id. A catalog that cannot list them may leave it out: then servers are checked without looking at each other. */
  listMcpServers?(
    query: { readonly after?: string; readonly limit: number },
    signal?: AbortSignal,
  ): Promise<McpServer[]>;
}

/**
 * A catalog that takes records of MCP servers: the check of a server writes what was approved. A record whose revision is not
 * `ifRevision` is a `conflict`; every write gives the record the next revision, and what it now is.
 */
export interface McpServerWriter {
  put(kind: 'mcpServer', record: McpServer, options: { readonly ifRevision: number }): Promise<McpServer>;
}
