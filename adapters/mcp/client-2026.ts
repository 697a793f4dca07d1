/** MCP servers of all revisions, 2026-07-28 too, through `@modelcontextprotocol/client`. */

import { longestTimeoutMs } from '../../src/base/timer.ts';
import { Client, type StandardSchemaV1, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { McpCall, McpConnector } from '../../src/contracts/mcp-connector.ts';
import { linearValidator } from '../linear-validator.ts';
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
 * Creates a connector for servers that speak Streamable HTTP. It asks for 2026-07-28, without sessions, and falls back to what a
 * server of an older revision speaks; that costs one request more for each connection to such a server.
 *
 * @example
 * const connector = mcpConnector2026({ egress: denoEgress() });
 */
export function mcpConnector2026(options: McpConnectorOptions): McpConnector {
  return connectorOver(openSession, options);
}

async function openSession({ url, fetch, signal }: OpenOptions): Promise<McpSession> {
  const client = new Client(clientInfo, {
    capabilities: {}, // so that the server can ask for nothing
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: linearValidator, // the library's own choice may compile code
    versionNegotiation: { mode: 'auto' },
  });
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil({
    signal,
    transport,
    connect: () => client.connect(transport, { signal, timeout: longestTimeoutMs }),
  });
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverInfo: serverInfoOf(client.getServerVersion()),
    instructions: client.getInstructions(),
    listPage: async (cursor, until) =>
      await client.request({ method: 'tools/list', params: cursor === undefined ? {} : { cursor } }, anything, {
        signal: until,
        timeout: longestTimeoutMs,
      }),
    call: async (call, until) =>
      await client.callTool(paramsOf(call), {
        signal: until,
        timeout: longestTimeoutMs,
        toolDefinition: forHeaders(call),
        ...progressOf(call),
      }),
    async close() {
      await transport.terminateSession().catch(() => {}); // it may be gone, and then need not be ended
      await client.close();
    },
  };
}

/** What a call is sent with depends on the pinned definition (`x-mcp-header`); what comes back is checked by whoever called. */
function forHeaders(
  { name, definition }: McpCall,
): { readonly name: string; readonly inputSchema: { type: 'object' } } {
  const inputSchema = definition['inputSchema'];
  return { name, inputSchema: { ...(typeof inputSchema === 'object' && inputSchema), type: 'object' } };
}

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'pinnace', validate: (value) => ({ value }) },
};
