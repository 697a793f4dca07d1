/** The check of an MCP server. Loaded with the first one. */

import { parse } from '../../base/parse.ts';
import type { McpValidation } from '../../contracts/mcp/mcp-validation.ts';
import { McpValidationRequest } from '../../contracts/mcp/mcp-validation.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import type { HostedRuntime } from '../runtime.ts';

/** Compares what an MCP server offers with its pin. An approval is a side effect: the hook decides on it, and the audit records it. */
export async function validateMcpServer(
  { mcp, tools, dataSources, resolver, closing }: RuntimeParts,
  guard: HostedRuntime['guard'],
  [serverId, input, principal, { signal = closing } = {}]: Parameters<HostedRuntime['validateMcpServer']>,
): Promise<McpValidation> {
  const request = parse(McpValidationRequest, input, { what: 'the check of an MCP server' });
  const { subject, tenant, deployment = false } = principal;
  const agentId = `mcp-server:${serverId}`;
  const check = () =>
    mcp.validate(serverId, {
      request,
      principal,
      subject,
      tenant,
      deployment,
      signal,
      secret: async ({ secret, url }) =>
        secret && await resolver.secret(secret, { tenant, agentId, origin: new URL(url).origin }),
      toolNames: async (server) => [
        ...[...tools, ...dataSources?.tools ?? []].map(({ definition }) => definition.name),
        ...(await resolver.tools(server.tenant)).map(({ name }) => name),
      ],
    });
  if (!request.approve) return await check();
  const target = { type: 'mcp-server', id: serverId };
  return await guard({ principal, action: 'mcp.approve', target, attempt: 'Cannot approve the MCP server' }, check);
}
