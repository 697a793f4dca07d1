/** Serves tools to one MCP client, in process or over a `MessagePort`. Loaded tools join its list of tools. */

import type { Principal } from '../../src/base/principal.ts';
import { linearValidator } from '../base/linear-validator.ts';
import { connectionInstructions, defaultInfo, type McpHost, reportedHost } from './mcp-server/host.ts';
import {
  CallToolRequestSchema,
  type JSONRPCMessage,
  ListToolsRequestSchema,
  Server,
  type Transport,
} from './mcp-server/sdk.ts';
import {
  callActive,
  type CallRequest,
  type CallResult,
  createCatalogues,
  type McpTool,
  openToolbox,
  toMcpTool,
} from './mcp-server/tools.ts';

export type { McpHost } from './mcp-server/host.ts';

/** A connection that is served. */
export interface McpServerConnection {
  /** Stops the calls in progress, and notifies the client. */
  close(): Promise<void>;
}

/**
 * Serves one client until either side closes the connection.
 *
 * @example
 * const host = { tools: (principal) => runtime.tools('helper', principal), storage };
 * self.onmessage = ({ data: port }) => serveMcp(messagePortTransport(port), { host, principal: localPrincipal() });
 */
export async function serveMcp(
  transport: Transport,
  { host, principal }: { readonly host: McpHost; readonly principal: Principal },
): Promise<McpServerConnection> {
  const { info = defaultInfo, instructions = connectionInstructions } = host;
  const session = createSession(reportedHost(host), principal);
  const server = new Server({ ...info }, {
    capabilities: { tools: { listChanged: true }, logging: {} },
    instructions,
    jsonSchemaValidator: linearValidator,
  });
  server.setRequestHandler(ListToolsRequestSchema, async () => ({ tools: [...await session.list()] }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const { _meta: meta } = params;
    const { result, changed } = await session.call(params, {
      signal,
      progressToken: meta?.progressToken,
      traceparent: meta?.['traceparent'],
      clientCapabilities: server.getClientCapabilities(),
      notify: (method, sent) => sendNotification({ method, params: sent }),
      log: (level, data) => server.sendLoggingMessage({ level, data }),
    });
    if (changed) await server.sendToolListChanged();
    return result;
  });
  await server.connect(transport);
  return { close: () => server.close() };
}

interface Session {
  list(): Promise<readonly McpTool[]>;
  /** `changed`: the call has activated tools. */
  call(
    request: CallRequest,
    context: Parameters<typeof callActive>[1]['context'],
  ): Promise<{ readonly result: CallResult; readonly changed: boolean }>;
}

/** The tools are fetched for each request: loaded tools may have been removed. */
function createSession(host: McpHost, principal: Principal): Session {
  const catalogueOf = createCatalogues(host);
  const active = new Set<string>();
  const open = async () => {
    const { tools, call } = await host.tools(principal);
    return { call, toolbox: openToolbox(catalogueOf(tools), { host, principal, active }) };
  };
  const inTurn = createTurns();
  const call: Session['call'] = async ({ name, arguments: input = {} }, context) => {
    const { toolbox, call: invoke } = await open();
    const before = active.size;
    const result = await callActive({ name, input }, { toolbox, call: invoke, context });
    return { result, changed: active.size > before };
  };
  return {
    async list() {
      const { toolbox } = await open();
      return [...toolbox.discovery.definitions, ...toolbox.active().map(({ definition }) => definition)].map(toMcpTool);
    },
    // Loads run one after another, so that each knows what it has changed; other calls run in parallel.
    call: (request, context) =>
      request.name === 'tool_load' ? inTurn(() => call(request, context)) : unchanged(call(request, context)),
  };
}

async function unchanged(called: ReturnType<Session['call']>): ReturnType<Session['call']> {
  return { ...await called, changed: false };
}

function createTurns(): <T>(work: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work, work);
    last = turn.catch(() => undefined);
    return turn;
  };
}

/** The marker that a closing side sends: a port has no close event everywhere. */
const closeMark = null;

/**
 * Creates the transport of one side, for a `Client` or a `Server` of the SDK.
 *
 * @example
 * const { port1, port2 } = new MessageChannel(); // port2 goes to the worker, by transfer
 * await new Client({ name: 'page', version: '1' }).connect(messagePortTransport(port1));
 */
export function messagePortTransport(port: MessagePort): Transport {
  let closed = false;
  const end = (): void => {
    if (closed) return;
    closed = true;
    port.close();
    transport.onclose?.();
  };
  const transport: Transport = {
    async start() {
      port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
        if (data === closeMark) end();
        else transport.onmessage?.(data as JSONRPCMessage); // the SDK validates every message
      });
      port.addEventListener('messageerror', () => transport.onerror?.(new Error('A message could not be read')));
      port.start();
    },
    async send(message) {
      if (closed) throw new Error('Cannot send: the connection is closed');
      // A port also passes values that are not JSON, but peers behind other transports would fail.
      port.postMessage(JSON.parse(JSON.stringify(message)));
    },
    async close() {
      if (closed) return;
      port.postMessage(closeMark);
      end();
    },
  };
  return transport;
}
