/** The MCP servers of a runtime, whose code is loaded when an agent first selects one: most agents select none. */

import { loadOnce } from '../base/load-once.ts';
import type { McpServers, McpServersOptions } from './mcp-servers.ts';

const load = /* @__PURE__ */ loadOnce(() => import('./mcp-servers.ts'));

/** Returns the servers. A call rejects when loading fails, and the next call loads again. */
export function mcpServersOnUse(options: McpServersOptions): McpServers {
  let loaded: McpServers | undefined;
  const servers = loadOnce(async () => loaded = (await load()).createMcpServers(options));
  return {
    current: (server) => loaded?.current(server) ?? server, // no drift is observed before it is loaded
    toolsOf: async (server) => await (await servers()).toolsOf(server),
    answer: async (...given) => await (await servers()).answer(...given),
    content: async () => await (await servers()).content(),
    signIns: async () => await (await servers()).signIns(),
    validate: async (serverId, validation) => await (await servers()).validate(serverId, validation),
  };
}
