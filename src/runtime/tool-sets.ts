/** The tool sets of agents, each assembled once for as long as neither the agent nor the known tools have changed. */

import type { Agent, ToolDefinition } from '../schema.ts';
import { implement, type Means } from '../tools/implement.ts';
import type { Tool } from '../tools/tool.ts';
import { assemble, type KnownTool, type ToolSet } from './assemble.ts';
import type { Discovery } from './step-tools.ts';

/** Gives the function that assembles an agent's tool set from the composed tools and the catalog's definitions. */
export function createToolSets(
  { tools, discovery, ...means }: Means & {
    readonly tools: readonly Tool[];
    readonly discovery: Discovery | undefined;
  },
): (agent: Agent, listed: readonly ToolDefinition[]) => Promise<ToolSet> {
  const composed = [
    ...tools.map((tool): KnownTool => ({ definition: tool.definition, tool })),
    ...(discovery?.tools ?? []).map((tool) => ({ definition: tool.definition, tool, mustBeNamed: true })),
  ];
  const ids = new Set(composed.map(({ definition }) => definition.id));
  const made = new WeakMap<ToolDefinition, KnownTool>();
  const known = (definition: ToolDefinition): KnownTool => {
    const tool = made.get(definition) ?? toKnown(definition, implement(definition, means));
    made.set(definition, tool);
    return tool;
  };
  const sets = new WeakMap<Agent, { listed: readonly ToolDefinition[]; toolSet: ToolSet }>();
  return async (agent, listed) => {
    const last = sets.get(agent);
    if (last?.listed === listed) return last.toolSet;
    const others = listed.filter(({ id }) => !ids.has(id)).map(known);
    const toolSet = await assemble(agent, [...composed, ...others]);
    sets.set(agent, { listed, toolSet });
    return toolSet;
  };
}

function toKnown(definition: ToolDefinition, tool: Tool | undefined): KnownTool {
  return tool ? { definition: tool.definition, tool } : { definition };
}
