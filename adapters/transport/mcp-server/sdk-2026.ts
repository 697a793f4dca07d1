/** The parts of version 2 of the MCP SDK that serve clients over HTTP. */

export {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  createRequestStateCodec,
  type InputRequests,
  inputRequired,
  type InputRequiredResult,
  isInitializeRequest,
  isLegacyRequest,
  type JSONRPCRequest,
  type RequestStateCodec,
  type Result,
  Server,
  type ServerCapabilities,
  type ServerContext,
  type ServerEventBus,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
