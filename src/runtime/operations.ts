/** The runtime's methods besides runs: manifests, tools without a model, caches, MCP servers, and guarded side effects. */

import { toData } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { parse } from '../base/parse.ts';
import { requireScope } from '../base/principal.ts';
import { McpValidationRequest } from '../contracts/mcp/mcp-validation.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { traceAt } from '../events/span.ts';
import { keysOfTenant } from '../log/cache-key.ts';
import { guarded } from '../permission/guarded.ts';
import type { Caller, Resolver } from './resolve/resolver.ts';
import type { RuntimeObservers, RuntimeOptions, RuntimeParts } from './runtime-options.ts';
import type { HostedRuntime, Prewarmed } from './runtime.ts';

/** Loaded with the first client that calls tools without a model. */
const agentTools = /* @__PURE__ */ loadOnce(() => import('./resolve/agent-tools.ts'));

type Operations = Pick<HostedRuntime, 'manifest' | 'tools' | 'invalidate' | 'prewarm' | 'validateMcpServer'>;

/** Creates the methods. */
export function createOperations(parts: RuntimeParts, { guard }: Pick<HostedRuntime, 'guard'>): Operations {
  const { resolver, toolSetOf, requireOpen } = parts;
  return {
    async manifest(agentId, principal) {
      requireScope(principal, 'registry:read', agentId);
      requireOpen();
      await resolver.refresh();
      const { agent, tools, servers } = await resolver.equip(agentId, principal);
      const { digest, entries } = await toolSetOf(agent, tools, servers);
      return { agentId: agent.id, digest, tools: entries };
    },
    async tools(agentId, principal) {
      requireScope(principal, 'run:create', agentId);
      requireOpen();
      const { openAgentTools } = await agentTools();
      return await openAgentTools(parts, agentId, principal);
    },
    async invalidate(keys, principal) {
      if (principal) requireScope(principal, 'registry:write');
      const isOfTenant = principal !== undefined && principal.deployment !== true;
      await resolver.invalidate(isOfTenant ? keysOfTenant(keys, principal.tenant) : keys);
    },
    async prewarm(agentIds, principal) {
      requireScope(principal, 'registry:read');
      return await prewarm(resolver, agentIds, principal);
    },
    async validateMcpServer(...given) {
      requireScope(given[2], 'registry:write');
      requireOpen();
      return await validateMcpServer(parts, guard, given);
    },
  };
}

/** Creates the span context and the guard of a principal's side effects outside runs. */
export function createGuard(
  options: Pick<RuntimeOptions, 'authorize' | 'now'> & Pick<RuntimeObservers, 'recorder' | 'emit'>,
): Pick<HostedRuntime, 'place' | 'guard'> {
  const place: HostedRuntime['place'] = ({ tenant, subject }, trace) => {
    const { traceId, parentSpanId } = trace ?? { traceId: createTraceId() };
    return traceAt({ traceId, parentSpanId, tenant, actor: { type: 'user', id: subject } }, options);
  };
  return {
    place,
    guard({ principal, trace, ...effect }, work) {
      const spanContext = place(principal, trace);
      const actor = { type: 'user', id: principal.subject } as const;
      return guarded({ ...effect, principal, actor, spanContext }, options, () => work(spanContext));
    },
  };
}

/** Loads what the first run of each agent needs: the agent, its provider and secret, its MCP servers and the list of tools. */
async function prewarm(resolver: Resolver, agentIds: readonly string[], caller: Caller): Promise<Prewarmed> {
  await resolver.refresh();
  const results = await Promise.allSettled(agentIds.map((agentId) => warm(resolver, agentId, caller)));
  const warmed = new Set<string>();
  const failed: [string, string][] = [];
  for (const [i, result] of results.entries()) {
    if (result.status === 'fulfilled') { for (const key of result.value) warmed.add(key); }
    else failed.push([agentIds[i] ?? '', toData(result.reason).code]);
  }
  return { warmed: [...warmed].toSorted(), failed: Object.fromEntries(failed) };
}

async function warm(resolver: Resolver, agentId: string, caller: Caller): Promise<readonly string[]> {
  const { agent, servers } = await resolver.resolve(agentId, caller);
  const found = servers.filter(({ server }) => server !== undefined).map(({ id }) => `mcp-server:${id}`);
  return [`agent:${agentId}`, `provider:${agent.providerId}`, 'tools', ...found];
}

/** Compares what an MCP server offers with its pin. An approval is a side effect: the hook decides on it, and the audit records it. */
async function validateMcpServer(
  { mcp, tools, dataSources, resolver, closing }: RuntimeParts,
  guard: HostedRuntime['guard'],
  [serverId, input, principal, { signal = closing } = {}]: Parameters<HostedRuntime['validateMcpServer']>,
) {
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
