/** The tool set of a request: which of all known tools this agent may use, and for each other the one reason why not. */

import { isWithinEgress } from '../../base/egress-list.ts';
import type { Agent, ToolDefinition } from '../../base/schema.ts';
import {
  type Allowlist,
  builtinToolIds,
  createAllowlist,
  planToolIds,
  unavailability,
  type Unavailable,
} from '../../tools/availability.ts';
import type { Tool } from '../../tools/tool.ts';
import type { ContextItem } from '../run-request.ts';
import { sha256 } from '../../base/hash.ts';

/** Why a tool is not in a tool set: the first reason that applies. */
export type Exclusion =
  | Unavailable
  | 'unknown_tool'
  | 'unknown_mcp_server'
  | 'mcp_not_validated'
  | 'mcp_masked'
  | 'mcp_drifted'
  | 'mcp_app_only'
  | 'no_data_sources'
  | 'egress_denied'
  | 'no_implementation'
  | 'only_in_plans'
  | 'name_taken';

/** A tool that is known: its definition, and its code where the composition has it. */
export interface KnownTool {
  readonly definition: ToolDefinition;
  readonly tool?: Tool;
  /** The bare `*` of an allowlist does not mean it: its id, or a prefix of it, must be named. */
  readonly mustBeNamed?: boolean;
  /** The ruling of the agent's selection of MCP servers or data sources; it replaces the allowlist. */
  readonly ruling?: Exclusion | 'allowed';
}

/** Whether a tool is included. */
export interface ManifestEntry {
  readonly id: string;
  /** `undefined`: the tool is included. */
  readonly excluded?: Exclusion;
}

/** The tools that a request may use, and the account of how they were chosen. */
export interface ToolSet {
  readonly tools: readonly Tool[];
  readonly entries: readonly ManifestEntry[];
  /** What the model receives about the tools besides their definitions, as data. */
  readonly notes: readonly ContextItem[];
  /** SHA-256 over the included definitions and the notes, as hexadecimal digits. */
  readonly digest: string;
}

/** The tools of the MCP servers that an agent selects. */
export interface McpPart {
  readonly known: readonly KnownTool[];
  /** Servers whose tools are not known. */
  readonly entries: readonly ManifestEntry[];
  /** The approved instructions of servers of which a tool may be used, as data. */
  readonly notes: readonly ContextItem[];
}

const noMcp: McpPart = { known: [], entries: [], notes: [] };

/**
 * Assembles the tool set. A pure function of its arguments; the tools keep the order of `known`, those of MCP servers after all
 * others, so that none of them takes the name of another tool.
 */
export async function assemble(agent: Agent, known: readonly KnownTool[], mcp: McpPart = noMcp): Promise<ToolSet> {
  const tools: Tool[] = [];
  const names = new Set<string>();
  const entries: ManifestEntry[] = [];
  const allows = createAllowlist(agent.entryTools);
  for (const { definition, tool, ruling, mustBeNamed = false } of [...known, ...mcp.known]) {
    const excluded = exclude(definition, { agent, allows, tool, ruling, names, mustBeNamed });
    if (excluded === 'not_allowed' && mustBeNamed) continue; // a way of working that the agent did not choose
    entries.push(excluded ? { id: definition.id, excluded } : { id: definition.id });
    if (excluded || !tool) continue;
    names.add(definition.name);
    tools.push(tool);
  }
  entries.push(...mcp.entries);
  for (const id of allows.unmatched()) entries.push({ id, excluded: reasonFor(id) });
  return { tools, entries, notes: mcp.notes, digest: await digestOf(tools, mcp.notes) };
}

const inPlans: ReadonlySet<string> = new Set(planToolIds);

/** Why there is no tool of this id: this composition lacks what a built-in tool needs, or the id is unknown. */
function reasonFor(id: string): Exclusion {
  if (inPlans.has(id)) return 'only_in_plans';
  return builtinToolIds.has(id) ? 'no_implementation' : 'unknown_tool';
}

const counted = new WeakMap<readonly ManifestEntry[], ExclusionCounts>();

/** How many tools were excluded, by reason. */
export type ExclusionCounts = Readonly<Partial<Record<Exclusion, number>>>;

/** Counts the excluded tools by reason. Runs with the same tool set share the counts. */
export function countExcluded({ entries }: ToolSet): ExclusionCounts {
  const counts = counted.get(entries) ?? countReasons(entries);
  counted.set(entries, counts);
  return counts;
}

function countReasons(entries: readonly ManifestEntry[]): ExclusionCounts {
  const counts: Partial<Record<Exclusion, number>> = {};
  for (const { excluded } of entries) if (excluded) counts[excluded] = (counts[excluded] ?? 0) + 1;
  return counts;
}

function exclude(
  definition: ToolDefinition,
  { agent, allows, tool, ruling, names, mustBeNamed }: {
    agent: Agent;
    allows: Allowlist;
    tool: Tool | undefined;
    ruling: KnownTool['ruling'];
    names: ReadonlySet<string>;
    mustBeNamed: boolean;
  },
): Exclusion | undefined {
  const isAllowed = allows.has(definition.id, mustBeNamed);
  if (ruling !== undefined && ruling !== 'allowed') return mustBeNamed && !isAllowed ? 'not_allowed' : ruling;
  const unavailable = unavailability(definition, isAllowed || ruling === 'allowed');
  if (unavailable) return unavailable;
  if (!tool) return 'no_implementation';
  if (tool.secretOrigin !== undefined && !isWithinEgress(new URL(tool.secretOrigin), agent.egress)) {
    return 'egress_denied';
  }
  return names.has(definition.name) ? 'name_taken' : undefined;
}

const digests = new WeakMap<Tool, string>();

async function digestOf(tools: readonly Tool[], notes: readonly ContextItem[]): Promise<string> {
  const parts = await Promise.all(tools.map(async (tool) => {
    const known = digests.get(tool) ?? await sha256(JSON.stringify(tool.definition));
    digests.set(tool, known);
    return known;
  }));
  return await sha256([...parts, ...notes.map((note) => JSON.stringify(note))].join('\n'));
}
