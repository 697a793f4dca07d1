/** Agents and their data sources: the tools over them, and how few of them are left to an agent that others have made. */

import { PinnaceError } from '../../base/errors.ts';
import type { DataSources } from '../../contracts/data-sources.ts';
import type { Agent, ToolDefinition } from '../../base/schema.ts';
import type { Tool } from '../../tools/tool.ts';
import type { KnownTool } from './assemble.ts';

/** The tool that comes with the sources; those that write must be named. */
const asks = 'retrieve';

/** The grounding tools of an agent: retrieval from its own sources, and writes that its allowlist names. */
export function sourceToolsOf(agent: Agent, sources: DataSources<Tool> | undefined): readonly KnownTool[] {
  if (!sources) return [];
  if (agent.dataSources.length === 0) {
    return sources.tools.map(({ definition }) => ({ definition, ruling: 'no_data_sources', mustBeNamed: true }));
  }
  return sources.toolsOf(agent).map((tool): KnownTool => {
    const { definition } = tool;
    return definition.id === asks ? { definition, tool, ruling: 'allowed' } : { definition, tool, mustBeNamed: true };
  });
}

/** The tools that an agent with discovery has from the start: those that it names, and retrieval from its data sources. */
export function namedTools({ entryTools, dataSources }: Agent): ReadonlySet<string> {
  return new Set(dataSources.length > 0 ? [...entryTools, asks] : entryTools);
}

const narrowed = new WeakMap<Agent, Map<string, Agent>>();

/**
 * Returns the agent with those of its sources that all agents above it have too: who makes an agent cannot reach through it what it
 * cannot reach itself. A removed or disabled parent agent has none. The same object for the same sources.
 */
export async function narrowToSources(
  agent: Agent,
  above: readonly string[],
  find: (agentId: string) => Promise<Agent>,
): Promise<Agent> {
  let dataSources = agent.dataSources;
  for (const agentId of above) {
    if (dataSources.length === 0) break;
    const theirs = await sourcesOf(agentId, find);
    dataSources = dataSources.filter((id) => theirs.includes(id));
  }
  if (dataSources.length === agent.dataSources.length) return agent;
  const known = narrowed.get(agent) ?? new Map<string, Agent>();
  narrowed.set(agent, known);
  const key = JSON.stringify(dataSources);
  const made = known.get(key) ?? { ...agent, dataSources };
  known.set(key, made);
  return made;
}

/** Returns whether a tool reaches no data source that one of these agents does not name. */
export async function reachableBy(
  above: readonly string[],
  find: (agentId: string) => Promise<Agent>,
): Promise<(definition: ToolDefinition) => boolean> {
  const theirs = await Promise.all(above.map((agentId) => sourcesOf(agentId, find)));
  return ({ type, config }) =>
    type !== 'datastore' || theirs.every((sources) => sources.includes(String(config?.['dataSourceId'])));
}

async function sourcesOf(agentId: string, find: (agentId: string) => Promise<Agent>): Promise<readonly string[]> {
  try {
    return (await find(agentId)).dataSources;
  } catch (error) {
    if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return [];
    throw error;
  }
}
