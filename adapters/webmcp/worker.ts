/** The worker's side of WebMCP, both ways. */

import { checkNames, optional } from '../../src/base/check-options.ts';
import { PinnaceError } from '../../src/base/errors.ts';
import type { Principal } from '../../src/base/principal.ts';
import type { McpCall, McpCallResult, McpConnection, McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import type { AgentTools } from '../../src/runtime/agent-tools.ts';
import type { Tool } from '../../src/tools/tool.ts';
import { answerPort, callPort, noPage, type PortCaller } from './port-calls.ts';
import { type AgentTool, type AgentToolAnswer, readCall } from './protocol.ts';

/** A connector that also reaches the page. */
export interface PageToolsConnector extends McpConnector {
  /** Uses the page that has the other end of the port; the latest page is used. */
  connectPage(port: MessagePort): void;
}

/** How the page's tools are reached. */
export interface PageToolsOptions {
  /** The URL of the MCP server record that stands for the page. It is never requested. */
  readonly url: string;
  /** Connects to all other MCP servers. */
  readonly others?: McpConnector;
}

/**
 * Returns a connector for which the page is one more MCP server: the one whose record has this URL. What the page registers through WebMCP
 * is checked, pinned, masked and hidden after a change as the tools of any server, and exists only for agents that select it.
 *
 * @example
 * const mcp = pageToolsConnector({ url: 'https://app.example/webmcp', others: mcpConnector({ egress }) });
 * onmessage = ({ data }) => mcp.connectPage(data.pageTools);
 */
export function pageToolsConnector(given: PageToolsOptions): PageToolsConnector {
  checkNames('create the connector', given, optional('url', 'others'));
  const { url, others } = given;
  let page: PortCaller | undefined;
  const listeners = new Set<() => void>();
  return {
    connectPage(port) {
      page?.close();
      page = callPort(port, { onChanged: () => listeners.forEach((onChanged) => onChanged()) });
    },
    async connect(server, options) {
      if (server.url === url) return connectionTo(() => page, listeners, options.onToolsChanged);
      if (others) return await others.connect(server, options);
      throw new PinnaceError('unavailable', 'Cannot connect to the MCP server: only the page is reached');
    },
  };
}

function connectionTo(
  page: () => PortCaller | undefined,
  listeners: Set<() => void>,
  onToolsChanged: (() => void) | undefined,
): McpConnection {
  const open = (): PortCaller => {
    const found = page();
    if (!found) throw noPage();
    return found;
  };
  if (onToolsChanged) listeners.add(onToolsChanged);
  return {
    protocolVersion: 'webmcp',
    serverInfo: { name: 'page', version: '0.0.0' },
    instructions: undefined,
    listTools: async ({ signal }) => await open().request('list', {}, { signal }) as readonly unknown[], // checked by the caller
    listContent: () => Promise.resolve({ items: [], isCut: false }),
    read: () => Promise.reject(new PinnaceError('not_found', 'Cannot read from the page: it has tools only')),
    callTool: (call) => callPage(open(), call),
    close() {
      if (onToolsChanged) listeners.delete(onToolsChanged);
      return Promise.resolve();
    },
  };
}

async function callPage(page: PortCaller, { name, input, signal, timeoutMs }: McpCall): Promise<McpCallResult> {
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const result = await page.request('call', { name, input }, { signal: AbortSignal.any([signal, late]) });
    const { text, isError } = result as { readonly text: string; readonly isError: boolean }; // the page's side of this library
    return { content: [{ type: 'text', text }], isError };
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    throw new PinnaceError('deadline_exceeded', 'The tool of the page took too long');
  }
}

/** Whose tools are offered to the page. */
export interface ServeAgentToolsOptions {
  /** The runtime whose tools are offered. */
  readonly runtime: { tools(agentId: string, principal: Principal): Promise<AgentTools> };
  /** The agent whose tools are offered. */
  readonly agentId: string;
  /** The person in front of the page. Decisions on calls take its scope `tool:approve`. */
  readonly principal: Principal;
  /** The ids of the tools to offer, among those that the agent may use, or `*` for all; without it, those that only read. */
  readonly only?: '*' | readonly string[];
}

/** The offered tools. */
export interface OfferedTools {
  /** Has the page register them anew, as after a change of the agent. */
  changed(): void;
  close(): void;
}

/**
 * Answers a page's `offerAgentTools` on the other end of the port. A call runs as one of the agent outside a run: within its allowlist, with
 * its limits and secrets, checked by `authorize`, redacted and audited.
 *
 * @example
 * serveAgentTools(port, { runtime, agentId: 'helper', principal: localPrincipal() });
 */
export function serveAgentTools(port: MessagePort, options: ServeAgentToolsOptions): OfferedTools {
  checkNames('serve tools', options, optional('runtime', 'agentId', 'principal', 'only'));
  const { runtime, agentId, principal, only } = options;
  const isOffered = ({ definition: { id, annotations } }: Tool): boolean =>
    only ? only === '*' || only.includes(id) : annotations?.readOnlyHint === true;
  const open = async () => {
    const agent = await runtime.tools(agentId, principal);
    return { agent, tools: agent.tools.filter(isOffered) };
  };
  return answerPort(port, {
    list: async () => (await open()).tools.map(toPageTool),
    call: async (params, { signal }) => {
      const { name, input, approved } = readCall(params);
      const { agent, tools } = await open();
      const tool = tools.find(({ definition }) => definition.name === name);
      if (!tool) throw new PinnaceError('not_found', 'Cannot call the tool: it is not offered to the page');
      return await callForPage(agent, tool, { input, approved, signal });
    },
  });
}

async function callForPage(
  agent: AgentTools,
  tool: Tool,
  { input, approved, signal }: {
    readonly input: unknown;
    readonly approved: boolean | undefined;
    readonly signal: AbortSignal;
  },
): Promise<AgentToolAnswer> {
  const outcome = await agent.call(tool, input, {
    toolCallId: crypto.randomUUID(),
    signal,
    log: () => undefined, // the browser's agent reads results only
    ...(approved !== undefined && { approved }),
  });
  if (outcome.ok) return { ok: true, output: outcome.output };
  const { error } = outcome;
  const isOpen = error.code === 'approval_required' && approved === undefined;
  return { ok: false, error, question: isOpen ? await agent.describe({ tool, input, error }) : undefined };
}

function toPageTool({ definition }: Tool): AgentTool {
  const { name, title, description, paramsSchema, annotations } = definition;
  return {
    name,
    ...(title && { title }),
    description,
    inputSchema: paramsSchema,
    annotations: {
      readOnlyHint: annotations?.readOnlyHint === true,
      untrustedContentHint: annotations?.openWorldHint !== false,
    },
  };
}
