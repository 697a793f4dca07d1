/** The tools that an agent can use now, as the registry knows them. */

import type { Agent, ToolDefinition } from '../../schema.ts';
import { createAllowlist, exactIds, isPattern, unavailability } from '../../tools/availability.ts';
import { recordKey } from './layout.ts';
import { scan, type ScanOptions } from './scan.ts';

/** Gives the definitions that are bound to the agent, enabled and visible, in the order of their ids; to a disabled agent none. */
export async function availableTools(options: ScanOptions, agent: Agent): Promise<readonly ToolDefinition[]> {
  if (agent.state === 'disabled' || agent.visibility === 'disabled') return [];
  const allows = createAllowlist(agent.entryTools);
  const named = agent.entryTools.some(isPattern) ? await allTools(options) : await namedTools(options, agent);
  return named.filter((definition) => unavailability(definition, allows.has(definition.id)) === undefined);
}

async function allTools(options: ScanOptions): Promise<readonly ToolDefinition[]> {
  return await Array.fromAsync(scan(options, 'tool'));
}

async function namedTools(
  { storage, composed }: ScanOptions,
  { entryTools }: Agent,
): Promise<readonly ToolDefinition[]> {
  const ids = [...new Set(exactIds(entryTools))].toSorted();
  const found = await Promise.all(
    ids.map(async (id) =>
      composed.get(id) ?? (await storage.get(recordKey('tool', id)))?.value as ToolDefinition | undefined // written by the registry alone
    ),
  );
  return found.filter((tool) => tool !== undefined);
}
