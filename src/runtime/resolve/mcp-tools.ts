/** Which tools of MCP servers an agent may use: those of the servers that it selects, as far as they are pinned, allowed and not masked. */

import type { McpValidation, McpValidationRequest } from '../../contracts/mcp/mcp-validation.ts';
import type { Agent, McpSelection, McpServer, PinnedTool, ToolDefinition } from '../../base/schema.ts';
import type { AnsweredQuestions } from '../../contracts/mcp/answers.ts';
import type { McpContent } from '../../contracts/mcp/content-reader.ts';
import type { McpSignIns } from '../../contracts/mcp/sign-ins.ts';
import type { Principal } from '../../base/principal.ts';
import type { Secret } from '../../base/secret.ts';
import type { Tool } from '../../tools/tool.ts';
import type { Exclusion, KnownTool, McpPart } from './assemble.ts';

/** A tool of a pin. */
export interface PinnedMcpTool {
  readonly definition: ToolDefinition;
  readonly pinned: PinnedTool;
  /** Whether the definition is the one that its fingerprint is of. */
  readonly genuine: boolean;
  /** Whether models may call it. */
  readonly forModel: boolean;
  /** Whether apps of its server may call it. */
  readonly forApp: boolean;
  readonly tool?: Tool;
}

/** The MCP servers as the runtime is given them. */
export interface McpSource {
  /** The server with what has drifted marked as such. The same object for as long as nothing changes. */
  current(server: McpServer): McpServer;
  /** The tools of the server's pin. */
  toolsOf(server: McpServer): Promise<readonly PinnedMcpTool[]>;
  /** Looks at what a server offers, and pins it on approval. */
  validate(serverId: string, validation: {
    readonly request: McpValidationRequest;
    readonly principal: Principal;
    readonly subject: string;
    readonly tenant: string;
    readonly deployment: boolean;
    readonly signal: AbortSignal;
    readonly secret: (server: McpServer) => Promise<Secret | undefined>;
    readonly toolNames: (server: McpServer) => Promise<readonly string[]>;
  }): Promise<McpValidation>;
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
export async function selectMcpTools(
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
