/** Prompts and resources of the MCP servers that an agent selects, for its callers and as files of its runs. */

import { PinnaceError } from '../base/errors.ts';
import { checkData } from '../base/json.ts';
import { limitOf, pageNumber, readPagePlace, writePageToken } from '../base/page.ts';
import { parse } from '../base/parse.ts';
import {
  type ContentReader,
  type ContentTarget,
  McpAppCallRequest,
  type McpAppCallResult,
  McpAppRequest,
  McpCompletionRequest,
  McpPromptRequest,
  type McpResourceEntry,
  type McpResourceQuery,
  McpResourceRequest,
  type McpTemplateEntry,
  type RuntimeApps,
  type RuntimePrompts,
  type RuntimeResources,
} from '../contracts/mcp/content.ts';
import type { RuntimeContent, RuntimeParts } from './run-context.ts';
import type { InferOutput } from 'valibot';
import { loadOnce } from '../base/load-once.ts';
import { type Principal, requireScope } from '../base/principal.ts';
import type { Tool } from '../tools/tool.ts';
import { ruleOnTool, type SelectedServer } from './tool-sets.ts';
import { egressDenied, isWithinEgress } from '../base/origins.ts';
import type { Agent } from '../base/schema.ts';
import { reportAt, reportedHook } from '../events/report.ts';
import { actorOf, traceAt } from '../events/span.ts';
import { createTraceId } from '../events/trace-ids.ts';
import { createRunRedaction, type RunRedaction } from '../permission/redaction/run-redaction.ts';
import { type ClientRead, readForClient } from './agent-tools.ts';
import { minLimits } from './limits.ts';
import type { ReadInRun } from './message-files.ts';

/** Creates the methods. */
export function createRuntimeContent(parts: RuntimeParts): RuntimeContent {
  return {
    prompts: createPrompts(parts),
    resources: createResources(parts),
    apps: createApps(parts),
    readInRun: createReadInRun(parts),
  };
}

function createPrompts(parts: RuntimeParts): RuntimePrompts {
  return {
    async list(agentId, principal) {
      const { agent, servers } = await equip(agentId, principal, parts);
      if (servers.length === 0) return { items: [] };
      const content = await parts.mcp.content();
      return {
        items: servers.flatMap(({ id, server }) => server ? content.prompts(server, agent.mcp[id] ?? {}) : []),
      };
    },
    async get(agentId, input, principal, { signal } = {}) {
      checkData(input);
      const { server, name, arguments: given } = parse(McpPromptRequest, input, { what: 'the prompt' });
      const what = readOf('mcp.prompt.get', server, { name });
      const asked = { agentId, principal, what, signal };
      return await use(asked, parts, (reader, target) => reader.prompt(name, given, target));
    },
    async complete(agentId, input, principal, { signal } = {}) {
      checkData(input);
      const { server, ...request } = parse(McpCompletionRequest, input, { what: 'the completion' });
      requireOne(request);
      const { prompt, uriTemplate } = request;
      const what = readOf('mcp.complete', server, { prompt, uriTemplate });
      const asked = { agentId, principal, what, signal };
      return await use(asked, parts, (reader, target) => reader.complete(request, target));
    },
  };
}

function createResources(parts: RuntimeParts): RuntimeResources {
  return {
    async list(agentId, principal, query = {}) {
      const page = await readPage(query);
      const { agent, servers } = await equip(agentId, principal, parts);
      if (servers.length === 0) return { items: [], templates: [], total: 0 };
      const content = await parts.mcp.content();
      const wanted = servers.flatMap(({ id, server }) =>
        server && (query.server ?? id) === id ? [{ server, selection: agent.mcp[id] ?? {} }] : []
      );
      const resources = wanted.flatMap(({ server, selection }) => content.resources(server, selection));
      const templates = wanted.flatMap(({ server, selection }) => content.templates(server, selection));
      return await pageOf(resources, templates, page);
    },
    async read(agentId, input, principal, { signal } = {}) {
      const { server, uri } = parse(McpResourceRequest, input, { what: 'the resource' });
      const what = readOf('mcp.resource.read', server, { uri });
      return await use({ agentId, principal, what, signal }, parts, (reader, target) => reader.read(uri, target));
    },
  };
}

/** Reads a resource that a message refers to, in the name of the run's caller. */
function createReadInRun(parts: RuntimeParts): ReadInRun {
  return async ({ agent, principal, redaction, signal, scope }, { server, uri }) => {
    const { servers } = await parts.resolver.equip(agent.id, principal);
    const target = targetOf({ agent, servers, principal, serverId: server, redaction, signal }, parts);
    const what = readOf('mcp.resource.read', server, { uri });
    return await guardedRead(what, { agent, principal, parts }, async () => {
      const content = await parts.mcp.content();
      return await scope.keep(parts.mcp, () => content.open()).read(uri, target);
    });
  };
}

function requireOne(
  { prompt, uriTemplate }: { readonly prompt?: string | undefined; readonly uriTemplate?: string | undefined },
): void {
  if ((prompt === undefined) !== (uriTemplate === undefined)) return;
  throw new PinnaceError('invalid_argument', 'Cannot complete: name either "prompt" or "uriTemplate"', {
    details: { reason: 'mcp_nothing_to_complete' },
  });
}

interface WantedPage {
  readonly most: number;
  readonly from: number;
  /** What the page token belongs to. */
  readonly of: { readonly query: string; readonly server: string | null };
}

async function readPage({ query = '', server, limit, pageToken }: McpResourceQuery): Promise<WantedPage> {
  const most = limitOf({ ...(limit !== undefined && { limit }) });
  const of = { query: query.trim().toLowerCase(), server: server ?? null };
  return { most, of, from: pageToken === undefined ? 0 : await readPagePlace(of, pageToken, pageNumber) };
}

async function pageOf(
  resources: readonly McpResourceEntry[],
  templates: readonly McpTemplateEntry[],
  { most, from, of }: WantedPage,
) {
  const isWanted = (texts: readonly (string | undefined)[]): boolean =>
    texts.some((text) => text?.toLowerCase().includes(of.query));
  const found = resources.filter(({ uri, name, title }) => isWanted([uri, name, title]));
  const items = found.slice(from, from + most);
  const more = from + most < found.length && { nextPageToken: await writePageToken(of, String(from + most)) };
  const shown = from > 0
    ? []
    : templates.filter(({ uriTemplate, name, title }) => isWanted([uriTemplate, name, title]));
  return { items, templates: shown, total: found.length, ...more };
}

/** Loaded with the first call: reading an app does without. */
const loadTools = /* @__PURE__ */ loadOnce(() => import('./agent-tools.ts'));

/** Creates the methods. */
function createApps(parts: RuntimeParts): RuntimeApps {
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

/** The agent with its servers, for a caller who may run it. */
export async function equip(agentId: string, principal: Principal, { resolver, requireOpen }: RuntimeParts) {
  requireScope(principal, 'run:create', agentId);
  requireOpen();
  await resolver.refresh();
  return await resolver.equip(agentId, principal);
}

/** Reads with a connection of its own. */
export async function use<T>(
  { agentId, principal, what, signal }: Asked,
  parts: RuntimeParts,
  work: (reader: ContentReader, target: ContentTarget) => Promise<T>,
): Promise<T> {
  const { agent, servers } = await equip(agentId, principal, parts);
  const redaction = createRunRedaction();
  const until = signal ? AbortSignal.any([signal, parts.closing]) : parts.closing;
  const target = targetOf({ agent, servers, principal, serverId: what.target.id, redaction, signal: until }, parts);
  return await guardedRead(what, { agent, principal, parts }, async () => {
    const reader = (await parts.mcp.content()).open();
    try {
      return await work(reader, target);
    } finally {
      await reader.close();
    }
  });
}

/** What is read, for whom. */
interface Asked {
  readonly agentId: string;
  readonly principal: Principal;
  readonly what: ClientRead;
  readonly signal: AbortSignal | undefined;
}

/** Describes a reading for the permission hook. */
export function readOf(action: string, server: string, input: Readonly<Record<string, unknown>>): ClientRead {
  return {
    action,
    target: { type: 'mcp-server', id: server.slice(0, 128) },
    attempt: 'Cannot read from the MCP server',
    input,
  };
}

/** Checked by the permission hook, within the agent's rate limit, observed; a refusal is audited. */
async function guardedRead<T>(
  what: ClientRead,
  { agent, principal, parts }: {
    readonly agent: Agent;
    readonly principal: Principal;
    readonly parts: RuntimeParts;
  },
  work: () => Promise<T>,
): Promise<T> {
  const { emit, now } = parts;
  const traceId = createTraceId();
  const spanContext = traceAt({ traceId, tenant: principal.tenant, actor: actorOf(principal) }, { emit, now });
  const authorize = reportedHook(parts.authorize, reportAt(parts.report, { traceId }), 'authorize');
  const options = { ...parts, agent, principal, authorize, limits: minLimits(parts.limits, agent.limits) };
  return await readForClient(what, { spanContext, options }, work);
}

/** The server that is read. */
function targetOf(
  { agent, servers, principal, serverId, redaction, signal }: {
    readonly agent: Agent;
    readonly servers: readonly SelectedServer[];
    readonly principal: Principal;
    readonly serverId: string;
    readonly redaction: RunRedaction;
    readonly signal: AbortSignal;
  },
  { resolver }: RuntimeParts,
): ContentTarget {
  const found = servers.find(({ id }) => id === serverId)?.server;
  if (!found) {
    throw new PinnaceError('not_found', 'Cannot read from the MCP server: the agent selects no server of this id', {
      details: { reason: 'mcp_server_not_found' },
    });
  }
  const { origin } = new URL(found.url);
  if (!isWithinEgress(new URL(origin), agent.egress)) {
    throw egressDenied('Cannot read from the MCP server', origin, `the "egress" of agent "${agent.id}"`);
  }
  return {
    server: found,
    selection: agent.mcp[serverId] ?? {},
    principal,
    signal,
    async secret({ secret, url }) {
      if (!secret) return undefined;
      const scope = { tenant: principal.tenant, agentId: agent.id, origin: new URL(url).origin };
      const resolved = await resolver.secret(secret, scope);
      redaction.add(resolved);
      return resolved;
    },
    protect: (token) => redaction.add(token),
    redact: (text) => redaction.text(text),
  };
}
