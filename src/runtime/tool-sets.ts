/** The tool sets of agents, each assembled once for as long as neither the agent nor the known tools have changed. */

import type { Agent, ToolDefinition } from '../schema.ts';
import type { Tool } from '../tools/tool.ts';
import { assemble, type KnownTool, type ToolSet } from './assemble.ts';

/** Gives the function that assembles an agent's tool set from the composed tools and the catalog's definitions. */
export function createToolSets(
  tools: readonly Tool[],
): (agent: Agent, listed: readonly ToolDefinition[]) => Promise<ToolSet> {
  const composed = tools.map((tool): KnownTool => ({ definition: tool.definition, tool }));
  const ids = new Set(composed.map(({ definition }) => definition.id));
  const sets = new WeakMap<Agent, { listed: readonly ToolDefinition[]; toolSet: ToolSet }>();
  return async (agent, listed) => {
    const last = sets.get(agent);
    if (last?.listed === listed) return last.toolSet;
    const others = listed.filter(({ id }) => !ids.has(id)).map((definition): KnownTool => ({ definition }));
    const toolSet = await assemble(agent, [...composed, ...others]);
    sets.set(agent, { listed, toolSet });
    return toolSet;
  };
}
