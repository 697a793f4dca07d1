/** The way to MCP servers, fetched with its first use: most visits have none. */

import { browserEgress } from '../../../adapters/egress/browser.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import type { McpConnector } from '../../../src/contracts/mcp/mcp-connector.ts';
import { loopbackOrigins } from './loopback-origins.ts';

interface LazyMcpOptions {
  readonly egress: Egress;
  /** Whether the page itself comes from this machine: then servers of this machine are in reach, each by its address. */
  readonly isLocal: boolean;
}

/** Creates a connector whose code is fetched when something connects. */
export function lazyMcp({ egress, isLocal }: LazyMcpOptions): McpConnector {
  return {
    async connect(server, options) {
      const { mcpConnector } = await import('../../../adapters/mcp/client.ts');
      const loopback = isLocal ? loopbackOrigins([server.url]) : [];
      const way = loopback.length > 0 ? browserEgress({ loopback }) : egress;
      return await mcpConnector({ egress: way }).connect(server, options);
    },
  };
}
