/** The earlier name of `mcpConnector`. */

export {
  /** @deprecated Use `mcpConnector` of `pinnace/mcp/client`, which is the same. */
  mcpConnector as mcpConnector2026,
  type McpConnectorOptions,
} from './client.ts';
export type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
