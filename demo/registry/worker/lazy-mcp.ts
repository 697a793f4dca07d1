/** The way to MCP servers, fetched with its first use: most visits have none. */

import { browserEgress } from '../../../adapters/egress/browser.ts';
import type { Egress } from '../../../src/contracts/egress.ts';
import type { McpConnector } from '../../../src/contracts/mcp/mcp-connector.ts';

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
      const { origin } = new URL(server.url);
      const isNeighbour = isLocal && isLoopback(origin);
      const way = isNeighbour ? browserEgress({ loopback: [origin] }) : egress;
      return await mcpConnector({ egress: way }).connect(server, options);
    },
  };
}

function isLoopback(origin: string): boolean {
  return /^https?:\/\/(?:127\.0\.0\.1|\[::1\])(?::\d+)?$/.test(origin);
}
