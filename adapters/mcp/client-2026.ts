/** MCP servers of all revisions, 2026-07-28 too, through `@modelcontextprotocol/client`. */

import { loadOnce } from '../../src/base/load-once.ts';
import { longestTimeoutMs } from '../../src/base/timer.ts';
import type { McpCall, McpConnector } from '../../src/contracts/mcp/mcp-connector.ts';
import type { McpAnswer } from '../../src/contracts/mcp/answers.ts';
import { linearValidator } from '../linear-validator.ts';
import { optionalPackage } from '../optional-package.ts';
import type { Client, StandardSchemaV1 } from './sdk-2026.ts';
import { keepSubscribed, reportedLists } from './change-stream.ts';
import { connectorOver, type McpConnectorOptions } from './connector.ts';
import { requireOpened } from './url-questions.ts';
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
 * Creates a connector for servers with Streamable HTTP. It tries 2026-07-28, without sessions, and falls back to older revisions;
 * that costs one more request for each connection to such a server.
 *
 * @example
 * const connector = mcpConnector2026({ egress: denoEgress() });
 */
export function mcpConnector2026(options: McpConnectorOptions): McpConnector {
  return connectorOver(openSession, options, loadChallenges);
}

const loadSdk = /* @__PURE__ */ loadOnce(() =>
  optionalPackage('@modelcontextprotocol/client', () => import('./sdk-2026.ts'))
);

const loadChallenges = /* @__PURE__ */ loadOnce(() =>
  optionalPackage('@modelcontextprotocol/client', async () => (await import('./oauth/challenge.ts')).challengeOf)
);

async function openSession(options: OpenOptions): Promise<McpSession> {
  const { url, fetch, questions, apps, onGap, logLevel, signal } = options;
  const { Client, StreamableHTTPClientTransport } = await loadSdk();
  const client = new Client(clientInfo, {
    capabilities: {
      ...(questions && { elicitation: { form: {}, url: {} } }),
      ...(apps && { extensions: { 'io.modelcontextprotocol/ui': { mimeTypes: ['text/html;profile=mcp-app'] } } }),
    }, // no other: the server cannot query the model
    inputRequired: { autoFulfill: false },
    jsonSchemaValidator: linearValidator, // the library's default may compile code
    versionNegotiation: { mode: 'auto' },
  });
  const open = new Set<McpCall>();
  if (questions) {
    client.setRequestHandler('elicitation/create', async ({ params }) => toElicitResult(await askOf(open)?.(params)));
  }
  const transport = new StreamableHTTPClientTransport(url, { fetch });
  await connectUntil({
    signal,
    transport,
    connect: () => client.connect(transport, { signal, timeout: longestTimeoutMs }),
  });
  const isModern = client.getNegotiatedProtocolVersion() === '2026-07-28';
  if (logLevel && !isModern && client.getServerCapabilities()?.logging) {
    await client.setLoggingLevel(logLevel, { signal });
  }
  const stopListening = isModern && onGap ? listenOn(client, onGap) : undefined; // of older revisions, the transport opens a stream
  return {
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
    serverInfo: serverInfoOf(client.getServerVersion()),
    instructions: client.getInstructions(),
    capabilities: { ...client.getServerCapabilities() },
    request: async (method, params, until) =>
      await client.request({ method, params }, anything, { signal: until, timeout: longestTimeoutMs }),
    async call(given, until) {
      if (!isModern) requireOpened(given.responses);
      const call = isModern ? given : { ...given, responses: undefined };
      open.add(call);
      try {
        return await client.callTool(paramsOf(call, isModern ? logLevel : undefined), {
          signal: until,
          timeout: longestTimeoutMs,
          toolDefinition: forHeaders(call),
          allowInputRequired: questions,
          ...progressOf(call),
        });
      } finally {
        open.delete(call);
      }
    },
    async close() {
      stopListening?.();
      await transport.terminateSession().catch(() => {}); // it may have ended already
      await client.close();
    },
  };
}

/** Listens for changes of the lists that the server reports. Returns the function that stops it. */
function listenOn(client: Client, onGap: () => void): (() => void) | undefined {
  const lists = reportedLists(client.getServerCapabilities());
  const filter = Object.fromEntries(lists.map((list) => [`${list}ListChanged`, true]));
  return lists.length === 0 ? undefined : keepSubscribed(() => client.listen(filter), onGap);
}

/** A question names no call: it is asked where one call alone is open. */
function askOf(open: ReadonlySet<McpCall>): McpCall['onQuestion'] {
  const [call, ...others] = open;
  return others.length === 0 ? call?.onQuestion : undefined;
}

type Content = Record<string, string | number | boolean | string[]>;

function toElicitResult({ action, content }: McpAnswer = { action: 'cancel' }) {
  return { action, ...(content && { content: content as Content }) }; // it fits the form, whose fields are flat
}

/** The request headers depend on the pinned definition (`x-mcp-header`); the caller checks the result. */
function forHeaders(
  { name, definition }: McpCall,
): { readonly name: string; readonly inputSchema: { type: 'object' } } {
  const inputSchema = definition['inputSchema'];
  return { name, inputSchema: { ...(typeof inputSchema === 'object' && inputSchema), type: 'object' } };
}

const anything: StandardSchemaV1<unknown, unknown> = {
  '~standard': { version: 1, vendor: 'pinnace', validate: (value) => ({ value }) },
};
