/** Tools, resources and prompts over Streamable HTTP for MCP clients of all protocol revisions: a verified caller's `Request` in, a `Response` out. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { type McpCaller, type McpEndpoint, type McpHost, reportedHost } from './mcp-server/host.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { mcpServerLibrary } from './mcp-server/sdk-2026.ts';
import { createQuestionStates } from './mcp-server/questions.ts';
import { boundTo, buildServer, type ServerParts, withHeaderChecks } from './mcp-server/server.ts';
import { createSessions } from './mcp-server/sessions.ts';
import { createCatalogues } from './mcp-server/tools.ts';
import { canWatch, createListening } from './mcp-server/watch.ts';

export type { McpCaller, McpEndpoint, McpHost } from './mcp-server/host.ts';

interface McpEndpointOptions {
  readonly keepAliveMs?: number;
  readonly now?: () => number;
}

/** Creates the endpoint of a host. Its requests reject with `package_missing` without `@modelcontextprotocol/server`. */
export function createMcpEndpoint(
  given: McpHost,
  options: McpEndpointOptions = {},
): McpEndpoint {
  checkNames('create the MCP endpoint', options, optional('keepAliveMs', 'now'));
  const host = reportedHost(given);
  const opened = loadOnce(() => open(host, options));
  return { fetch: async (request, caller) => await (await opened()).fetch(request, caller) };
}

async function open(host: McpHost, { keepAliveMs = 15_000, now }: McpEndpointOptions): Promise<McpEndpoint> {
  const library = await mcpServerLibrary();
  const parts: ServerParts = {
    library,
    host,
    catalogueOf: createCatalogues(host),
    states: createQuestionStates(host.storage, boundTo),
  };
  const watching = canWatch(host) ? { resources: { subscribe: true } } : {};
  const handler = library.createMcpHandler(({ era, authInfo }) => {
    if (era !== 'modern') return buildServer(parts);
    // safe: `fetch` below has put it there
    return withHeaderChecks(buildServer(parts, watching), parts, authInfo?.extra as unknown as McpCaller);
  }, { keepAliveMs });
  const listening = createListening(parts, { keepAliveMs });
  const sessions = host.sessions && createSessions(parts, { ...host.sessions, keepAliveMs, now });
  return {
    async fetch(request, caller) {
      const answer = await sessions?.fetch(request, caller) ?? await listening.fetch(request, caller);
      if (answer) return answer;
      const authInfo = { token: '', clientId: caller.principal.subject, scopes: [], extra: { ...caller } };
      const { body } = caller;
      return await handler.fetch(request, { authInfo, ...(body !== undefined && { parsedBody: body }) });
    },
  };
}
