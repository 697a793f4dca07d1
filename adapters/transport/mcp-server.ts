/** Tools, resources and prompts over Streamable HTTP for MCP clients of all protocol revisions: a verified caller's `Request` in, a `Response` out. */

import { type McpEndpoint, type McpHost, reportedHost } from './mcp-server/host.ts';
import { createMcpHandler } from './mcp-server/sdk-2026.ts';
import { createQuestionStates } from './mcp-server/questions.ts';
import { boundTo, buildServer, type ServerParts } from './mcp-server/server.ts';
import { createSessions } from './mcp-server/sessions.ts';
import { createCatalogues } from './mcp-server/tools.ts';
import { canWatch, createListening } from './mcp-server/watch.ts';

export type { McpCaller, McpEndpoint, McpHost } from './mcp-server/host.ts';

/** Creates the endpoint of a host. */
export function createMcpEndpoint(
  given: McpHost,
  { keepAliveMs = 15_000, now }: { readonly keepAliveMs?: number; readonly now?: () => number } = {},
): McpEndpoint {
  const host = reportedHost(given);
  const parts: ServerParts = {
    host,
    catalogueOf: createCatalogues(host),
    states: createQuestionStates(host.storage, boundTo),
  };
  const watching = canWatch(host) ? { resources: { subscribe: true } } : {};
  const handler = createMcpHandler(({ era }) => buildServer(parts, era === 'modern' ? watching : {}), { keepAliveMs });
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
