/** The tool sets of agents, each assembled once for as long as neither the agent nor the known tools have changed. */

import type { Agent, ToolDefinition } from '../../base/schema.ts';
import { createAllowlist, unknownTool } from '../../tools/availability.ts';
import { type Builtin, implement, type Means } from '../../tools/implement.ts';
import type { Tool } from '../../tools/tool.ts';
import { createAgentTool, type LiveTexts } from '../../tools/agent-tool.ts';
import { BoundedMap } from '../../base/bounded-map.ts';
import { assemble, type KnownTool, type ToolSet } from './assemble.ts';
import type { DataSources } from '../../contracts/data-sources.ts';
import type { Discovery } from '../../contracts/discovery.ts';
import { sourceToolsOf } from './data-sources.ts';
import type { Limits } from './limits.ts';
import { type McpSource, type SelectedServer, selectMcpTools } from './mcp-tools.ts';
import type { Plans } from '../../contracts/plans.ts';

/** Returns an agent's tool set, of the catalog's definitions and the MCP servers that the agent selects. */
export type ToolSetOf = (
  agent: Agent,
  listed: readonly ToolDefinition[],
  servers: readonly SelectedServer[],
) => Promise<ToolSet>;

/** Creates the function that assembles an agent's tool set from the composed tools and what the catalog has. */
export function createToolSets(
  { tools, builtins, discovery, dataSources, mcp, plans, limits, liveTexts, ...means }: Means & {
    /** Called when a tool is called. */
    readonly plans: () => Plans;
    readonly limits: Limits;
    readonly liveTexts: LiveTexts;
    readonly tools: readonly Tool[];
    /** Those of the composition and of the catalog go first where ids are the same. */
    readonly builtins: readonly Builtin[];
    readonly discovery: Discovery<Tool> | undefined;
    readonly dataSources: DataSources<Tool> | undefined;
    readonly mcp: McpSource;
  },
): ToolSetOf {
  const composed = [
    ...tools.map((tool): KnownTool => ({ definition: tool.definition, tool })),
    ...(discovery?.tools ?? []).map((tool) => ({ definition: tool.definition, tool, mustBeNamed: true })),
  ];
  const ids = new Set([...composed, ...dataSources?.tools ?? []].map(({ definition }) => definition.id));
  const made = new WeakMap<ToolDefinition, KnownTool>();
  const implementHere = (definition: ToolDefinition): Tool | undefined =>
    definition.type === 'agent'
      ? createAgentTool(definition, { plans, limits, liveTexts })
      : implement(definition, means);
  const known = (definition: ToolDefinition): KnownTool => {
    const tool = made.get(definition) ?? toKnown(definition, implementHere(definition));
    made.set(definition, tool);
    return tool;
  };
  const sets = new WeakMap<Agent, AssembledSet>();
  const reportUnknown = createUnknownReport(means.report);
  return async (agent, listed, selected) => {
    const servers = selected.map(({ id, server }) => ({ id, server: server && mcp.current(server) }));
    const last = sets.get(agent);
    if (last?.listed === listed && areSame(last.servers, servers)) return last.toolSet;
    const others = listed.filter(({ id }) => !ids.has(id)).map((definition) =>
      definition.type === 'datastore'
        ? toKnown(definition, dataSources?.datastore(definition, agent))
        : known(definition)
    );
    const own = await builtinsOf(
      agent,
      builtins.filter(({ id }) => !ids.has(id) && !listed.some((one) => one.id === id)),
    );
    const given = [...composed, ...own, ...sourceToolsOf(agent, dataSources), ...others];
    const toolSet = await assemble(agent, given, await selectMcpTools(agent, servers, mcp));
    sets.set(agent, { listed, servers, toolSet });
    reportUnknown(agent, toolSet);
    return toolSet;
  };
}

/** The most names that are remembered as reported. */
const mostReported = 1000;

/** Reports each unknown name once: catalogs change, and caches read the same record again. */
function createUnknownReport(report: Means['report']): (agent: Agent, toolSet: ToolSet) => void {
  const reported = new BoundedMap<string, true>(mostReported);
  return ({ id: agentId, tenant = '' }, { entries }) => {
    for (const { id: toolId, excluded } of entries) {
      const name = JSON.stringify([tenant, agentId, toolId]);
      if (excluded !== 'unknown_tool' || reported.get(name)) continue;
      reported.set(name, true);
      const known = entries.filter((entry) => entry.excluded !== 'unknown_tool').map(({ id }) => id);
      report?.(unknownTool('use a tool', { agentId, toolId, known }), { kind: 'catalog', id: agentId });
    }
  };
}

/** The built-in tools that the agent names: what it does not name is not loaded. */
async function builtinsOf({ entryTools }: Agent, builtins: readonly Builtin[]): Promise<readonly KnownTool[]> {
  const allows = createAllowlist(entryTools);
  const tools = await Promise.all(builtins.filter(({ id }) => allows.has(id, true)).map(({ load }) => load()));
  return tools.map((tool) => ({ definition: tool.definition, tool, mustBeNamed: true }));
}

interface AssembledSet {
  readonly listed: readonly ToolDefinition[];
  readonly servers: readonly SelectedServer[];
  readonly toolSet: ToolSet;
}

function areSame(a: readonly SelectedServer[], b: readonly SelectedServer[]): boolean {
  return a.length === b.length && a.every(({ server }, i) => server === b[i]?.server);
}

function toKnown(definition: ToolDefinition, tool: Tool | undefined): KnownTool {
  return tool ? { definition: tool.definition, tool } : { definition };
}
