/** Agents and their data sources: the tools over them, and what of it is left to an agent that others have made. */

import { type EgressList, narrowEgress } from '../../base/egress-list.ts';
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
 * Returns the agent with what it and the agents around it may all reach: who makes or calls an agent cannot reach through it what it
 * cannot reach itself. Those that made it (`above`) leave it their common data sources, and those that called it (`callers`) as well
 * their common `egress`. A removed or disabled one leaves nothing. The same object for the same reach.
 */
export async function narrowToReach(
  agent: Agent,
  { above, callers }: { readonly above: readonly string[]; readonly callers: readonly string[] },
  find: (agentId: string) => Promise<Agent>,
): Promise<Agent> {
  let { dataSources, egress }: Pick<Reach, 'dataSources' | 'egress'> = agent;
  for (const agentId of new Set([...above, ...callers])) {
    const theirs = await reachOf(agentId, find);
    egress = narrowEgress(egress, theirs.egress);
    if (above.includes(agentId)) dataSources = dataSources.filter((id) => theirs.dataSources.includes(id));
  }
  if (dataSources.length === agent.dataSources.length && egress === agent.egress) return agent;
  const known = narrowed.get(agent) ?? new Map<string, Agent>();
  narrowed.set(agent, known);
  const key = JSON.stringify([dataSources, egress]);
  const made = known.get(key) ?? { ...agent, dataSources: [...dataSources], egress: egress && [...egress] };
  known.set(key, made);
  return made;
}

/** Returns whether a tool reaches no data source that one of these agents does not name. */
export async function reachableBy(
  above: readonly string[],
  find: (agentId: string) => Promise<Agent>,
): Promise<(definition: ToolDefinition) => boolean> {
  const theirs = await Promise.all(above.map((agentId) => reachOf(agentId, find)));
  return ({ type, config }) =>
    type !== 'datastore' || theirs.every(({ dataSources }) => dataSources.includes(String(config?.['dataSourceId'])));
}

interface Reach {
  readonly dataSources: readonly string[];
  readonly egress?: EgressList | undefined;
}

const nothing: Reach = { dataSources: [], egress: [] };

async function reachOf(agentId: string, find: (agentId: string) => Promise<Agent>): Promise<Reach> {
  try {
    return await find(agentId);
  } catch (error) {
    if (error instanceof PinnaceError && (error.code === 'not_found' || error.code === 'forbidden')) return nothing;
    throw error;
  }
}
