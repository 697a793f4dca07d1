/** MCP servers of the revisions up to 2025-11-25, through `@modelcontextprotocol/sdk`. */

import { loadOnce } from '../../src/base/load-once.ts';
import { longestTimeoutMs } from '../../src/base/timer.ts';
import type { McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import { linearValidator } from '../linear-validator.ts';
import { optionalPackage } from '../optional-package.ts';
import { connectorOver, type McpConnectorOptions } from './connector.ts';
import {
  clientInfo,
  connectUntil,
  type McpSession,
  type OpenOptions,
  paramsOf,
  progressOf,
  serverInfoOf,
} from './session.ts';

export type { McpConnectorOptions } from './connector.ts';

/**
 * Creates a connector for servers with Streamable HTTP. A server that supports only 2026-07-28 is `protocol_unsupported`: see
 * `client-2026.ts`.
 *
 * @example
 * const connector = mcpConnector({ egress: denoEgress() });
 */
export function mcpConnector(options: McpConnectorOptions): McpConnector {
  return connectorOver(openSession, options);
}

const loadSdk = /* @__PURE__ */ loadOnce(() => optionalPackage('@modelcontextprotocol/sdk', () => import('./sdk.ts')));

async function openSession({ url, fetch, logLevel, signal }: OpenOptions): Promise<McpSession> {
  const { Client, ResultSchema, StreamableHTTPClientTransport } = await loadSdk();
  // The library's default validator compiles code. Without capabilities, the server cannot send requests.
  const client = new Client(clientInfo, { capabilities: {}, jsonSchemaValidator: linearValidator });
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil({
    signal,
    transport,
    connect: () => client.connect(transport, { signal, timeout: longestTimeoutMs }),
  });
  if (logLevel && client.getServerCapabilities()?.logging) await client.setLoggingLevel(logLevel, { signal });
  return {
    protocolVersion: transport.protocolVersion ?? '',
    serverInfo: serverInfoOf(client.getServerVersion()),
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
    // The library's own methods drop unknown fields, and reject a whole list for one invalid definition.
    request: async (method, params, until) =>
      await client.request({ method, params }, ResultSchema, { signal: until, timeout: longestTimeoutMs }),
    call: async (call, until) =>
      await client.request({ method: 'tools/call', params: paramsOf(call) }, ResultSchema, {
        signal: until,
        timeout: longestTimeoutMs,
        ...progressOf(call),
      }),
    async close() {
      await transport.terminateSession().catch(() => {}); // it may have ended already
      await client.close();
    },
  };
}
