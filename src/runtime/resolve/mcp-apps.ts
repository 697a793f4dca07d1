/** The apps of the MCP servers that an agent selects: reading them, and the calls that they make. */

import type { InferOutput } from 'valibot';
import { PinnaceError } from '../../base/errors.ts';
import { checkData } from '../../base/json.ts';
import { loadOnce } from '../../base/load-once.ts';
import { parse } from '../../base/parse.ts';
import type { Principal } from '../../base/principal.ts';
import { McpAppCallRequest, type McpAppCallResult, McpAppRequest, type RuntimeApps } from '../../contracts/mcp/apps.ts';
import type { Tool } from '../../tools/tool.ts';
import type { RuntimeParts } from '../runtime-options.ts';
import { ruleOnTool } from './mcp-tools.ts';
import { equip, readOf, use } from './read-mcp.ts';

/** Loaded with the first call: reading an app does without. */
const loadTools = /* @__PURE__ */ loadOnce(() => import('./agent-tools.ts'));

/** Creates the methods. */
export function createApps(parts: RuntimeParts): RuntimeApps {
  return {
    async read(agentId, input, principal, { signal } = {}) {
      const { server, ...wanted } = parse(McpAppRequest, input, { what: 'the app' });
      const what = readOf('mcp.app.read', server, { uri: wanted.uri });
      return await use({ agentId, principal, what, signal }, parts, (reader, target) => reader.app(wanted, target));
    },
    async call(agentId, input, principal, { signal } = {}) {
      checkData(input); // valibot drops arguments named `constructor`, and the call would be another one
      const request = parse(McpAppCallRequest, input, { what: 'the call' });
      const tool = await findTool(agentId, principal, { request, parts });
      return await callForApp(tool, { agentId, principal, request, parts, signal });
    },
  };
}

type AppCall = InferOutput<typeof McpAppCallRequest>;

/** The tool of the app's own server, where the agent may use it and the server lets apps call it. */
async function findTool(
  agentId: string,
  principal: Principal,
  { request: { server: serverId, tool: name, uri, sha256 }, parts }: {
    readonly request: AppCall;
    readonly parts: RuntimeParts;
  },
): Promise<Tool> {
  const { agent, servers } = await equip(agentId, principal, parts);
  const server = servers.find(({ id }) => id === serverId)?.server;
  if (!server) throw unknownTool();
  const selection = agent.mcp[serverId] ?? {};
  (await parts.mcp.content()).requireApp({ uri, sha256 }, { server, selection });
  const found = (await parts.mcp.toolsOf(server)).find(({ pinned, forApp }) =>
    forApp && pinned.definition.name === name
  );
  const ruling = found && ruleOnTool(found, { server, selection });
  if (ruling === 'mcp_drifted') throw drifted();
  if (!found?.tool || ruling !== 'allowed') throw unknownTool();
  return found.tool;
}

async function callForApp(
  tool: Tool,
  { agentId, principal, request: { arguments: input, approved }, parts, signal }: {
    readonly agentId: string;
    readonly principal: Principal;
    readonly request: AppCall;
    readonly parts: RuntimeParts;
    readonly signal: AbortSignal | undefined;
  },
): Promise<McpAppCallResult> {
  const tools = await (await loadTools()).openAgentTools(parts, agentId, principal);
  const outcome = await tools.call(tool, input, {
    toolCallId: crypto.randomUUID(),
    signal: signal ?? tools.closing,
    log: () => undefined,
    ...(approved !== undefined && { approved }),
  });
  if (outcome.ok) return { ok: true, output: outcome.output };
  const { error } = outcome;
  const isOpen = error.code === 'approval_required' && approved === undefined;
  const question = isOpen ? await tools.describe({ tool, input, error }) : undefined;
  return { ok: false, error, ...(question !== undefined && { question }) };
}

function unknownTool(): PinnaceError {
  return new PinnaceError(
    'not_found',
    'Cannot call the tool: the server of the app has no tool of this name that apps of this agent may call',
    { details: { reason: 'mcp_app_tool_unknown' } },
  );
}

function drifted(): PinnaceError {
  return new PinnaceError(
    'forbidden',
    'Cannot call the tool: its server no longer offers what was approved; a person must look at it again',
    { details: { reason: 'mcp_drifted' } },
  );
}
