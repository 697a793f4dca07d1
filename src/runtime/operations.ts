/** The runtime's methods besides runs: manifests, tools without a model, caches, MCP servers, and guarded side effects. */

import { loadOnce } from '../base/load-once.ts';
import { requireScope } from '../base/principal.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { traceAt } from '../events/span.ts';
import { keysOfTenant } from '../log/cache-key.ts';
import { guarded } from '../permission/guarded.ts';
import type { RuntimeObservers, RuntimeOptions, RuntimeParts } from './runtime-options.ts';
import type { HostedRuntime } from './runtime.ts';

/** Loaded with the first client that calls tools without a model. */
const agentTools = /* @__PURE__ */ loadOnce(() => import('./resolve/agent-tools.ts'));

const loadPrewarm = /* @__PURE__ */ loadOnce(() => import('./resolve/prewarm.ts'));
const loadValidation = /* @__PURE__ */ loadOnce(() => import('./resolve/validate-mcp-server.ts'));

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
      const { egress } = agent;
      return { agentId: agent.id, digest, tools: entries, ...(egress && { egress }) };
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
      const { prewarm } = await loadPrewarm();
      return await prewarm(resolver, agentIds, principal);
    },
    async validateMcpServer(...given) {
      requireScope(given[2], 'registry:write');
      requireOpen();
      const { validateMcpServer } = await loadValidation();
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
