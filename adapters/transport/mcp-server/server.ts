/** One MCP server over version 2 of the SDK, for one request or one session. Every request brings its own caller. */

import { defaultInfo, type McpCaller, type McpHost, type McpReader, statelessInstructions } from './host.ts';
import type {
  InputRequests,
  InputRequiredResult,
  JSONRPCRequest,
  McpServerLibrary,
  Result,
  Server,
  ServerCapabilities,
  ServerContext,
} from './sdk-2026.ts';
import { canonicalJson } from '../../../src/base/json.ts';
import { isRecord } from '../../../src/base/is-record.ts';
import type { Principal } from '../../../src/base/principal.ts';
import { parseTraceparent } from '../../../src/events/trace-ids.ts';
import type { AgentTools, ClientRead } from '../../../src/runtime/agent-tools.ts';
import { linearValidator } from '../../base/linear-validator.ts';
import { type CallContext, type Catalogue, openStateless } from './tools.ts';
import {
  complete,
  type CompletionRef,
  findPrompt,
  getPrompt,
  inRpc,
  listPrompts,
  listResources,
  listTemplates,
  malformedParams,
  readResource,
} from './content.ts';
import { type Asking, openAsking, type QuestionRecord, type QuestionStates } from './questions.ts';

export interface ServerParts {
  readonly library: McpServerLibrary;
  readonly host: McpHost;
  readonly catalogueOf: (tools: AgentTools['tools']) => Catalogue;
  readonly states: QuestionStates;
}

/** How long a client may cache what it has listed or read, where the protocol has a field for it. */
const cache = { ttlMs: 10_000, cacheScope: 'private' } as const;

type Handler = (request: JSONRPCRequest, context: ServerContext) => Promise<Result>;

/** The library's server, which calls malformed parameters an internal error: it throws a plain error before it calls the handler. */
const checkedServer = (library: McpServerLibrary): McpServerLibrary['Server'] =>
  class CheckedServer extends library.Server {
    // oxlint-disable-next-line no-underscore-dangle -- the name is the library's
    protected override _wrapHandler(method: string, handler: Handler): Handler {
      // oxlint-disable-next-line no-underscore-dangle -- likewise
      return super._wrapHandler(method, async (request, context) => {
        let answer: ReturnType<Handler>;
        try {
          answer = handler(request, context);
        } catch (error) {
          throw error instanceof Error && error.constructor === Error ? malformedParams(method) : error;
        }
        return await answer;
      });
    }
  };

/** Creates a server. `more` are the capabilities of a session. */
export function buildServer(parts: ServerParts, more: ServerCapabilities = {}): Server {
  const { host: { info = defaultInfo, instructions = statelessInstructions, resources, prompts }, states } = parts;
  const CheckedServer = checkedServer(parts.library);
  const server = new CheckedServer({ ...info }, {
    // No `listChanged`: requests do not change the lists.
    capabilities: {
      tools: {},
      logging: {},
      ...(resources && { resources: {} }),
      ...(prompts && { prompts: {} }),
      ...((resources ?? prompts) && { completions: {} }),
      ...more,
    },
    instructions,
    jsonSchemaValidator: linearValidator,
    requestState: { verify: (state, context) => states.spend(state, context) },
    cacheHints: {
      'tools/list': cache,
      'prompts/list': cache,
      'resources/list': cache,
      'resources/templates/list': cache,
      'resources/read': cache,
    },
  });
  serveTools(server, parts);
  if (resources) serveResources(server, { ...parts, resources });
  if (prompts) servePrompts(server, { ...parts, prompts });
  if (resources ?? prompts) serveCompletion(server, parts);
  return server;
}

/**
 * Wraps the server for a request of 2026-07-28: by the schema of the called tool, the library compares the headers that `x-mcp-header`
 * asks for with the arguments.
 */
export function withHeaderChecks(
  server: Server,
  { library, catalogueOf }: ServerParts,
  caller: McpCaller,
): InstanceType<McpServerLibrary['McpServer']> {
  const { byName } = catalogueOf(caller.tools.tools);
  return new class extends library.McpServer {
    override readonly server = server;
    override toolInputSchemaJson(name: string): Record<string, unknown> | undefined {
      return byName.get(name)?.definition.paramsSchema;
    }
  }(defaultInfo);
}

function serveTools(server: Server, parts: ServerParts): void {
  const { host, catalogueOf } = parts;
  const open = ({ principal, tools: { tools, call } }: McpCaller) =>
    openStateless(host, { catalogue: catalogueOf(tools), call }, principal);
  server.setRequestHandler('tools/list', (_, context) => ({ tools: [...open(callerOf(context)).list()] }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const caller = callerOf(context);
    const asking = askingOf(server, context);
    const describe = host.approvals === 'client' ? caller.tools.describe : undefined;
    const result = await open(caller).call(params, { ...contextOf(server, context), asking, describe });
    return await questionsOf(asking, parts, context) ?? result;
  });
}

function serveResources(
  server: Server,
  parts: ServerParts & { readonly resources: NonNullable<McpHost['resources']> },
): void {
  const { resources } = parts;
  server.setRequestHandler(
    'resources/list',
    ({ params }, context) => listResources(resources, readerOf(context), params?.cursor),
  );
  server.setRequestHandler(
    'resources/templates/list',
    ({ params }, context) => listTemplates(resources, readerOf(context), params?.cursor),
  );
  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const asking = askingOf(server, context);
    const contents = await inRpc(
      { uri },
      () => readAs(context, resourceRead(uri), asking, (reader) => readResource(resources, uri, reader)),
    );
    return await questionsOf(asking, parts, context) ?? { contents: contents ?? [] };
  });
}

/** What is read, for the permission hook; events get the URI without its query, which may be what a person has typed. */
export function resourceRead(uri: string): ClientRead {
  const id = uri.replace(/[?#].*$/s, '').slice(0, 256);
  const target = { type: 'mcp-resource', id };
  return { action: 'mcp.resource.read', target, attempt: 'Cannot read the resource', input: { uri } };
}

function servePrompts(
  server: Server,
  parts: ServerParts & { readonly prompts: NonNullable<McpHost['prompts']> },
): void {
  const { prompts } = parts;
  server.setRequestHandler(
    'prompts/list',
    ({ params }, context) => listPrompts(prompts, readerOf(context), params?.cursor),
  );
  server.setRequestHandler('prompts/get', async ({ params }, context) => {
    const { name, arguments: given = {} } = params;
    const asking = askingOf(server, context);
    const prompt = await inRpc({}, () => findPrompt(prompts, name, readerOf(context)));
    const target = { type: 'mcp-prompt', id: prompt.name };
    const read = { action: 'mcp.prompt.get', target, attempt: 'Cannot get the prompt', input: given };
    const messages = await inRpc(
      { name },
      () => readAs(context, read, asking, (reader) => getPrompt(prompt, given, reader)),
    );
    return await questionsOf(asking, parts, context) ?? messages ?? { messages: [] };
  });
}

function serveCompletion(server: Server, { host }: ServerParts): void {
  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const ref = params.ref as CompletionRef; // the SDK has checked it
    const { argument: { name: argument, value }, context: { arguments: others = {} } = {} } = params;
    const id = (ref.type === 'ref/prompt' ? ref.name : ref.uri).slice(0, 256);
    const target = { type: ref.type === 'ref/prompt' ? 'mcp-prompt' : 'mcp-resource', id };
    const read = { action: 'mcp.complete', target, attempt: 'Cannot complete the argument', input: { argument } };
    const wanted = { argument, value, others };
    const result = await inRpc(
      {},
      () => readAs(context, read, undefined, (reader) => complete(host, { ref, wanted }, reader)),
    );
    return result ?? { completion: { values: [] } };
  });
}

/** Reads in the name of the caller; `undefined` when the client has to answer first. */
export async function readAs<T>(
  context: ServerContext,
  read: ClientRead,
  asking: Asking | undefined,
  work: (reader: McpReader) => Promise<T>,
): Promise<T | undefined> {
  const { _meta: meta } = context.mcpReq;
  const traceparent = meta?.['traceparent'];
  const trace = parseTraceparent(typeof traceparent === 'string' ? traceparent : undefined);
  return await callerOf(context).tools.read({ ...read, trace }, async (span) => {
    try {
      return await work({ ...readerOf(context), client: asking?.client, span });
    } catch (thrown) {
      if (asking?.pending()) return undefined;
      throw thrown;
    }
  });
}

async function questionsOf(
  asking: Asking,
  { states, library: { inputRequired } }: ServerParts,
  context: ServerContext,
): Promise<InputRequiredResult | undefined> {
  const pending = asking.pending();
  if (!pending) return undefined;
  const inputRequests = pending.requests as unknown as InputRequests; // `toWireQuestion` writes them as MCP has them
  if (!pending.record) return inputRequired({ inputRequests });
  return inputRequired({ inputRequests, requestState: await states.mint(pending.record, context) });
}

function askingOf(server: Server, context: ServerContext): Asking {
  const { inputResponses, requestState } = context.mcpReq;
  return openAsking({
    capabilities: capabilitiesOf(server, context),
    record: requestState<QuestionRecord>(), // what `states.spend` returned
    responses: inputResponses,
  });
}

const capabilitiesKey = 'io.modelcontextprotocol/clientCapabilities';

/** The capabilities that the client declares; `undefined` for a client of 2025-11-25 without a session. */
function capabilitiesOf(
  server: Server,
  { mcpReq: { envelope = {} } }: ServerContext,
): Readonly<Record<string, unknown>> | undefined {
  const said: Envelope = envelope;
  return said[capabilitiesKey] ?? server.getClientCapabilities();
}

/** Returns the caller that `fetch` of the endpoint has passed: it is the only way in. */
export function callerOf({ http }: Pick<ServerContext, 'http'>): McpCaller {
  return http?.authInfo?.extra as unknown as McpCaller;
}

export function boundTo(context: ServerContext): { readonly principal: Principal; readonly call: string } {
  const { principal, body } = callerOf(context);
  const params: unknown = isRecord(body) ? body['params'] : undefined;
  const { name = null, uri = null, arguments: input = {} } = isRecord(params) ? params : {};
  return { principal, call: canonicalJson([name, uri, input]) };
}

function readerOf(context: ServerContext): McpReader {
  return { principal: callerOf(context).principal, signal: context.mcpReq.signal };
}

function contextOf(server: Server, context: ServerContext): CallContext {
  const { signal, _meta, notify, log } = context.mcpReq;
  return {
    signal,
    progressToken: _meta?.progressToken,
    traceparent: _meta?.['traceparent'],
    clientCapabilities: capabilitiesOf(server, context),
    notify: (method, params) => notify({ method, params }),
    log: (level, text) => log(level, text),
  };
}

/** The SDK accepts the envelope under names that its types do not export. */
type Envelope = { readonly [capabilitiesKey]?: Readonly<Record<string, unknown>> };
