/** The runtime's methods besides runs: manifests, tools without a model, caches, MCP servers, and guarded side effects. */

import { loadOnce } from '../base/load-once.ts';
import { requireScope } from '../base/principal.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { keysOfTenant } from '../log/cache-key.ts';
import { guarded } from '../permission/guarded.ts';
import { ownerOfRun } from './log/run-record.ts';
import type { RunsOptions } from './log/runs.ts';
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
  const place: HostedRuntime['place'] = (principal, trace) => {
    const { traceId, parentSpanId } = trace ?? { traceId: createTraceId() };
    return traceAt({ traceId, parentSpanId, tenant: principal.tenant, actor: actorOf(principal) }, options);
  };
  return {
    place,
    guard({ principal, trace, ...effect }, work) {
      const spanContext = place(principal, trace);
      return guarded(
        { ...effect, principal, actor: actorOf(principal), spanContext },
        options,
        () => work(spanContext),
      );
    },
  };
}

/** Lets an administrator read the run of another: asks the hook for `run.read`, and audits it. */
export function readRunAs(guard: HostedRuntime['guard']): RunsOptions['readAs'] {
  return async (runId, principal, state) => {
    const { agentId, traceId } = state;
    const facts = { action: 'run.read', target: { type: 'run', id: runId } };
    const read = { ...facts, subject: ownerOfRun(state).subject, principal, trace: { traceId }, context: { agentId } };
    await guard(
      { ...read, attempt: 'Cannot read the run' },
      (at) => Promise.resolve(at.emit({ ...facts, status: 'ok' })),
    );
  };
}
