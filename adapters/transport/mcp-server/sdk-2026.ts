/** The parts of version 2 of the MCP SDK that serve clients over HTTP, loaded with the first request of a client. */

import type { InputRequests, InputRequiredResult } from '@modelcontextprotocol/server';
import { loadOnce } from '../../../src/base/load-once.ts';
import { packageError } from '../../base/optional-package.ts';

export type {
  InputRequests,
  InputRequiredResult,
  JSONRPCRequest,
  RequestStateCodec,
  Result,
  Server,
  ServerCapabilities,
  ServerContext,
  ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';

interface Questions {
  readonly inputRequests: InputRequests;
  readonly requestState?: string;
}

export type McpServerLibrary = Awaited<ReturnType<typeof mcpServerLibrary>>;

export const mcpServerLibrary = /* @__PURE__ */ loadOnce(async () => {
  try {
    const {
      createMcpHandler,
      createRequestStateCodec,
      inputRequired,
      isInitializeRequest,
      isLegacyRequest,
      McpServer,
      Server,
      WebStandardStreamableHTTPServerTransport,
    } = await import('@modelcontextprotocol/server');
    // The library does not export the type that its own declaration has.
    const ask: (questions: Questions) => InputRequiredResult = inputRequired;
    return {
      createMcpHandler,
      createRequestStateCodec,
      inputRequired: ask,
      isInitializeRequest,
      isLegacyRequest,
      McpServer,
      Server,
      WebStandardStreamableHTTPServerTransport,
    };
  } catch (cause) {
    throw packageError('@modelcontextprotocol/server', cause);
  }
});
