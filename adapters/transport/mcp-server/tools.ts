/** The tools of one caller on an MCP server: the discovery tools, those that are always listed, and those that are loaded. */

import * as v from 'valibot';
import type { InferOutput } from 'valibot';
import { type ErrorData, type PinnaceError, toData } from '../../../src/base/errors.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import { jsonSchemaOf } from '../../../src/base/json-schema-of.ts';
import { parse } from '../../../src/base/parse.ts';
import type { Principal } from '../../../src/base/principal.ts';
import type { JsonSchema, ToolDefinition } from '../../../src/base/schema.ts';
import { trusted } from '../../../src/permission/label.ts';
import { outputLabel } from '../../../src/permission/run-facts.ts';
import {
  discoveryToolNames,
  discoveryTools,
  toolCallDescription,
  toolCallFields,
  toolCallName,
} from '../../../src/discovery/discovery-tools.ts';
import { toIndexedTool } from '../../../src/discovery/tool-fields.ts';
import { createToolIndex, type ToolIndex } from '../../../src/discovery/tool-index.ts';
import { parseTraceparent } from '../../../src/events/trace-ids.ts';
import type { AgentTools } from '../../../src/runtime/agent-tools.ts';
import { type ContentBlock, readContent } from '../../../src/tools/content.ts';
import { checkOf } from '../../../src/tools/json-schema/json-schema.ts';
import { toolsOf } from '../../../src/tools/implement.ts';
import type { LogLevel, Progress, Tool } from '../../../src/tools/tool.ts';
import type { McpHost } from './host.ts';
import type { Asking } from './questions.ts';

export interface Catalogue {
  /** All but the discovery tools and `tool_call`, whose names are reserved. */
  readonly byName: ReadonlyMap<string, Tool>;
  /** Those that need no loading. */
  readonly listed: readonly Tool[];
  readonly index: ToolIndex;
}

export type Toolbox = ReturnType<typeof openToolbox>;

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
) {
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
    /** Returns one of the four or an active tool; `undefined` for any other. Call `discovery.restore` first. */
    find: (name: string): Tool | undefined => four.get(name) ?? (active.has(name) ? byName.get(name) : undefined),
    active: (): readonly Tool[] => discovery.activeNames().flatMap((name) => byName.get(name) ?? []),
  };
}

interface Offer {
  readonly catalogue: Catalogue;
  readonly call: AgentTools['call'];
}

interface StatelessServer {
  list(): readonly McpTool[];
  call(request: CallRequest, context: CallContext): Promise<CallResult>;
}

export interface CallRequest {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** The key of `_meta` under which a client may send the handle with any call. */
const toolsetKey = 'pinnace/toolset';

export function openStateless(
  host: McpHost,
  { catalogue, call }: Offer,
  principal: Principal,
): StatelessServer {
  const open = (handle: string | undefined) => openToolbox(catalogue, { host, principal, handle });
  return {
    list() {
      const four = open(undefined).discovery.definitions.map((definition) => withToolset(toMcpTool(definition)));
      return [...four, toolCallDefinition, ...catalogue.listed.map(({ definition }) => toMcpTool(definition))];
    },
    async call({ name, arguments: given = {}, _meta: meta = {} }, context) {
      if (name === toolCallName) {
        const requested = readToolCall(given);
        if ('content' in requested) return requested;
        const toolbox = open(requested.toolset ?? handleOf(meta));
        return await callActive({ name: requested.name, input: requested.arguments, nested: true }, {
          toolbox,
          call,
          context,
        });
      }
      const { handle, input } = splitToolset(given, catalogue.byName.get(name)?.definition.paramsSchema);
      const toolbox = open(handle ?? handleOf(meta));
      return await callActive({ name, input }, { toolbox, call, context });
    },
  };
}

function readToolCall(given: unknown): InferOutput<typeof ToolCallInput> | CallResult {
  try {
    return parse(ToolCallInput, given, { what: `the input of tool "${toolCallName}"` });
  } catch (error) {
    return toErrorResult(toData(error));
  }
}

/** Takes the handle out of the arguments, unless the tool takes something of this name itself. */
function splitToolset(
  given: Readonly<Record<string, unknown>>,
  schema: Readonly<Record<string, unknown>> | undefined,
): { readonly handle: string | undefined; readonly input: Readonly<Record<string, unknown>> } {
  const { toolset, ...input } = given;
  const takesIt = Object.hasOwn(schema?.['properties'] ?? {}, 'toolset');
  return takesIt || typeof toolset !== 'string' ? { handle: undefined, input: given } : { handle: toolset, input };
}

function handleOf(meta: Readonly<Record<string, unknown>>): string | undefined {
  const handle = meta[toolsetKey];
  return typeof handle === 'string' ? handle : undefined;
}

export interface CallContext {
  readonly signal: AbortSignal;
  readonly progressToken: string | number | undefined;
  /** The `traceparent` of the request's `_meta`, not validated. */
  readonly traceparent?: unknown;
  /** The capabilities that the client declares; `undefined` where the protocol has none. */
  readonly clientCapabilities: Readonly<Record<string, unknown>> | undefined;
  /** Sends a notification that belongs to the call. */
  readonly notify: (method: string, params: Readonly<Record<string, unknown>>) => Promise<void>;
  /** The questions of the call; absent where the client cannot be asked. */
  readonly asking?: Asking;
  /** Describes a call to the person who may approve it; absent where the host lets no client decide. */
  readonly describe?: AgentTools['describe'] | undefined;
  /** Sends a line of the tool's log, at a level of MCP. */
  readonly log: (level: 'debug' | 'info' | 'warning' | 'error', text: string) => Promise<void>;
}

interface RequestedCall {
  readonly name: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** Whether `tool_call` requested it: then the model also reads what is wrong with the name. */
  readonly nested?: boolean;
}

/**
 * Calls a discovery tool or an active tool, and returns the result.
 * @throws Error with `code` -32602 and `data` for an unknown name, -32021 for a tool that needs a capability of the client.
 */
export async function callActive(
  { name, input, nested = false }: RequestedCall,
  { toolbox, call, context }: {
    readonly toolbox: Toolbox;
    readonly call: AgentTools['call'];
    readonly context: CallContext;
  },
): Promise<CallResult> {
  try {
    await toolbox.discovery.restore();
  } catch (error) {
    return toErrorResult(toData(error));
  }
  const tool = toolbox.find(name);
  if (!tool) return refuse(toolbox.discovery.notActive(name), nested);
  requireCapabilities(tool.definition, context.clientCapabilities);
  return await callTool(tool, input, { call, context });
}

function refuse(error: PinnaceError, nested: boolean): CallResult {
  if (nested || error.details?.['reason'] === 'tool_not_active') return toErrorResult(toData(error));
  throw toProtocolError(error);
}

async function callTool(
  tool: Tool,
  input: unknown,
  { call, context: { signal, progressToken, traceparent, notify, log, asking, describe } }: {
    call: AgentTools['call'];
    context: CallContext;
  },
): Promise<CallResult> {
  const ignore = (): void => undefined; // the client has left, and the call ends with it
  const progress = (update: Progress): void =>
    void notify('notifications/progress', { ...update, progressToken }).catch(ignore);
  const decided = asking?.decided();
  const outcome = await call(asking ? askable(tool, asking) : tool, input, {
    toolCallId: crypto.randomUUID(),
    signal,
    trace: parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined),
    log: (text, level = 'info') => void log(levels[level], text.slice(0, 4096)).catch(ignore),
    ...(progressToken !== undefined && { progress }),
    ...(decided !== undefined && { approved: decided }),
  });
  const needsPerson = !outcome.ok && outcome.error.code === 'approval_required' && decided === undefined;
  if (needsPerson && asking?.client.canAnswer('form')) {
    const message = await describe?.({ tool, input, error: outcome.error });
    if (message !== undefined) asking.askApproval(message);
  }
  return outcome.ok ? await toOutput(outcome.output, tool.definition) : toErrorResult(outcome.error);
}

/** Returns the tool with a client that it can ask. A question ends the execution as a success: it is no failure of the tool. */
function askable(tool: Tool, asking: Asking): Tool {
  return {
    ...tool,
    async execute(input, context) {
      asking.redact = context.redact;
      try {
        return await tool.execute(input, { ...context, client: asking.client });
      } catch (thrown) {
        const pending = asking.pending();
        if (!pending) throw thrown;
        return { asked: Object.keys(pending.requests) };
      }
    },
  };
}

const levels = { debug: 'debug', info: 'info', warn: 'warning', error: 'error' } as const satisfies Record<
  LogLevel,
  string
>;

const missingClientCapability = -32021;

/**
 * Checks that the client has the capabilities in `config.clientCapabilities` of the tool's definition. Where the protocol has no
 * capabilities, `declared` is `undefined` and the tool is called.
 * @throws Error with `code` -32021 (protocol 2026-07-28) and the missing capabilities as `data`.
 */
function requireCapabilities(
  { name, config }: ToolDefinition,
  declared: Readonly<Record<string, unknown>> | undefined,
): void {
  const needed: unknown = config?.['clientCapabilities'];
  if (!declared || !Array.isArray(needed)) return;
  const missing = needed.filter((capability): capability is string => {
    return typeof capability === 'string' && declared[capability] === undefined;
  });
  if (missing.length === 0) return;
  const message = `Cannot call tool "${name}": the client does not declare the capability ${missing.join(', ')}`;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  throw Object.assign(new Error(message), { code: missingClientCapability, data: { requiredCapabilities } });
}

export interface CallResult {
  readonly [key: string]: unknown;
  readonly content: ContentBlock[];
  readonly structuredContent?: Record<string, unknown>;
  readonly isError?: boolean;
  readonly _meta?: Record<string, unknown>;
}

/** Returns the result for a call that failed: the message for models, the code for programs. */
function toErrorResult({ code, message, retryable, retryAfterMs, details }: ErrorData): CallResult {
  const error = {
    code,
    retryable,
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(details !== undefined && { details }),
  };
  return { content: [{ type: 'text', text: message }], isError: true, _meta: { 'pinnace/error': error } };
}

async function toOutput(output: unknown, definition: ToolDefinition): Promise<CallResult> {
  const { type, outputSchema } = definition;
  const rich = foreign.has(type) ? undefined : readContent(output);
  const remote = type === 'mcp' && isRecord(output) ? output : undefined;
  const data = rich ? rich.data : remote ? remote['data'] : output;
  const content: ContentBlock[] = rich?.mcpContent ??
    [{ type: 'text', text: typeof output === 'string' ? output : JSON.stringify(output) ?? 'null' }];
  const isTyped = isOfObject(outputSchema);
  // Its client checks a schema that cannot be checked here.
  const isFit = isTyped && isRecord(data) && (await checkOf(outputSchema)?.inTurns(data) ?? []).length === 0;
  const isError = remote?.['isError'] === true;
  return {
    content: isTyped && !isFit && !isError ? [{ type: 'text', text: notFit }, ...content] : content,
    ...(isFit && { structuredContent: data }),
    ...((isError || (isTyped && !isFit)) && { isError: true }),
    ...ifcOf(definition),
  };
}

/** Clients drop a result that breaks the output schema, but for one that says that it failed. */
const notFit = 'The tool was called. Its result is not what its output schema describes:';

/** What is known of where a result is from, for clients that follow it; nothing where nothing is known. */
function ifcOf(definition: ToolDefinition): Pick<CallResult, '_meta'> {
  const { from, readers } = outputLabel(definition, trusted, 'open');
  if (from.length === 0 && definition.reads === undefined) return {};
  const integrity = from.length > 0 ? 'untrusted' : 'trusted';
  return { _meta: { ifc: { integrity, confidentiality: readers === 'public' ? 'public' : 'private' } } };
}

/** Tools whose output comes from elsewhere: it is never read as MCP content blocks. */
const foreign: ReadonlySet<ToolDefinition['type']> = new Set(['http', 'mcp', 'code']);

const invalidParams = -32602;

/** Returns the JSON-RPC error for an unknown tool name: the SDKs send `code` and `data` unchanged. */
function toProtocolError({ message, details }: PinnaceError): Error {
  const { reason, suggestions = [] } = (details ?? {}) as { reason?: string; suggestions?: readonly string[] }; // the lookup's
  const [suggest] = suggestions;
  const data = { reason, ...(suggest !== undefined && { suggest }), suggestions };
  return Object.assign(new Error(message), { code: invalidParams, data });
}

export interface McpTool {
  readonly [key: string]: unknown;
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly inputSchema: JsonSchema & { readonly type: 'object' };
  readonly outputSchema?: JsonSchema & { readonly type: 'object' };
  readonly annotations?: Readonly<Record<string, boolean>>;
}

/** Returns a definition in the form of MCP: the schemas unchanged, without anything about permissions. */
export function toMcpTool(
  { name, title, description, paramsSchema, outputSchema, annotations }: ToolDefinition,
): McpTool {
  return {
    name,
    ...(title !== undefined && { title }),
    description,
    inputSchema: { ...paramsSchema, type: 'object' },
    ...(isOfObject(outputSchema) && { outputSchema }),
    ...(annotations && { annotations: { ...annotations } as Record<string, boolean> }), // every key has a value
  };
}

/** Whether clients of every revision accept the schema for structured results. */
function isOfObject(schema: JsonSchema | undefined): schema is JsonSchema & { readonly type: 'object' } {
  return schema?.['type'] === 'object';
}

const toolsetDescription = 'The "toolset" that tool_load gave, so that what was loaded counts';

/** Returns a discovery tool that also takes the handle of the loaded set. */
function withToolset(tool: McpTool): McpTool {
  const { properties, ...schema } = tool.inputSchema;
  const toolset = { type: 'string', description: toolsetDescription };
  return { ...tool, inputSchema: { ...schema, properties: { ...properties as JsonSchema | undefined, toolset } } };
}

const ToolCallInput = v.strictObject({
  toolset: v.optional(v.pipe(v.string(), v.description(toolsetDescription))),
  ...toolCallFields,
});

/** The definition of `tool_call`, for connections that cannot remember what is loaded. */
const toolCallDefinition: McpTool = {
  name: toolCallName,
  description: toolCallDescription,
  inputSchema: { ...jsonSchemaOf(ToolCallInput), type: 'object' },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false, openWorldHint: true },
};
