/** MCP servers of the revisions up to 2025-11-25, through `@modelcontextprotocol/sdk`. */

import { longestTimeoutMs } from '../../src/base/timer.ts';
import type { McpConnector } from '../../src/contracts/mcp-connector.ts';
import { linearValidator } from '../linear-validator.ts';
import { connectorOver, type McpConnectorOptions } from './connector.ts';
import { Client, ResultSchema, StreamableHTTPClientTransport } from './sdk.ts';
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
 * Creates a connector for servers that speak Streamable HTTP. A server that speaks 2026-07-28 only is `protocol_unsupported` to it:
 * see `client-2026.ts`.
 *
 * @example
 * const connector = mcpConnector({ egress: denoEgress() });
 */
export function mcpConnector(options: McpConnectorOptions): McpConnector {
  return connectorOver(openSession, options);
}

async function openSession({ url, fetch, signal }: OpenOptions): Promise<McpSession> {
  // The validator of the library's choice compiles code; and no capabilities: the server can ask for nothing.
  const client = new Client(clientInfo, { capabilities: {}, jsonSchemaValidator: linearValidator });
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil({
    signal,
    transport,
    connect: () => client.connect(transport, { signal, timeout: longestTimeoutMs }),
  });
  return {
    protocolVersion: transport.protocolVersion ?? '',
    serverInfo: serverInfoOf(client.getServerVersion()),
    instructions: client.getInstructions(),
    // Its own `listTools` drops fields that it does not know, and the whole list for one tool that it does not like.
    listPage: async (cursor, until) =>
      await client.request(
        { method: 'tools/list', ...(cursor !== undefined && { params: { cursor } }) },
        ResultSchema,
        { signal: until, timeout: longestTimeoutMs },
      ),
    call: async (call, until) =>
      await client.request({ method: 'tools/call', params: paramsOf(call) }, ResultSchema, {
        signal: until,
        timeout: longestTimeoutMs,
        ...progressOf(call),
      }),
    async close() {
      await transport.terminateSession().catch(() => {}); // it may be gone, and then need not be ended
      await client.close();
    },
  };
}
