/** Connects to MCP servers of all protocol revisions. */

import type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import { connectorOver, type McpConnectorOptions } from './connection.ts';
import { openSession } from './session.ts';

export type { McpConnectorOptions } from './connection.ts';

/**
 * Creates a connector for servers with Streamable HTTP. It tries 2026-07-28, without sessions, and falls back to older revisions; that
 * costs one more request for each connection to such a server. It uses `@modelcontextprotocol/client`. Where only
 * `@modelcontextprotocol/sdk` is installed, it supports revisions up to 2025-11-25, without sign-ins, questions and apps.
 *
 * @example
 * const connector = mcpConnector({ egress: denoEgress() });
 */
export function mcpConnector(options: McpConnectorOptions): McpConnector {
  return connectorOver(openSession, options);
}
