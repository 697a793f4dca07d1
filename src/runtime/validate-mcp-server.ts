import { type McpValidation, type McpValidationInput, McpValidationRequest } from '../contracts/mcp-validation.ts';
import { parse } from '../base/parse.ts';
import type { RuntimeOptions } from './pipeline.ts';
import type { Principal } from '../base/principal.ts';
import type { Resolver } from './resolve/resolver.ts';
import type { HostedRuntime } from './runtime.ts';

interface Parts extends Pick<RuntimeOptions, 'mcp' | 'tools' | 'dataSources'>, Pick<HostedRuntime, 'guard'> {
  readonly resolver: Resolver;
}

interface Asked {
  readonly serverId: string;
  readonly input: McpValidationInput;
  readonly principal: Principal;
  readonly signal: AbortSignal;
}

/** Looks at what an MCP server offers; to approve it is a deed, which the hook is asked about and the audit keeps. */
export async function validateMcpServer(
  { mcp, tools, dataSources, resolver, guard }: Parts,
  { serverId, input, principal, signal }: Asked,
): Promise<McpValidation> {
  const request = parse(McpValidationRequest, input, { what: 'the check of an MCP server' });
  const { subject, tenant } = principal;
  const check = (): Promise<McpValidation> =>
    mcp.validate(serverId, {
      request,
      subject,
      tenant,
      deployment: principal.deployment === true,
      signal,
      secret: async ({ secret, url }) =>
        secret && await resolver.secret(secret, {
          tenant,
          agentId: `mcp-server:${serverId}`,
          origin: new URL(url).origin,
        }),
      toolNames: async (server) => [
        ...[...tools, ...dataSources?.tools ?? []].map(({ definition }) => definition.name),
        ...(await resolver.tools(server.tenant)).map(({ name }) => name),
      ],
    });
  if (!request.approve) return await check();
  const target = { type: 'mcp-server', id: serverId };
  return await guard({ principal, action: 'mcp.approve', target, attempt: 'Cannot approve the MCP server' }, check);
}
