/** The tools of one caller on an MCP server: the discovery tools, those that are always listed, and those that are loaded. */

import { discoveryToolNames, type DiscoveryTools, discoveryTools } from '../../../src/discovery/discovery-tools.ts';
import { toIndexedTool } from '../../../src/discovery/tool-fields.ts';
import { createToolIndex, type ToolIndex } from '../../../src/discovery/tool-index.ts';
import type { AgentTools } from '../../../src/runtime/agent-tools.ts';
import type { Principal } from '../../../src/base/principal.ts';
import { toolsOf } from '../../../src/tools/implement.ts';
import type { Tool } from '../../../src/tools/tool.ts';
import type { McpHost } from './host.ts';

/** The tools of a host, independent of what is loaded. */
export interface Catalogue {
  /** All but the discovery tools and `tool_call`, whose names are reserved. */
  readonly byName: ReadonlyMap<string, Tool>;
  /** Those that need no loading. */
  readonly listed: readonly Tool[];
  readonly index: ToolIndex;
}

/** A caller's tools, and which of them are active. */
export interface Toolbox {
  readonly discovery: DiscoveryTools;
  /** Returns one of the four or an active tool; `undefined` for any other. Call `discovery.restore` first. */
  find(name: string): Tool | undefined;
  /** The tools that can be called, the four left out. */
  active(): readonly Tool[];
}

/** The name of the tool that calls the loaded ones where a connection cannot remember them. */
export const toolCallName = 'tool_call';

/** How many tools may be loaded besides those that are always listed. */
const mostLoaded = 128;

const reserved: ReadonlySet<string> = new Set([...discoveryToolNames, toolCallName]);

/** Returns the function that creates catalogs. The same array of tools is indexed once. */
export function createCatalogues({ sources = [], listed = [] }: McpHost): (tools: readonly Tool[]) => Catalogue {
  const fromSources = sources.flatMap(toolsOf);
  const isListed = createMatcher(listed);
  const made = new WeakMap<readonly Tool[], Catalogue>();
  const make = (tools: readonly Tool[]): Catalogue => {
    const byName = new Map<string, Tool>();
    for (const tool of [...tools, ...fromSources]) {
      const { name } = tool.definition;
      if (!reserved.has(name) && !byName.has(name)) byName.set(name, tool);
    }
    const all = [...byName.values()];
    return {
      byName,
      listed: all.filter((tool) => fromSources.includes(tool) || isListed(tool.definition.name)),
      index: createToolIndex(all.map(({ definition }) => toIndexedTool(definition))),
    };
  };
  return (tools) => {
    const catalogue = made.get(tools) ?? make(tools);
    made.set(tools, catalogue);
    return catalogue;
  };
}

function createMatcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns);
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1));
  return (name) => exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix));
}

/** Opens the tools of a caller: with the set that the handle names, or with the names that are active on a connection. */
export function openToolbox(
  { byName, listed, index }: Catalogue,
  { host: { storage, rerank }, principal, handle, active = new Set() }: {
    readonly host: McpHost;
    readonly principal: Principal;
    readonly handle?: string | undefined;
    readonly active?: Set<string>;
  },
): Toolbox {
  for (const { definition } of listed) active.add(definition.name);
  const discovery = discoveryTools(index, {
    active,
    storage,
    principal,
    handle,
    rerank,
    isAllowed: (name) => byName.has(name),
    mostActive: listed.length + mostLoaded,
  });
  const four = new Map(discovery.tools.map((tool) => [tool.definition.name, tool]));
  return {
    discovery,
    find: (name) => four.get(name) ?? (active.has(name) ? byName.get(name) : undefined),
    active: () => discovery.activeNames().flatMap((name) => byName.get(name) ?? []),
  };
}

/** The tools that a host returns for a caller, with their catalog. */
export interface Offer {
  readonly catalogue: Catalogue;
  readonly call: AgentTools['call'];
}
