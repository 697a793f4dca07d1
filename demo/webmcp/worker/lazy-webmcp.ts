/** The worker's side of WebMCP. Its code is loaded with its first use: few browsers have WebMCP. */

import type { PageToolsConnector, ServeAgentToolsOptions } from '../../../adapters/webmcp/worker.ts';
import { loadOnce } from '../../../src/base/load-once.ts';
import { localPrincipal } from '../../../src/base/principal.ts';
import type { McpConnector } from '../../../src/contracts/mcp/mcp-connector.ts';
import { pageToolsUrl } from '../page-url.ts';

/** The tools of the page, and those of an agent for the browser. */
export interface LazyWebmcp {
  /** Reaches the page as an MCP server, and other servers through `others`. */
  readonly over: (others: McpConnector) => McpConnector;
  /** Uses the page that has the other end of the port; the latest page is used. */
  readonly connectPage: (port: MessagePort) => void;
  /** Answers `offerAgentTools` on the other end of the port until that end closes. */
  readonly offer: (agentId: string, port: MessagePort) => Promise<void>;
}

/** Creates the worker's side of WebMCP. */
export function lazyWebmcp({ runtime }: { readonly runtime: () => ServeAgentToolsOptions['runtime'] }): LazyWebmcp {
  const url = pageToolsUrl();
  const load = () => import('../../../adapters/webmcp/worker.ts');
  let page: MessagePort | undefined;
  let connector: PageToolsConnector | undefined;
  const open = loadOnce(async () => {
    const { pageToolsConnector } = await load();
    connector = pageToolsConnector({ url });
    if (page) connector.connectPage(page);
    return connector;
  });
  return {
    over: (others) => ({
      connect: async (server, options) => await (server.url === url ? await open() : others).connect(server, options),
    }),
    connectPage(port) {
      page?.close();
      page = port;
      connector?.connectPage(port);
    },
    async offer(agentId, port) {
      const { serveAgentTools } = await load();
      serveAgentTools(port, { runtime: runtime(), agentId, principal: localPrincipal(), only: '*' });
    },
  };
}
