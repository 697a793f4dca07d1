/** Tools over Streamable HTTP for MCP clients of all protocol revisions: a verified caller's `Request` in, a `Response` out. */

import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type McpRequestContext,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { AgentTools } from '../../src/runtime/resolve/agent-tools.ts';
import type { Principal } from '../../src/base/principal.ts';
import { linearValidator } from '../linear-validator.ts';
import type { CallContext } from './mcp-server/call.ts';
import { defaultInfo, type McpHost, reportedHost, statelessInstructions } from './mcp-server/host.ts';
import { openStateless, type StatelessServer } from './mcp-server/stateless.ts';
import { createCatalogues } from './mcp-server/toolbox.ts';

export type { McpHost } from './mcp-server/host.ts';

/** Answers MCP requests over HTTP. Holds no state between them. */
export interface McpEndpoint {
  /** Never rejects. The request's signal, when it aborts, stops the tool. */
  fetch(request: Request, caller: McpCaller): Promise<Response>;
}

/** The caller and its message. */
export interface McpCaller {
  readonly principal: Principal;
  /** The tools that the host returned for this principal. */
  readonly tools: AgentTools;
  /** The body, read and parsed; `undefined` for a request without one. */
  readonly body: unknown;
}

/** How long a client may cache the list of tools, where the protocol has a field for it. */
const listTtlMs = 10_000;

/** Creates the endpoint of a host. */
export function createMcpEndpoint(given: McpHost, { keepAliveMs = 15_000 } = {}): McpEndpoint {
  const host = reportedHost(given);
  const catalogueOf = createCatalogues(host);
  const handler = createMcpHandler((context) => {
    const { principal, tools: { tools, call } } = callerOf(context);
    return buildServer(
      host,
      openStateless(host, { catalogue: catalogueOf(tools), call }, principal),
    );
  }, { keepAliveMs });
  return {
    async fetch(request, { body, ...caller }) {
      const authInfo = { token: '', clientId: caller.principal.subject, scopes: [], extra: caller };
      return await handler.fetch(request, { authInfo, ...(body !== undefined && { parsedBody: body }) });
    },
  };
}

function callerOf({ authInfo }: McpRequestContext): Omit<McpCaller, 'body'> {
  return authInfo?.extra as unknown as Omit<McpCaller, 'body'>; // safe: `fetch` above is the only way in
}

function buildServer(
  { info = defaultInfo, instructions = statelessInstructions }: McpHost,
  stateless: StatelessServer,
): Server {
  const server = new Server({ ...info }, {
    // No `listChanged`: requests do not change the list.
    capabilities: { tools: {}, logging: {} },
    instructions,
    jsonSchemaValidator: linearValidator,
    cacheHints: { 'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' } },
  });
  server.setRequestHandler('tools/list', () => ({ tools: [...stateless.list()] }));
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    return await stateless.call(params, contextOf(context));
  });
  return server;
}

function contextOf({ mcpReq: { signal, _meta, envelope = {}, notify, log } }: ServerContext): CallContext {
  const said: Envelope = envelope;
  return {
    signal,
    progressToken: _meta?.progressToken,
    traceparent: _meta?.['traceparent'],
    clientCapabilities: said[CLIENT_CAPABILITIES_META_KEY],
    notify: (method, params) => notify({ method, params }),
    log: (level, text) => log(level, text),
  };
}

/** The SDK accepts the envelope under names that its types do not export. */
type Envelope = { readonly [CLIENT_CAPABILITIES_META_KEY]?: Readonly<Record<string, unknown>> };
