/**
 * The door of `@modelcontextprotocol/client`, all protocol revisions, and the sessions that it opens. It names what is used, so that
 * bundles contain no more.
 */

import type { Client, StandardSchemaV1 } from '@modelcontextprotocol/client';
import { PinnaceError } from '../../src/base/errors.ts';
import { asRecord, isRecord } from '../../src/base/is-record.ts';
import { loadOnce } from '../../src/base/load-once.ts';
import { longestTimeoutMs } from '../../src/base/until-aborted.ts';
import type { McpAnswer, McpInputResponses } from '../../src/contracts/mcp/answers.ts';
import type { McpCall } from '../../src/contracts/mcp/mcp-connector.ts';
import { linearValidator } from '../base/linear-validator.ts';
import { packageError } from '../base/optional-package.ts';
import { keepSubscribed, reportedLists } from './notices.ts';
import {
  clientInfo,
  connectUntil,
  factsOf,
  type McpSession,
  type OpenOptions,
  paramsOf,
  progressOf,
} from './session.ts';

export type { AuthorizationServerMetadata } from '@modelcontextprotocol/client';

export const mcpClientLibrary = /* @__PURE__ */ loadOnce(async () => {
  try {
    const {
      Client,
      checkResourceAllowed,
      discoverAuthorizationServerMetadata,
      discoverOAuthProtectedResourceMetadata,
      exchangeAuthorization,
      refreshAuthorization,
      registerClient,
      resolveClientMetadata,
      startAuthorization,
      validateAuthorizationResponseIssuer,
      StreamableHTTPClientTransport,
    } = await import('@modelcontextprotocol/client');
    return {
      Client,
      checkResourceAllowed,
      discoverAuthorizationServerMetadata,
      discoverOAuthProtectedResourceMetadata,
      exchangeAuthorization,
      refreshAuthorization,
      registerClient,
      resolveClientMetadata,
      startAuthorization,
      validateAuthorizationResponseIssuer,
      StreamableHTTPClientTransport,
    };
  } catch (cause) {
    throw packageError('@modelcontextprotocol/client', cause);
  }
});

/** It tries 2026-07-28, without sessions, and falls back to older revisions; that costs one more request to such a server. */
export async function openModern(
  { url, fetch, questions, apps, onGap, logLevel, signal }: OpenOptions,
): Promise<McpSession> {
  const { Client, StreamableHTTPClientTransport } = await mcpClientLibrary();
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
  await connectUntil(signal, transport, () => client.connect(transport, { signal, timeout: longestTimeoutMs }));
  const isModern = client.getNegotiatedProtocolVersion() === '2026-07-28';
  if (logLevel && !isModern && client.getServerCapabilities()?.logging) {
    await client.setLoggingLevel(logLevel, { signal });
  }
  const stopListening = isModern && onGap ? listenOn(client, onGap) : undefined; // of older revisions, the transport opens a stream
  return {
    ...factsOf(client),
    protocolVersion: client.getNegotiatedProtocolVersion() ?? '',
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
      } catch (error) {
        return toUrlQuestions(error, questions);
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

const urlElicitationRequired = -32_042;
const mostUrls = 6;

/** Returns the questions behind the error of a call, in the form of 2026-07-28. @throws the error, when it is another one. */
function toUrlQuestions(error: unknown, questions: boolean): unknown {
  const { code, data } = error instanceof Error
    ? error as Error & { readonly code?: unknown; readonly data?: unknown }
    : {};
  const asked = code === urlElicitationRequired && isRecord(data) ? data['elicitations'] : undefined;
  if (!questions || !Array.isArray(asked)) throw error;
  const requests = asked.slice(0, mostUrls).map((one, i) => {
    const { message, url } = asRecord(one);
    return [`url-${i + 1}`, { method: 'elicitation/create', params: { mode: 'url', message, url } }] as const;
  });
  return { resultType: 'input_required', inputRequests: Object.fromEntries(requests) };
}

/** The call is made again, without the answers: the server knows that its URLs were opened. @throws PinnaceError for a refusal. */
function requireOpened(responses: McpInputResponses | undefined): void {
  const answers = Object.values(responses?.inputResponses ?? {});
  if (answers.every(({ action }) => action === 'accept')) return;
  throw new PinnaceError('forbidden', 'Cannot call the tool: the person did not open what its MCP server asks for', {
    details: { reason: 'mcp_question_declined' },
  });
}
