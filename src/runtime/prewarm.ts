/** Fills the caches before the first run. */

import { toData } from '../base/errors.ts';
import type { Prewarmed } from './runtime.ts';
import type { Caller, Resolver } from './resolver.ts';

/** Loads what the first run of each agent needs: the agent, its provider and secret, its MCP servers and the list of tools. */
export async function prewarm(resolver: Resolver, agentIds: readonly string[], caller: Caller): Promise<Prewarmed> {
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
