/** The tool sets of agents, each assembled once for as long as neither the agent nor the known tools have changed. */

import type { Agent, McpSelection, McpServer, PinnedTool, ToolDefinition } from '../base/schema.ts';
import {
  type Allowlist,
  builtinToolIds,
  createAllowlist,
  planToolIds,
  unavailability,
  type Unavailable,
  unknownTool,
} from '../tools/availability.ts';
import { permittedTools, type PrepareOptions, type Unpermitted } from '../tools/invoke-tool.ts';
import { unknownHandler } from '../tools/define-tool.ts';
import { type Builtin, implement, type Means } from '../tools/implement.ts';
import { isProviderTool, providerToolOf } from '../tools/provider-tool.ts';
import { codeRunId, followId } from '../tools/run-scope.ts';
import type { Tool } from '../tools/tool.ts';
import { createAgentTool, type LiveTexts } from '../tools/agent-tool.ts';
import type { Limits } from './limits.ts';
import type { Plans } from '../contracts/plans.ts';
import { PinnaceError } from '../base/errors.ts';
import { loadOnce } from '../base/load-once.ts';
import { isWithinEgress } from '../base/origins.ts';
import type { UIMessage } from '../contracts/ai-types.ts';
import type { ContextItem } from './run-request.ts';
import { sha256 } from '../base/hash.ts';
import type { McpValidating, McpValidation } from '../contracts/mcp/mcp-validation.ts';
import type { AnsweredQuestions } from '../contracts/mcp/answers.ts';
import type { McpContent } from '../contracts/mcp/content.ts';
import type { McpSignIns } from '../contracts/mcp/sign-in.ts';
import { type AgentProblems, type AgentTerms, flowsOf, problemsOfAgent, trustAdvice } from './check-agents.ts';
import type { Discovery } from '../discovery/discovery-tools.ts';
import type { DataSources } from '../grounding/grounding-tools.ts';
import type { PinnedDefinition } from '../mcp/pinned-tools.ts';

/** Returns an agent's tool set, of the catalog's definitions and the MCP servers that the agent selects. */
export type ToolSetOf = (
  agent: Agent,
  listed: readonly ToolDefinition[],
  servers: readonly SelectedServer[],
) => Promise<ToolSet>;

/** Creates the function that assembles an agent's tool set from the composed tools and what the catalog has. */
export function createToolSets(
  { tools, builtins, discovery, dataSources, mcp, plans, limits, liveTexts, problems, ...means }: Means & {
    readonly problems: AgentProblems;
    /** Called when a tool is called. */
    readonly plans: () => Plans;
    readonly limits: Limits;
    readonly liveTexts: LiveTexts;
    readonly tools: readonly Tool[];
    /** Those of the composition and of the catalog go first where ids are the same. */
    readonly builtins: readonly Builtin[];
    readonly discovery: Discovery | undefined;
    readonly dataSources: DataSources | undefined;
    readonly mcp: McpSource;
  },
): ToolSetOf {
  const composed = [
    ...tools.map((tool) => toKnown(tool.definition, tool)),
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
  const terms = { sources: dataSources?.ids, limits };
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
    const ofProvider = agent.entryTools.flatMap(providerToolNamed);
    const given = [...composed, ...own, ...sourceToolsOf(agent, dataSources), ...others, ...ofProvider];
    const toolSet = await assemble(agent, given, await selectMcpTools(agent, servers, mcp));
    sets.set(agent, { listed, servers, toolSet });
    const unhandled = others.filter(({ tool, definition }) => !tool && agent.entryTools.includes(definition.id))
      .flatMap(({ definition }) => unknownHandler('use a tool', definition, means.handlers) ?? []);
    const advice = trustAdvice(agent, flowsOf(agent, toolSet.tools), toolSet.tools);
    problems.note(agent, [...problemsIn(toolSet, agent, terms), ...unhandled], advice);
    return toolSet;
  };
}

function providerToolNamed(entry: string): readonly KnownTool[] {
  const tool = providerToolOf(entry);
  return tool ? [toKnown(tool.definition, tool)] : [];
}

/** Returns what the agent names without effect. */
function problemsIn({ entries }: ToolSet, agent: Agent, terms: AgentTerms): readonly PinnaceError[] {
  const unknown = entries.filter((entry) => entry.excluded === 'unknown_tool');
  const known = entries.filter((entry) => entry.excluded !== 'unknown_tool').map(({ id }) => id);
  return [
    ...unknown.map(({ id: toolId }) => unknownTool('use a tool', { agentId: agent.id, toolId, known })),
    ...problemsOfAgent(agent, terms, 'follow a record of the catalog'),
  ];
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
  if (!tool) return { definition };
  return { definition: tool.definition, tool, ...(isProviderTool(tool) && { mustBeNamed: true }) };
}

/** Why a tool is not in a tool set: the first reason that applies. */
type Exclusion =
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
  | 'name_taken'
  | 'not_for_programs'
  | Unpermitted;

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
interface McpPart {
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
  const entries: ManifestEntry[] = [];
  const allows = createAllowlist(agent.entryTools);
  const guarding = agent.trust === 'guarded' ? await loadGuarded() : undefined;
  const names = new Set(guarding && [followId]); // no tool of the operator can pass for it
  for (const { definition, tool: given, ruling, mustBeNamed = false } of [...known, ...mcp.known]) {
    const tool = given && guarding ? guarding.guardedTool(given) : given;
    const excluded = exclude(definition, { agent, allows, tool, given, ruling, names, mustBeNamed });
    if (excluded === 'not_allowed' && mustBeNamed) continue; // a way of working that the agent did not choose
    entries.push(excluded ? { id: definition.id, excluded } : { id: definition.id });
    if (excluded || !tool) continue;
    names.add(definition.name);
    tools.push(tool);
  }
  if (guarding && names.has(codeRunId)) {
    tools.push(guarding.followTool());
    entries.push({ id: followId });
  }
  entries.push(...mcp.entries);
  for (const id of allows.unmatched()) entries.push({ id, excluded: reasonFor(id) });
  return { tools, entries, notes: mcp.notes, digest: await digestOf(tools, mcp.notes, agent.trust) };
}

/** Loaded for guarded agents. */
const loadGuarded = /* @__PURE__ */ loadOnce(() => import('../tools/builtin/code-run.ts'));

/**
 * Checks that programs can run for a guarded agent: it reads and acts in them alone.
 *
 * @throws PinnaceError `invalid_argument` (`guard_needs_programs`).
 */
export function requireGuard(
  { id, trust }: Agent,
  { tools, canRun }: { readonly tools: readonly Tool[]; readonly canRun: boolean },
): void {
  if (trust !== 'guarded' || (canRun && tools.some(({ definition }) => definition.id === codeRunId))) return;
  throw new PinnaceError(
    'invalid_argument',
    `Cannot run agent "${id}": it is guarded, so it acts in programs alone; add "code_run" to its "entryTools", and compose the ` +
      'runtime with a sandbox and "programs: true"',
    { details: { reason: 'guard_needs_programs' } },
  );
}

const inPlans: ReadonlySet<string> = new Set(planToolIds);

/** Why there is no tool of this id: this composition lacks what a built-in tool needs, or the id is unknown. */
function reasonFor(id: string): Exclusion {
  if (inPlans.has(id)) return 'only_in_plans';
  return builtinToolIds.has(id) ? 'no_implementation' : 'unknown_tool';
}

/** The tool set without the tools of providers that `authorize` denies; those that it wants approved ask first. */
export async function permittedSet(
  toolSet: ToolSet,
  caller: Pick<PrepareOptions, 'agentId' | 'principal' | 'authorize'>,
): Promise<ToolSet> {
  if (!toolSet.tools.some(isProviderTool)) return toolSet;
  const { tools, left } = await permittedTools(toolSet.tools, caller);
  if (tools === toolSet.tools) return toolSet;
  const reasons = new Map([...left].map(([{ definition }, excluded]) => [definition.id, excluded]));
  const entries = toolSet.entries.map((entry) => {
    const excluded = entry.excluded ?? reasons.get(entry.id);
    return excluded ? { id: entry.id, excluded } : entry;
  });
  return { ...toolSet, tools, entries };
}

const counted = new WeakMap<readonly ManifestEntry[], ExclusionCounts>();

/** How many tools were excluded, by reason. */
type ExclusionCounts = Readonly<Partial<Record<Exclusion, number>>>;

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
  { agent, allows, tool, given, ruling, names, mustBeNamed }: {
    agent: Agent;
    allows: Allowlist;
    tool: Tool | undefined;
    /** As it is in other agents. */
    given: Tool | undefined;
    ruling: KnownTool['ruling'];
    names: ReadonlySet<string>;
    mustBeNamed: boolean;
  },
): Exclusion | undefined {
  const isAllowed = allows.has(definition.id, mustBeNamed);
  if (ruling !== undefined && ruling !== 'allowed') return mustBeNamed && !isAllowed ? 'not_allowed' : ruling;
  const unavailable = unavailability(definition, isAllowed || ruling === 'allowed');
  if (unavailable) return unavailable;
  if (!tool) return given ? 'not_for_programs' : 'no_implementation';
  if (tool.secretOrigin !== undefined && !isWithinEgress(new URL(tool.secretOrigin), agent.egress)) {
    return 'egress_denied';
  }
  return names.has(definition.name) ? 'name_taken' : undefined;
}

const digests = new WeakMap<Tool, string>();

async function digestOf(
  tools: readonly Tool[],
  notes: readonly ContextItem[],
  trust: Agent['trust'] = 'open',
): Promise<string> {
  const parts = await Promise.all(tools.map(async (tool) => {
    const known = digests.get(tool) ?? await sha256(JSON.stringify(tool.definition));
    digests.set(tool, known);
    return known;
  }));
  const level = trust === 'open' ? [] : [trust];
  return await sha256([...parts, ...notes.map((note) => JSON.stringify(note)), ...level].join('\n'));
}

/** Those that tools of the runtime have made: a caller may name the source of an item as it likes. */
const made = new WeakSet<ContextItem>();

/** Whether the item is of the runtime, or of a pin that a person has approved. */
export function isNoteOf({ notes }: ToolSet, item: ContextItem): boolean {
  return made.has(item) || notes.includes(item);
}

/** What the model receives about the tools of a request besides their definitions. */
export function notesOf({ notes, tools }: ToolSet, messages: readonly UIMessage[]): readonly ContextItem[] {
  const fitting = tools.filter(({ noteFor }) => noteFor);
  if (fitting.length === 0) return notes;
  const parts = messages.findLast(({ role }) => role === 'user')?.parts ?? [];
  const asked = parts.map((part) => part.type === 'text' ? part.text : '').join(' ');
  return [
    ...notes,
    ...fitting.flatMap(({ noteFor, definition: { id: source } }) => {
      const content = noteFor?.(asked, tools);
      if (content === undefined) return [];
      const note = { source, content };
      made.add(note);
      return [note];
    }),
  ];
}

/** A tool of a pin. */
interface PinnedMcpTool extends PinnedDefinition {
  readonly tool?: Tool;
}

/** The MCP servers as the runtime is given them. */
export interface McpSource {
  /** The server with what has drifted marked as such. The same object for as long as nothing changes. */
  current(server: McpServer): McpServer;
  /** The tools of the server's pin. */
  toolsOf(server: McpServer): Promise<readonly PinnedMcpTool[]>;
  /** Looks at what a server offers, and pins it on approval. */
  validate(serverId: string, validation: McpValidating): Promise<McpValidation>;
  /** Prompts and resources. Rejects with `unavailable` where the composition has no connector. */
  content(): Promise<McpContent>;
  /** The sign-ins of callers. Rejects with `not_found` where the composition has no sign-ins. */
  signIns(): Promise<McpSignIns>;
  /** Stores the answers of a person to the questions of a server. */
  answer(answering: AnsweredQuestions, options: { readonly signal: AbortSignal }): Promise<void>;
}

/** A server that an agent selects, when the catalog has it. */
export interface SelectedServer {
  readonly id: string;
  readonly server: McpServer | undefined;
}

/** Judges the tools of the servers that an agent selects. */
async function selectMcpTools(
  agent: Agent,
  selected: readonly SelectedServer[],
  source: McpSource,
): Promise<McpPart> {
  const parts = await Promise.all(selected.map(async ({ id, server }): Promise<McpPart> => {
    if (!server) return { known: [], entries: [{ id, excluded: 'unknown_mcp_server' }], notes: [] };
    return await judge(server, agent.mcp[id] ?? {}, source);
  }));
  return {
    known: parts.flatMap(({ known }) => known),
    entries: parts.flatMap(({ entries }) => entries),
    notes: parts.flatMap(({ notes }) => notes),
  };
}

async function judge(server: McpServer, selection: McpSelection, source: McpSource): Promise<McpPart> {
  const { alias, pinned } = server;
  if (!pinned) return { known: [], entries: [{ id: `${alias}__*`, excluded: 'mcp_not_validated' }], notes: [] };
  const tools = await source.toolsOf(server);
  const known = tools.map((one): KnownTool => {
    const { definition, tool, forModel } = one;
    const ruled = ruleOnTool(one, { server, selection });
    const ruling = ruled === 'allowed' && !forModel ? 'mcp_app_only' : ruled;
    return tool ? { definition, tool, ruling } : { definition, ruling };
  });
  const { instructions } = pinned;
  if (!instructions || !known.some(({ ruling, tool }) => ruling === 'allowed' && tool)) {
    return { known, entries: [], notes: [] };
  }
  const content = `How its tools are used, says the server: ${instructions}`;
  return { known, entries: [], notes: [{ source: `MCP server ${alias}`, content }] };
}

/** Whether an agent with this selection may use the tool, by its model or by an app of its server. */
export function ruleOnTool(
  { genuine, pinned }: PinnedMcpTool,
  { server, selection }: { readonly server: McpServer; readonly selection: McpSelection },
): Exclusion | 'allowed' {
  return ruleOnServer(server) ?? (genuine ? ruleOn(pinned, selection) : 'mcp_not_validated');
}

function ruleOnServer({ state, status }: McpServer): Exclusion | undefined {
  if (state === 'disabled') return 'disabled';
  return status === 'valid' ? undefined : 'mcp_not_validated';
}

function ruleOn(
  { definition: { name }, status }: PinnedTool,
  { allow, mask = [] }: McpSelection,
): Exclusion | 'allowed' {
  if (allow && !matches(allow, name)) return 'not_allowed';
  if (matches(mask, name)) return 'mcp_masked';
  return status === 'drifted' ? 'mcp_drifted' : 'allowed';
}

function matches(patterns: readonly string[], name: string): boolean {
  return patterns.some((pattern) => pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern);
}

/** The tool that comes with the sources; those that write must be named. */
const asks = 'retrieve';

/** The grounding tools of an agent: retrieval from its own sources, and writes that its allowlist names. */
function sourceToolsOf(agent: Agent, sources: DataSources | undefined): readonly KnownTool[] {
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
