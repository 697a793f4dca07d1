/**
 * The door of `@modelcontextprotocol/sdk`, protocol revisions up to 2025-11-25. Deno finds no types behind paths that end in `.js`.
 * Under a Content-Security-Policy without `unsafe-eval`, set `globalThis.__zod_globalConfig = { jitless: true }` before this module
 * is loaded: otherwise its schemas test whether they may compile code, which the browser reports.
 */

import { loadOnce } from '../../src/base/load-once.ts';
import { longestTimeoutMs } from '../../src/base/until-aborted.ts';
import { linearValidator } from '../base/linear-validator.ts';
import { packageError } from '../base/optional-package.ts';
import {
  clientInfo,
  connectUntil,
  factsOf,
  type McpSession,
  type OpenOptions,
  paramsOf,
  progressOf,
} from './session.ts';

export const mcpSdk = /* @__PURE__ */ loadOnce(async () => {
  try {
    const { Client } = await import('@modelcontextprotocol/sdk/client');
    // @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
    const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    // @ts-types="@modelcontextprotocol/sdk/types"
    const { ResultSchema } = await import('@modelcontextprotocol/sdk/types.js');
    return { Client, StreamableHTTPClientTransport, ResultSchema };
  } catch (cause) {
    throw packageError('@modelcontextprotocol/sdk', cause);
  }
});

/** A server that supports only 2026-07-28 is `protocol_unsupported` here; no one is asked, and no app is shown. */
export async function openLegacy({ url, fetch, logLevel, signal }: OpenOptions): Promise<McpSession> {
  const { Client, StreamableHTTPClientTransport, ResultSchema } = await mcpSdk();
  // The library's default validator compiles code. Without capabilities, the server cannot send requests.
  const client = new Client(clientInfo, { capabilities: {}, jsonSchemaValidator: linearValidator });
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil(signal, transport, () => client.connect(transport, { signal, timeout: longestTimeoutMs }));
  if (logLevel && client.getServerCapabilities()?.logging) await client.setLoggingLevel(logLevel, { signal });
  return {
    ...factsOf(client),
    protocolVersion: transport.protocolVersion ?? '',
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
