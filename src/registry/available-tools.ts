/** The tools that an agent can use now, as the registry knows them. */

import type { Agent, ToolDefinition } from '../base/schema.ts';
import { createAllowlist, exactIds, isPattern, unavailability } from '../tools/availability.ts';
import { findRecord, scan, type ScanOptions } from './scan.ts';

/**
 * Returns the definitions that are bound to the agent, enabled and visible, in the order of their ids: those of the agent's owner and
 * the shared ones. A disabled agent has none.
 */
export async function availableTools(options: ScanOptions, agent: Agent): Promise<readonly ToolDefinition[]> {
  if (agent.state === 'disabled' || agent.visibility === 'disabled') return [];
  const allows = createAllowlist(agent.entryTools);
  const named = agent.entryTools.some(isPattern) ? await allTools(options, agent) : await namedTools(options, agent);
  return named.filter((definition) => unavailability(definition, allows.has(definition.id)) === undefined);
}

async function allTools(options: ScanOptions, { tenant: owner }: Agent): Promise<readonly ToolDefinition[]> {
  return await Array.fromAsync(scan(options, { kind: 'tool', owner }));
}

async function namedTools(
  { storage, composed }: ScanOptions,
  { entryTools, tenant: owner }: Agent,
): Promise<readonly ToolDefinition[]> {
  const ids = [...new Set(exactIds(entryTools))].toSorted();
  const found = await Promise.all(
    ids.map(async (id) => composed.get(id) ?? await findRecord(storage, 'tool', { owner, id })),
  );
  return found.filter((tool) => tool !== undefined);
}
