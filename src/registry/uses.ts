/** What an agent names: the one side of every binding that is written by hand. The other side follows it, in the same commit. */

import type { RecordKind } from './record-kinds.ts';
import type { Agent } from '../base/schema.ts';
import { exactIds } from '../tools/availability.ts';

/** A record that an agent names. */
export interface Use {
  readonly kind: RecordKind;
  readonly id: string;
}

/** Lists what the agent names, each once. Patterns are left out: they are resolved when the agent is read. */
export function usesOf({ entryTools, providerId, fallbacks = [], mcp, dataSources }: Agent): readonly Use[] {
  const providers = [providerId, ...fallbacks.map((fallback) => fallback.providerId)];
  return [
    ...unique(providers).map((id): Use => ({ kind: 'provider', id })),
    ...unique(exactIds(entryTools)).map((id): Use => ({ kind: 'tool', id })),
    ...Object.keys(mcp).map((id): Use => ({ kind: 'mcpServer', id })),
    ...unique(dataSources).map((id): Use => ({ kind: 'dataSource', id })),
  ];
}

/** Gives the agent with this tool among those that it names. */
export function withTool(agent: Agent, toolId: string): Agent {
  if (agent.entryTools.includes(toolId)) return agent;
  return { ...agent, entryTools: [...agent.entryTools, toolId] };
}

/** Gives the agent without this tool among those that it names. */
export function withoutTool(agent: Agent, toolId: string): Agent {
  return { ...agent, entryTools: agent.entryTools.filter((entry) => entry !== toolId) };
}

function unique(ids: readonly string[]): readonly string[] {
  return [...new Set(ids)];
}
